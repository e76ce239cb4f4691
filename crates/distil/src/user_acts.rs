//! What a sentence that the user typed does: it lays down a rule, makes a choice, states a fact, or none of these.
//!
//! Invariant: when in doubt it is nothing. An order for now, a question, assent, musing or complaint leaves no memory.

use crate::cues::{CueKind, CueMarks, Language};
use crate::decisions::rules_on_it;
use crate::gates::{first_word, is_dangling, is_pasted, names_something};
use crate::prohibitions::Prohibition;
use crate::speech::MarkedSentence;
use crate::text::{content_words, is_name, without_openers};
use crate::verbs::has_verb;

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

/// Words by which the user asks for something to be remembered, in all languages.
#[rustfmt::skip]
const REMEMBERING: &[&str] = &[
    "remember:", "remember that ", "please remember:", "please remember that ", "keep in mind:", "keep in mind that ",
    "запомни:", "запомни, что ", "запомните:", "запомните, что ", "имей в виду:", "merk dir:", "merke dir:", "merk dir, dass ",
    "recuerda:", "recuerda que ", "retiens:", "retiens que ", "souviens-toi:", "souviens-toi que ", "覚えておいて：", "记住：", "请记住：",
];

/// What the user asks to remember, without the words that ask for it.
pub(crate) fn remembered(text: &str) -> Option<&str> {
    let lower = text.to_lowercase();
    // Lower-casing these words keeps their lengths.
    let asking = REMEMBERING.iter().find(|asking| lower.starts_with(**asking))?;
    text.get(asking.len()..).map(str::trim_start).filter(|rest| !rest.is_empty())
}

/// Classifies a sentence that the user typed. When in doubt it is nothing.
pub(crate) fn user_act(statement: &MarkedSentence, worth: Option<f32>, language: Language) -> UserAct {
    let text = statement.text.as_str();
    let marks = &statement.marks;
    if statement.question || statement.is_bare() || is_pasted(text) {
        return UserAct::Nothing;
    }
    if remembered(text).is_some_and(|rest| !is_dangling(rest)) {
        return UserAct::Rule;
    }
    if language == Language::English && is_plain_rule(text) && !marks.has(CueKind::Problem) {
        return UserAct::Rule;
    }
    if statement.words.len() < 4 {
        return UserAct::Nothing;
    }
    let lasting = is_lasting(text, marks, language);
    let Some(worth) = worth else {
        let strong = statement.rule_weight() >= 2.25 && lasting;
        return if strong && is_understood(text, marks) { UserAct::Rule } else { UserAct::Nothing };
    };
    let order = ORDERS.contains(&first_word(&without_openers(text)).as_str());
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
    if !complains && Prohibition::read(text).is_some() {
        return UserAct::Rule;
    }
    let lasting = lasting && !complains && (!polite || has_lasting_time(text));
    // "From now on …" and "Never …" say themselves that they last.
    let first = first_word(text);
    let said = without_openers(text).to_lowercase();
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
    if states && names_address(text) && is_understood(text, marks) {
        return UserAct::Fact;
    }
    // "The queue is `jobs-eu`": a version or a name makes a plain statement a fact.
    let concrete = text.contains('`') || text.contains("://") || text.split_whitespace().any(is_name);
    let least = if concrete { 0.45 } else { 0.65 };
    if worth >= least && states && is_understood(text, marks) && !marks.has(CueKind::Hedge) {
        return UserAct::Fact;
    }
    UserAct::Nothing
}

/// Rules of a plain form, however short: "use pnpm, not npm", "we deploy from main only", "I want every commit to be
/// signed", "ask before you add a dependency".
fn is_plain_rule(text: &str) -> bool {
    let said = without_openers(text).to_lowercase().replace('’', "'");
    let spaced = format!(" {} ", said.replace(['.', ',', ';', '!'], " "));
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| spaced.contains(phrase));
    if has(&[" this ", " that ", " these ", " for now ", " yet ", " probably ", " maybe ", " i think "]) {
        return false;
    }
    let first = first_word(&said);
    let contrasts = matches!(first.as_str(), "use" | "prefer")
        && (said.contains(", not ") || has(&[" instead of ", " rather than "]))
        && !has(&[" the "]);
    let habit = has(&[" we only ", " we never ", " we always "])
        || (first == "we" && said.trim_end_matches('.').ends_with(" only"));
    let quantified =
        has(&[
            " i want every ",
            " i want all ",
            " i want each ",
            " every change must ",
            " every commit must ",
        ]) || ((said.starts_with("every ") || said.starts_with("all ") || said.starts_with("each "))
            && has(&[" must ", " has to ", " have to "]));
    let asks_first =
        first == "ask" && has(&[" before you ", " before any ", " before a ", " unless ", " whenever "]);
    contrasts || habit || quantified || asks_first
}

/// Whether it names an address, a port, an option or a variable: what a stated fact is looked up for.
fn names_address(text: &str) -> bool {
    text.split_whitespace().any(|word| {
        let word = word.trim_matches(|c: char| "`'\"(),;.".contains(c));
        let is_option = word.starts_with("--")
            && word.len() > 4
            && word[2..].starts_with(|c: char| c.is_ascii_lowercase());
        let octets: Vec<&str> = word.split([':', '/']).next().unwrap_or_default().split('.').collect();
        let is_ip = octets.len() == 4 && octets.iter().all(|octet| octet.parse::<u8>().is_ok());
        let is_variable = word.split_once('=').is_some_and(|(name, value)| {
            name.len() > 3
                && !value.is_empty()
                && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        });
        word.contains("://") || is_option || is_ip || is_variable || word.starts_with("localhost:")
    })
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
        || Prohibition::read(text) == Some(Prohibition::Lasting)
        || is_plain_rule(text)
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

/// Whether a sentence of the user picks something: "let's go with the cursor", "not the list but the table".
pub(crate) fn is_choice(text: &str) -> bool {
    let lower = format!(" {} ", text.to_lowercase().replace(['.', ',', ';', '!'], " "));
    Language::detect(text) != Language::English
        || [
            " go with ",
            " going with ",
            " let's ",
            " lets ",
            " instead of ",
            " rather than ",
            " i prefer ",
            " we prefer ",
            " i would prefer ",
            " i'd prefer ",
            " for now ",
            " option ",
            " i chose ",
            " i choose ",
            " better not to ",
            " better to ",
            " decided ",
            " stick with ",
            " stick to ",
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
    let bare = is_dangling(text);
    let short = content_words(text).len() < 5;
    !(marks.opens(CueKind::Pronoun) || (bare && short))
}
