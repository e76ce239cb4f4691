//! The gates that a sentence passes before it becomes a claim: it is an act of its kind, and it stands alone.

use crate::cues::{CueKind, CueMarks, Language};
use crate::decisions::rules_on_it;
use crate::speech::MarkedSentence;
use crate::text::{content_words, is_name};

/// Words that open a sentence about something said elsewhere.
#[rustfmt::skip]
const DANGLING: &[&str] = &[
    "it", "its", "it's", "this", "that", "that's", "these", "those", "they", "both", "he", "she", "there",
    "which", "and", "but", "so", "or", "then", "also", "however", "instead", "otherwise", "same", "neither",
    "either", "another", "here", "thus", "therefore", "plus", "yes", "no", "yep", "done", "one", "as",
    "because", "hence", "meanwhile", "additionally", "likewise", "similarly", "there's", "not", "looks",
    "for", "exactly", "overall", "currently",
];

/// First words of running commentary and of talk to the reader.
#[rustfmt::skip]
const COMMENTARY: &[&str] = &[
    "let me", "let's", "now i", "now let", "i'll", "i will", "i'm going", "i am going", "first, let",
    "next, i", "good.", "great", "perfect", "excellent", "i need to", "i should", "i can see", "looking at",
    "want me to", "would you", "shall i", "should i", "do you want", "ready to", "if you", "feel free",
    "here's", "here is", "here are", "the user ", "running", "checking", "waiting", "i see", "you can",
    "you'll", "you may", "you should", "please ", "happy to", "sure", "ok,", "okay", "got it", "i have ",
    "i've read", "i understand", "actually", "wait", "hmm", "hold on", "but wait", "couldn't", "try ", "the simplest approach",
    "but i think your question", "if i understand", "unless ", "right — ", "you're ", "you are ", "right, ", 
];

/// Verbs by which a clause is told from a label.
#[rustfmt::skip]
const VERBS: &[&str] = &[
    "is", "are", "was", "were", "be", "been", "has", "have", "had", "does", "do", "did", "can", "cannot",
    "can't", "could", "must", "should", "will", "won't", "would", "may", "isn't", "aren't", "doesn't", "don't",
    "didn't", "wasn't", "needs", "need", "uses", "use", "fails", "fail", "returns", "return", "requires",
    "require", "means", "mean", "works", "work", "runs", "run", "makes", "make", "gives", "keeps", "keep",
    "takes", "gets", "get", "sets", "shows", "calls", "breaks", "causes", "lets", "stores", "contains", "lives",
    "depends", "supports", "expects", "handles", "adds", "add", "fix", "fixes", "remove", "removes", "allows",
    "allow", "enable", "enables", "move", "moves", "replace", "replaces", "create", "creates", "update",
    "updates", "rename", "avoid", "avoids", "prevent", "prevents", "sends", "reads", "writes", "starts",
    "stops", "stop", "trip", "trips", "call", "lose", "loses", "crash", "crashes", "hang", "hangs", "block",
    "blocks", "ignore", "ignores", "reject", "rejects", "close", "closes", "open", "opens", "expire", "expires",
    "grow", "grows", "leak", "leaks", "drop", "drops", "reset", "resets", "overwrite", "overwrites", "point",
    "points", "map", "maps", "load", "loads", "resolve", "resolves", "render", "renders", "produce", "produces",
    "trigger", "triggers", "happen", "happens", "come", "comes", "hold", "holds", "leave", "leaves", "lack",
    "lacks", "miss", "misses", "says", "say", "treats", "wins", "exists", "defaults", "matches", "checks", "skips", "belongs", "stays",
];

/// Whether a line has a verb, so that it says something rather than naming it.
pub(crate) fn has_verb(text: &str) -> bool {
    let verb = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'').to_lowercase();
        VERBS.contains(&word.as_str()) || (word.len() > 4 && word.ends_with("ed"))
    };
    Language::detect(text) != Language::English || text.split_whitespace().any(verb)
}

/// Whether a reader who did not see the session understands what the sentence is about.
pub(crate) fn stands_alone(text: &str) -> bool {
    let first = first_word(text);
    let words = content_words(text).len();
    if DANGLING.contains(&first.as_str()) || text.ends_with([':', '…']) || words < 4 {
        return false;
    }
    if is_half_clause(text) || is_label(text) {
        return false;
    }
    names_something(text) || words >= 7
}

