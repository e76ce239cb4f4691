//! What the user typed, without what the client wrapped around it.

use crate::gates::first_word;
use crate::sentences;
use crate::speech::SpokenText;
use crate::text::{content_words, one_line};
use crate::titles::shorten;

/// Blocks that clients put into prompts and no user typed.
const WRAPPED: &[&str] = &[
    "system-reminder",
    "command-message",
    "command-stdout",
    "local-command-stdout",
    "local-command-caveat",
    "hook_context",
    "ide_opened_file",
    "ide_selection",
    "session-start-hook",
    "user-prompt-submit-hook",
    "claude-mem-context",
    "untrusted_context",
    "task-notification",
    "bash-stdout",
    "bash-stderr",
];
/// Tags around words that the user did type.
const UNWRAPPED: &[&str] = &["command-name", "command-args", "user_query", "bash-input"];

/// The user's own words.
pub(super) fn spoken(text: &str) -> String {
    let mut words = text.to_owned();
    for tag in WRAPPED {
        words = without_block(&words, tag);
    }
    for tag in UNWRAPPED {
        words = words.replace(&format!("<{tag}>"), " ").replace(&format!("</{tag}>"), " ");
    }
    for note in ["[Request interrupted by user]", "[Request interrupted by user for tool use]"] {
        words = words.replace(note, "");
    }
    words.trim().to_owned()
}

/// What follows the name of a slash command: the user's words to it.
pub(super) fn without_command(text: &str) -> &str {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ':' | '_' | '-'))
    };
    match text.trim_start().strip_prefix('/').and_then(|rest| rest.split_once(char::is_whitespace)) {
        Some((name, words)) if is_name(name) => words.trim_start(),
        _ => text,
    }
}

/// Endings of pictures that somebody attaches to a prompt.
const PICTURE_ENDINGS: &[&str] = &[".png", ".jpg", ".jpeg", ".gif", ".webp"];
/// Words of a path with spaces in it.
const PICTURE_WORDS_MAX: usize = 12;

/// A prompt without the paths of attached pictures, which are gone tomorrow: "make it look like '/tmp/Shot 1.png'".
pub(crate) fn without_pictures(text: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for word in text.split_whitespace() {
        let bare = word.trim_end_matches(|c: char| "'\"`,.;:)".contains(c)).to_lowercase();
        if !PICTURE_ENDINGS.iter().any(|ending| bare.ends_with(ending)) {
            kept.push(word);
            continue;
        }
        // A path with spaces begins where it is quoted, or with its root.
        let near = kept.len().saturating_sub(PICTURE_WORDS_MAX);
        let begins = |word: &&str| word.starts_with(['\'', '"', '`', '/', '~']);
        let before = &kept[near..];
        if !begins(&word)
            && let Some(start) =
                before.iter().rposition(begins).or_else(|| before.iter().rposition(|word| word.contains('/')))
        {
            kept.truncate(near + start);
        }
    }
    kept.join(" ")
}

/// Characters of what a prompt asks for.
const ASKED_CHARS_MAX: usize = 240;
/// Words of the argument of a slash command up to which the command is told with it.
const ARGUMENT_WORDS_MAX: usize = 6;
/// Commands of the client itself, which ask for no work.
#[rustfmt::skip]
const CLIENT_COMMANDS: &[&str] = &[
    "clear", "compact", "model", "resume", "login", "logout", "cost", "config", "help", "exit", "mcp", "status", "context", "plugin",
    "permissions", "memory", "rename", "usage", "ide", "hooks", "agents", "theme", "vim", "add-dir", "terminal-setup", "statusline",
];
/// Phrases by which a sentence asks for something, wherever they stand.
#[rustfmt::skip]
const ASKING: &[&str] = &[
    " should ", " need to ", " needs to ", " want ", " would like ", "i'd like ", " please ", "can you ", "can we ", "could you ",
    "could we ", " must ", " have to ", "let's ", "lets ", "make sure ", "investigate ",
];

