//! The gates that a sentence passes before it becomes a claim: it is an act of its kind, and it stands alone.

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

/// Whether it opens with a word that points to something said elsewhere.
pub(crate) fn is_dangling(text: &str) -> bool {
    DANGLING.contains(&first_word(text).as_str())
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
    let mut words = text.split_whitespace().map(first_word);
    let first = words.next().unwrap_or_default();
    // "While that's safe, …".
    let second = words.next().unwrap_or_default();
    let leads =
        opens_subordinate(text) && matches!(second.as_str(), "this" | "that" | "that's" | "these" | "those");
    leads || (REFERRING.contains(&first.as_str()) && !names_both(text))
}

/// Words that begin a clause of its own, in which a pronoun may refer to the clause before.
#[rustfmt::skip]
const CLAUSE_WORDS: &[&str] = &[
    "because", "so", "but", "when", "if", "that", "which", "and", "until", "after", "before", "since", "while", "as", "once",
    "though", "although", "where", "or", "then", "than", "who", "unless", "whether", "how", "what", "why",
];
/// Verbs whose "it" stands for what follows: "makes it possible to …".
const EXPLETIVE_VERBS: &[&str] =
    &["make", "makes", "made", "making", "find", "finds", "take", "takes", "keep", "keeps"];

/// Whether its first clause has an object that only another sentence names: "The server has it in a table". In a later
/// clause a pronoun may refer to the first.
pub(crate) fn has_unbound_pronoun(text: &str) -> bool {
    let plain: String = text.split('`').step_by(2).collect::<Vec<_>>().join("`");
    let mut before = String::new();
    for word in plain.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'').to_lowercase();
        if matches!(bare.as_str(), "it" | "them") && !EXPLETIVE_VERBS.contains(&before.as_str()) {
            return true;
        }
        if CLAUSE_WORDS.contains(&bare.as_str())
            || word.ends_with([',', ';', ':', ')'])
            || matches!(word, "—" | "–" | "-")
        {
            return false;
        }
        before = bare;
    }
    false
}

/// "Both `read` and `write` …": it names the two.
pub(crate) fn names_both(text: &str) -> bool {
    let named = text.strip_prefix("Both ").map(|rest| rest.split_whitespace().take(6));
    named.is_some_and(|mut words| words.any(|word| word == "and"))
}

/// Openings of a sentence in the middle of an argument.
#[rustfmt::skip]
const MID_ARGUMENT: &[&str] = &[
    "the only downside", "the only cost", "the only difference", "the only exception", "the only caveat", "the only gap",
    "the only risk", "the only reason", "the only thing", "simplest", "the answer ", "the whole point", "not really ",
    "at some point ", "at that point ", "the alternative ", "the former ", "the latter ", "most likely ", "more importantly",
    "in other words", "in that case", "with this ", "with that ", "the good news", "the bad news", "the trade-off", "the tradeoff",
    "the downside", "the upside", "the catch ", "the same applies", "the same goes", "the same holds", "the same is true", "even though ", "worth noting", "worth checking", "worth validating",
];

/// Whether the sentence goes on with an argument that began before it.
pub(crate) fn is_mid_argument(text: &str) -> bool {
    let lower = text.to_lowercase();
    MID_ARGUMENT.iter().any(|opening| lower.starts_with(opening))
}