/// Whether the sentence refers to the one before it, so that it means nothing without it.
pub(crate) fn refers_back(text: &str) -> bool {
    const REFERRING: &[&str] = &[
        "it",
        "its",
        "it's",
        "this",
        "that",
        "that's",
        "these",
        "those",
        "they",
        "both",
        "he",
        "she",
        "which",
        "and",
        "but",
        "so",
        "then",
        "also",
        "however",
        "instead",
        "otherwise",
        "same",
        "neither",
        "either",
        "thus",
        "therefore",
    ];
    REFERRING.contains(&first_word(text).as_str())
}

/// Whether the title of a settled decision says what it is about. It may be shorter than a sentence that has
/// to stand alone, because its narrative quotes both voices.
pub(crate) fn is_rule_title(text: &str) -> bool {
    let words = content_words(text).len();
    !DANGLING.contains(&first_word(text).as_str())
        && !text.ends_with(':')
        && !is_half_clause(text)
        && (words >= 5 || (words >= 2 && names_something(text)))
}

/// Whether it names something concrete: code, a number, a proper noun after its first word.
pub(crate) fn names_something(text: &str) -> bool {
    text.contains(['`', '“', '"'])
        || text.split_whitespace().any(|word| is_name(word) || (word.len() > 2 && word.starts_with('\'')))
        || text.split_whitespace().skip(1).any(|word| {
            let core = word.trim_matches(|c: char| !c.is_alphanumeric());
            core.chars().any(|c| c.is_ascii_digit())
                || (core.chars().count() > 1 && core.starts_with(char::is_uppercase))
        })
}

/// "When the last row is deleted": a condition without what follows from it.
fn is_half_clause(text: &str) -> bool {
    opens_subordinate(text) && !text.contains([',', '—', '–', '→', ';'])
}

/// Whether it opens with a clause that leads to another.
pub(crate) fn opens_subordinate(text: &str) -> bool {
    let leads =
        ["for", "when", "if", "while", "although", "whereas", "unless", "once", "since", "wenn", "falls"];
    leads.contains(&first_word(text).as_str())
}

/// "Files changed (3)", "Summary", a bare path.
fn is_label(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let path = words.len() <= 2 && words.iter().any(|word| word.contains('/') || word.contains('.'));
    path || words.len() < 4
}

pub(crate) fn first_word(text: &str) -> String {
    let word = text.split_whitespace().next().unwrap_or_default();
    word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'' && c != '`').to_lowercase()
}

/// Whether a sentence of the agent is running commentary, an offer or talk to the reader.
pub(crate) fn is_commentary(text: &str) -> bool {
    let lower = text.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    COMMENTARY.iter().any(|start| lower.starts_with(start)) || text.trim_end().ends_with(['?', '？'])
}

/// Whether a sentence speaks to the reader of the message.
pub(crate) fn speaks_to_reader(text: &str) -> bool {
    const WORDS: &[&str] = &[" you ", " your ", " you'd ", " you'll ", " you're ", " yours "];
    let lower = format!(" {} ", text.to_lowercase());
    WORDS.iter().any(|word| lower.contains(word))
}

/// What a turn checks while it works, and what is said of a check that did not pass at first.
#[rustfmt::skip]
const CHECK_NAMES: &[&str] = &[
    "test", "tests", "failure", "failures", "lint", "linter", "biome", "eslint", "prettier", "clippy", "typecheck",
    "tsc", "typescript", "pre-commit", "precommit", "hook", "commit", "build", "error", "errors", "check", "checks",
];
#[rustfmt::skip]
const CHECK_TROUBLE: &[&str] = &[
    "fail", "fails", "failed", "failing", "failure", "failures", "flagging", "flags", "flagged", "complains", "complaining",
    "succeeded", "blocked", "blocks", "errors", "error", "passes", "pass",
];
/// The words of a sentence in which a check must be named and its trouble told.
const CHECK_WORDS: usize = 7;

/// Whether a sentence tells of a check that did not pass while the work went on: it is over once it passes.
pub(crate) fn is_passing_trouble(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words = lower.split_whitespace().take(CHECK_WORDS);
    let words: Vec<&str> =
        words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-')).collect();
    let checks = words.iter().take(3).any(|word| CHECK_NAMES.contains(word));
    checks && words.iter().any(|word| CHECK_TROUBLE.contains(word)) && !lower.contains("root cause")
}