/// The sentences of a prompt that ask for something, without those that set the scene; a slash command with its
/// argument. The first sentences if none asks.
pub(crate) fn asked(spoken: &str, said: &SpokenText) -> String {
    let spoken = spoken.trim();
    let words = without_command(spoken);
    if words.len() < spoken.len() {
        let name = spoken.trim_start_matches('/').split_whitespace().next().unwrap_or_default();
        let argument = one_line(words.lines().next().unwrap_or_default());
        if CLIENT_COMMANDS.contains(&name) {
            return String::new();
        }
        if !argument.is_empty() && argument.split_whitespace().count() <= ARGUMENT_WORDS_MAX {
            return format!("/{name} {argument}");
        }
    }
    let own: Vec<&str> = said
        .own()
        .map(|statement| statement.text.as_str())
        .filter(|text| !text.ends_with([':', '：']))
        .collect();
    let first = own.iter().position(|text| is_asking(text));
    let told: Vec<&str> = match first {
        None => own,
        // "Fix this bug": the sentences before it say which.
        Some(first) if points_back(own[first]) => {
            let whole =
                own[..=first].iter().map(|text| text.chars().count() + 1).sum::<usize>() <= ASKED_CHARS_MAX;
            let from = if whole { 0 } else { first.saturating_sub(1) };
            let later = own[first + 1..].iter().filter(|text| is_asking(text));
            own[from..=first].iter().chain(later).copied().collect()
        }
        Some(_) => own.into_iter().filter(|text| is_asking(text)).collect(),
    };
    let fitting = sentences::join_fitting(told.iter().copied(), ASKED_CHARS_MAX);
    match told.first() {
        Some(first) if fitting.is_empty() => {
            let cut = shorten(first, ASKED_CHARS_MAX);
            if cut.ends_with('…') { String::new() } else { cut }
        }
        _ => fitting,
    }
}

/// Whether a request names its subject only by a pronoun.
fn points_back(text: &str) -> bool {
    let spaced = format!(" {} ", text.to_lowercase().replace(['.', ',', '?', '!'], " "));
    let pronoun = [" this ", " it ", " that ", " these ", " those ", " them ", " other "]
        .iter()
        .any(|word| spaced.contains(word));
    pronoun || content_words(text).len() < 3
}

/// Whether a sentence asks for something rather than setting the scene.
pub(crate) fn is_asking(text: &str) -> bool {
    let lower = format!("{} ", text.to_lowercase().replace('’', "'"));
    let first = first_word(text);
    text.ends_with(['?', '？'])
        || ASKING.iter().any(|phrase| lower.contains(phrase))
        || WORK_VERBS.contains(&first.as_str())
        || is_imperative(text)
}

/// "Lead the migration of the invoices": a word that is no preposition or auxiliary, before the object of a verb.
fn is_imperative(text: &str) -> bool {
    let mut words = text.split_whitespace().map(str::to_lowercase);
    let (Some(first), Some(second)) = (words.next(), words.next()) else {
        return false;
    };
    first.chars().all(|c| c.is_ascii_alphabetic())
        && !first.ends_with("ing")
        && !first.ends_with("ed")
        && !first.ends_with("ly")
        && NO_VERBS.binary_search(&first.as_str()).is_err()
        && matches!(second.as_str(), "the" | "a" | "an" | "our" | "my" | "all" | "every" | "each")
}

/// Words that stand before an article and are no verb in an order; sorted.
#[rustfmt::skip]
const NO_VERBS: &[&str] = &[
    "about", "above", "across", "after", "all", "also", "although", "among", "and", "are", "as", "at", "because", "before", "behind",
    "below", "beside", "besides", "between", "beyond", "both", "but", "by", "despite", "did", "do", "does", "during", "even", "for",
    "from", "half", "has", "have", "he", "here", "how", "i", "if", "in", "inside", "into", "is", "it", "like", "maybe", "near", "no", "not",
    "now", "of", "off", "ok", "okay", "on", "once", "only", "or", "our", "out", "outside", "over", "perhaps", "quite", "she", "since", "so",
    "still", "such", "than", "that", "then", "there", "they", "though", "through", "till", "to", "under", "unless", "unlike", "until", "up",
    "upon", "was", "we", "were", "what", "when", "where", "whereas", "which", "while", "who", "why", "with", "within", "without", "yes", "you",
];