/// Whether it speaks of an option by its number, which only its list explains: "Option 2 is simpler".
pub(crate) fn names_option(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    while let Some(word) = words.next() {
        let numbered = words.peek().is_some_and(|next| {
            next.chars().count() == 1 && next.chars().all(|c| c.is_ascii_digit() || ('a'..='d').contains(&c))
        });
        if numbered && matches!(word, "option" | "approach" | "alternative" | "variant") {
            return true;
        }
    }
    false
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

/// Whether a word in code marks is more than a plain word or a style class: `onPrint`, `list.rs`, `--json`.
pub(crate) fn names_code(text: &str) -> bool {
    let is_code = |span: &str| {
        span.starts_with("--") || span.contains(|c: char| c.is_uppercase() || "_(./".contains(c))
    };
    text.split('`').skip(1).step_by(2).any(is_code)
}

/// "When the last row is deleted": a condition without what follows from it.
fn is_half_clause(text: &str) -> bool {
    opens_subordinate(text) && !text.contains([',', '—', '–', '→', ';'])
}

#[rustfmt::skip]
const SUBORDINATE: &[&str] = &[
    "for", "when", "if", "while", "although", "though", "even", "whereas", "unless", "once", "since", "despite", "wenn",
    "falls",
];

/// Whether it opens with a clause that leads to another.
pub(crate) fn opens_subordinate(text: &str) -> bool {
    SUBORDINATE.contains(&first_word(text).as_str())
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

/// Whether the agent speaks of itself: what it thinks, needs or is about to do.
pub(crate) fn is_first_person(text: &str) -> bool {
    const WORDS: &[&str] = &[" i ", " i'm ", " i'll ", " i'd ", " i've ", " let me ", " let's ", " my "];
    let lower = format!(" {} ", text.to_lowercase().replace('’', "'"));
    WORDS.iter().any(|word| lower.contains(word))
}

/// Whether a sentence speaks to the reader of the message.
pub(crate) fn speaks_to_reader(text: &str) -> bool {
    const WORDS: &[&str] = &[" you ", " your ", " you'd ", " you'll ", " you're ", " yours "];
    let lower = format!(" {} ", text.to_lowercase());
    WORDS.iter().any(|word| lower.contains(word))
}

/// Words of a sentence that does not claim to know.
#[rustfmt::skip]
const HEDGES: &[&str] = &[
    " might ", " i think ", " perhaps ", " maybe ", " probably ", " presumably ", " possibly ", " likely ", " may be ", " may have ",
    " seems ",
];
/// Words of a sentence about something that is only thought of.
#[rustfmt::skip]
const SUPPOSING: &[&str] = &[
    " would ", " wouldn't ", " could ", " couldn't ", " we'd ", " you'd ", " they'd ", " it'd ", " i'd ",
];

/// Whether a sentence only thinks that something is so.
pub(crate) fn hedges(text: &str) -> bool {
    let lower = format!(" {} ", text.to_lowercase());
    HEDGES.iter().any(|word| lower.contains(word))
}

/// Whether a sentence supposes or weighs something instead of stating what is so.
pub(crate) fn supposes(text: &str) -> bool {
    let lower = format!(" {} ", text.to_lowercase().replace('’', "'"));
    hedges(text) || SUPPOSING.iter().any(|word| lower.contains(word))
}

/// First words of a step that somebody is to take.
#[rustfmt::skip]
const STEPS: &[&str] = &[
    "run", "fix", "add", "update", "remove", "create", "redeploy", "push", "commit", "check", "click", "note", "go", "open", "set",
    "install", "restart", "merge", "rebase", "write", "keep", "make", "verify", "move", "option", "approach", "alternatively",
];

/// Whether a sentence tells somebody to do something.
pub(crate) fn is_step(text: &str) -> bool {
    opens_with_step(text) && !text.contains('`')
}

/// Whether a sentence opens with the verb of a step.
pub(crate) fn opens_with_step(text: &str) -> bool {
    STEPS.contains(&first_word(text).as_str())
}

/// Whether a sentence offers an option or lists a step instead of stating what is so.
pub(crate) fn is_offer(text: &str) -> bool {
    let lower = text.to_lowercase();
    text.starts_with('(')
        // "Run `make it`" says how something is done here.
        || is_step(text)
        || [" or i can ", " i can also ", " is better long-term", " quick fix"]
            .iter()
            .any(|phrase| lower.contains(phrase))
}

/// Phrases about the session itself: the state of the checkout, the agent, its choice of words.
#[rustfmt::skip]
const SESSION_TALK: &[&str] = &[
    " our changes ", " my changes ", " these changes are ", " the changes are already ", " already committed ", " are committed ",
    " is committed ", " committed in head ", " left to stage ", " nothing to commit ", " working tree ", " staged changes ",
    " previously staged ", " the commit is ", " commit is effectively ", " the user's intent ", " the user's clear intent ", " as the user asked ", " my lean ", " my recommendation ",
    " i can't ", " can't clear ", " no further action ", " no test impact ", " unrelated to our ", " unrelated to my ",
    " pre-existing and unrelated ", " this conversation ", " conversation history ", " your question ",
    " task completed ", " memory updated ", " quick task complete", " as fixed ", " original state ", " successor ",
    " self-review ", " placeholder scan ", " will follow because ", " ready for review ", " ready to merge ", " pushed to ",
    " committed successfully ", " unstaged ", " remain untouched ", " give it a ", " the first edit ", " the second edit ", " the edit failed ",
    " the commit contains ", " the commit includes ", " was included in the commit ", " committed as ", " changelog has been updated ", " changelog is updated ",
];

/// Whether a sentence is about the session rather than the project: nobody asks for it next week.
pub(crate) fn is_session_talk(text: &str) -> bool {
    let plain: String = text
        .to_lowercase()
        .replace('’', "'")
        .chars()
        .map(|c| if ".,;:!()".contains(c) { ' ' } else { c })
        .collect();
    let spaced = format!(" {} ", plain.split_whitespace().collect::<Vec<_>>().join(" "));
    SESSION_TALK.iter().any(|phrase| spaced.contains(phrase))
}

/// Style classes that a text must name to be about looks alone.
const STYLE_CLASSES_MIN: usize = 2;

/// Whether a text names style classes in code marks ("`max-w-2xl`", "`px-3`"): how something looks is seen in the code.
pub(crate) fn is_styling(text: &str) -> bool {
    let marked = text.split('`').skip(1).step_by(2).flat_map(str::split_whitespace);
    let is_class = |name: &&str| {
        let plain =
            name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-/:.[]%#".contains(c));
        plain && name.contains('-') && !name.contains('.') && !name.starts_with('-') && name.len() <= 30
    };
    let styled = [
        "px-", "py-", "mx-", "my-", "text-", "bg-", "max-w", "min-w", "w-", "h-", "gap-", "border",
        "rounded", "flex", "font-",
    ];
    let classes = marked.filter(is_class);
    classes.filter(|name| styled.iter().any(|start| name.trim_start_matches('-').starts_with(start))).count()
        >= STYLE_CLASSES_MIN
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

#[cfg(test)]
#[path = "gates_tests.rs"]
mod tests;