/// Phrases that make a sentence of the user last beyond the moment.
#[rustfmt::skip]
const LASTING: &[&str] = &[
    "always", "never", "from now on", "in future", "in the future", "going forward", "whenever", "every time",
    "each time", "by default", "prefer", "must", "must not", "we don't", "we do not", "not allowed",
    "no longer", "don't ever", "should always", "should never", "at all times", "as a rule", "has to be",
    "have to be", "needs to be", "need to be", "only ever", "is forbidden", "are forbidden", "stop ",
    "remember to", "make sure", "under no circumstances", "we never", "we always", "policy", "convention",
    "at most", "at least", "is not acceptable", "non-negotiable", "off the table", "should not", "shouldn't",
    "no exceptions", "better not to", "must be", "must stay", "required to", "rule",
];

/// Orders for now: they open with a verb that asks for work at once.
#[rustfmt::skip]
const ORDERS: &[&str] = &[
    "push", "commit", "check", "look", "run", "rerun", "add", "fix", "create", "log", "show", "open", "merge",
    "update", "remove", "delete", "write", "implement", "review", "try", "go", "start", "continue", "proceed",
    "explain", "find", "test", "verify", "deploy", "rebase", "close", "do", "make", "please", "can", "could",
    "would", "will", "let", "lets", "let's", "give", "tell", "read", "rename", "move", "investigate", "debug",
    "clean", "undo", "revert", "apply", "plan", "think", "wait", "stop", "resolve", "address", "generate",
    "execute", "switch", "checkout", "pull", "fetch", "restart", "retry", "help", "put", "set", "change",
    "replace", "refactor", "convert", "install", "build", "search", "list", "summarize", "summarise", "ask",
    "use", "take", "get", "see", "have", "ensure", "just", "now", "then", "and", "also", "ok", "okay",
];

/// What a sentence of the user is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UserAct {
    Rule,
    Choice,
    Fact,
    /// An order for now, a question, assent, musing, complaint: nothing to remember.
    Nothing,
}

/// Classifies a sentence that the user typed. When in doubt it is nothing.
pub(crate) fn user_act(statement: &MarkedSentence, worth: Option<f32>, language: Language) -> UserAct {
    let text = statement.text.as_str();
    let marks = &statement.marks;
    if statement.question || statement.is_bare() || statement.words.len() < 4 || is_pasted(text) {
        return UserAct::Nothing;
    }
    let lasting = is_lasting(text, marks, language);
    let Some(worth) = worth else {
        let strong = statement.rule_weight() >= 2.25 && lasting;
        return if strong && is_understood(text, marks) { UserAct::Rule } else { UserAct::Nothing };
    };
    let order = ORDERS.contains(&first_word(text).as_str());
    let lower = text.to_lowercase();
    let polite =
        ["can you", "can we", "could you", "could we", "please", "would you", "will you"].iter().any(|ask| {
            lower.starts_with(ask)
                || lower.contains(&format!(" {ask} please"))
                || lower.contains(&format!("ok {ask}"))
        });
    let muses = [
        "why not",
        "as a suggestion",
        "i have already",
        "i've already",
        "i was thinking",
        "i wonder",
        "starting to feel",
        "probably",
        "maybe",
        "not sure",
        "i feel like",
        "would be nice",
        "obviously",
        "if possible",
        "and possible",
    ];
    if muses.iter().any(|phrase| lower.contains(phrase)) {
        return UserAct::Nothing;
    }
    let complains = marks.has(CueKind::Problem) && !rules_on_it(statement);
    let lasting = lasting && !complains && (!polite || has_lasting_time(text));
    // "From now on …" and "Never …" say themselves that they last.
    let first = first_word(text);
    let said = crate::text::without_openers(text).to_lowercase();
    let habit = ["we never ", "we always "].iter().any(|start| said.starts_with(start));
    let strong = !order && (has_lasting_time(text) || habit || matches!(first.as_str(), "never" | "always"));
    let least = match (strong, order) {
        (true, _) => 0.05,
        (false, true) => 0.45,
        (false, false) => 0.3,
    };
    if lasting && !marks.has(CueKind::Hedge) && worth >= least && is_understood(text, marks) {
        return UserAct::Rule;
    }
    if order && !marks.has(CueKind::Reason) && !text.contains("instead") {
        return UserAct::Nothing;
    }
    if marks.has(CueKind::Choice) && !complains && worth >= 0.5 && is_understood(text, marks) {
        return UserAct::Choice;
    }
    let personal = [" i ", " i'm ", " i've ", " my ", " me "]
        .iter()
        .any(|word| format!(" {} ", text.to_lowercase()).contains(word));
    let supposes = [" could ", " would ", " might "].iter().any(|word| lower.contains(word));
    let states = names_something(text) && has_verb(text) && !personal && !order && !complains && !supposes;
    // "Staging is at `…`": an address, a version or a name makes a plain statement a fact.
    let concrete = text.contains('`') || text.contains("://") || text.split_whitespace().any(is_name);
    let least = if concrete { 0.45 } else { 0.65 };
    if worth >= least && states && is_understood(text, marks) && !marks.has(CueKind::Hedge) {
        return UserAct::Fact;
    }
    UserAct::Nothing
}