/// Verbs by which a request begins.
#[rustfmt::skip]
const WORK_VERBS: &[&str] = &[
    "add", "fix", "create", "update", "remove", "delete", "write", "implement", "make", "rename", "move", "put", "set", "change",
    "replace", "refactor", "convert", "install", "build", "generate", "use", "apply", "resolve", "address", "clean", "split", "merge",
    "extract", "introduce", "support", "show", "hide", "enable", "disable", "allow", "prevent", "increase", "reduce", "improve",
    "simplify", "document", "bump", "migrate", "port", "drop", "check", "find", "explain", "review", "test", "verify", "plan",
    "investigate", "debug", "align", "highlight", "mention", "expand", "propagate", "release", "commit", "read", "tell", "look",
];

/// The text without `<tag …>…</tag>`; an unclosed one goes to the end.
fn without_block(text: &str, tag: &str) -> String {
    let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
    if !text.contains(&open) {
        return text.to_owned();
    }
    let (mut kept, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = rest.find(&open) {
        kept.push_str(&rest[..start]);
        rest = match rest[start..].find(&close) {
            Some(end) => &rest[start + end + close.len()..],
            None => "",
        };
    }
    kept.push_str(rest);
    kept
}

/// First words of a prompt that refuses what was done.
#[rustfmt::skip]
const REFUSALS: &[&str] = &[
    "no ", "no,", "no.", "nope", "nah", "that's wrong", "thats wrong", "that's not", "thats not", "not what", "wrong,", "revert",
    "undo", "nein", "non,", "нет,", "いいえ", "不对", "不是",
];
/// Phrases near the beginning of a prompt that report that something does not work.
#[rustfmt::skip]
const STILL_BROKEN: &[&str] = &[
    "still see", "still get", "still not", "still fail", "still the same", "still have", "still broken", "still show",
    "doesn't work", "does not work", "doesnt work", "didn't work", "did not work", "not working", "same error", "same problem",
    "same issue", "geht nicht", "immer noch", "no funciona", "sigue sin", "ne marche pas", "toujours pas", "не работает",
    "всё ещё", "動かない", "还是不",
];
/// Characters of a prompt in which an objection stands.
const OBJECTION_CHARS: usize = 120;

/// Whether a prompt says that what was done before is wrong or does not work.
pub(crate) fn objects(prompt: &str) -> bool {
    let lower: String = prompt.to_lowercase().replace('’', "'").chars().take(OBJECTION_CHARS).collect();
    let said = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let said = said.strip_prefix("hm").map_or(said, |rest| rest.trim_start_matches(['m', ',', '.', ' ']));
    REFUSALS.iter().any(|start| said.starts_with(start))
        || STILL_BROKEN.iter().any(|phrase| lower.contains(phrase))
}

/// Phrases by which the user says that something is done.
#[rustfmt::skip]
const DONE: &[&str] = &[
    " is done", " are done", " is fixed", " are fixed", " is merged", " are merged", " is set up", " are set up", " is configured",
    " are configured", " is deployed", " works now", " work now", " is resolved", " are resolved", " is in place", " are in place",
    " have been ", " has been ", "i've ", "i have ", "i already ", "we already ", " already did ", "ich habe ", " ist erledigt", "j'ai ", "ya he ",
];
/// Words by which such a sentence says the contrary, asks or supposes.
#[rustfmt::skip]
const NOT_DONE: &[&str] = &[
    " not ", "n't ", " if ", " once ", " when ", " until ", " after ", " unless ", " should ", " never ", " no idea", " noticed ", " seen ",
    " tried ", " got ", " been getting ", " a question ", " nicht ", " pas ", " some changes",
];

/// The sentences of a prompt by which the user says that something is done.
pub(crate) fn stated_done(said: &SpokenText) -> Vec<String> {
    let says = |text: &&str| {
        let lower = format!(" {} ", text.to_lowercase().replace('’', "'"));
        let states = DONE.iter().any(|phrase| {
            let lead = phrase.starts_with(' ') || lower.starts_with(&format!(" {phrase}"));
            lead && lower.contains(phrase)
        });
        states && !NOT_DONE.iter().any(|word| lower.contains(word)) && content_words(text).len() >= 2
    };
    let own = said.own().filter(|statement| !statement.question).map(|statement| statement.text.as_str());
    own.filter(says).map(str::to_owned).take(STATED_DONE_MAX).collect()
}

/// Sentences of one prompt that say what is done.
const STATED_DONE_MAX: usize = 4;

#[cfg(test)]
#[path = "prompts_tests.rs"]
mod tests;