/// Whether it says that it holds from now on.
fn has_lasting_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    ["from now on", "always", "in future", "in the future", "going forward", "every time", "whenever"]
        .iter()
        .any(|phrase| lower.contains(phrase))
}

/// Whether a rule holds beyond the change at hand.
pub(crate) fn is_standing_rule(text: &str) -> bool {
    let lower = format!(" {} ", text.to_lowercase());
    Language::detect(text) != Language::English
        || has_lasting_time(text)
        || [
            " never ",
            " must ",
            " we don't ",
            " we do not ",
            " prefer ",
            " policy ",
            " not allowed ",
            " every ",
        ]
        .iter()
        .any(|phrase| lower.contains(phrase))
}

fn is_lasting(text: &str, marks: &CueMarks, language: Language) -> bool {
    if language != Language::English {
        return marks.has(CueKind::Rule) || marks.has(CueKind::General);
    }
    let lower = format!(" {} ", text.to_lowercase().replace(['.', ',', ';', '!'], " "));
    LASTING.iter().any(|phrase| lower.contains(&format!(" {}", phrase.trim_end())))
}

/// Whether a sentence of the user can be understood without the one before it.
fn is_understood(text: &str, marks: &CueMarks) -> bool {
    let bare = DANGLING.contains(&first_word(text).as_str());
    let short = content_words(text).len() < 5;
    !(marks.opens(CueKind::Pronoun) || (bare && short))
}

/// A line that no person phrases: a log line, code, a path, a prompt of a shell.
pub(crate) fn is_quotation(text: &str) -> bool {
    let text = text.trim();
    let symbols = text.chars().filter(|c| "{}[]<>=;|\\$#@*+~^&".contains(*c)).count();
    let letters = text.chars().filter(|c| c.is_alphabetic() || c.is_whitespace()).count();
    let starts =
        ["$ ", "> ", "% ", "at ", "+ ", "- [", "❯", "│", "├", "└", "⏺", "⎿", "[", "{", "<", "//", "#!"];
    let spaced = text.split_whitespace().count() >= 3;
    starts.iter().any(|start| text.starts_with(start))
        || symbols * 8 > text.chars().count().max(1)
        || letters * 2 < text.chars().count()
        || (!spaced && text.contains(['/', '.', ':']) && text.len() > 12)
        || cues_of_log(text)
}

/// A line of a prompt that was pasted rather than typed.
pub(crate) fn is_pasted(text: &str) -> bool {
    is_quotation(text) || text.split_whitespace().any(is_pasted_token)
}

/// A word that nobody types: words run together around code, a long token, a place in a bundle.
fn is_pasted_token(word: &str) -> bool {
    let inner = word.trim_matches(|c: char| "`'\"().,;:".contains(c));
    let glued = inner.contains('`') && inner.chars().filter(|c| c.is_alphabetic()).count() > 6;
    let place =
        inner.rsplit(':').next().is_some_and(|end| end.len() >= 3 && end.chars().all(|c| c.is_ascii_digit()))
            && inner.contains('.');
    glued || place || (inner.chars().count() > 60 && !inner.contains("://"))
}

/// A time stamp or a level at the head of a line.
fn cues_of_log(text: &str) -> bool {
    let head: String = text.chars().take(24).collect();
    let digits = head.chars().filter(char::is_ascii_digit).count();
    let stamped = digits >= 8 && (head.contains(':') || head.contains('-'));
    let levels =
        ["ERROR ", "WARN ", "INFO ", "DEBUG ", "error: ", "warning: ", "npm ERR", "Traceback", "Error: "];
    stamped || levels.iter().any(|level| text.starts_with(level))
}
