//! What a sentence of the agent puts a failure down to: the machinery, the environment, or something that the change
//! at hand did not touch.

use crate::errors::says_failure;
use crate::gates;
use crate::text::{capitalised, padded};
use crate::troubles::{Trouble, TroubleKind};

/// What a sentence puts a trouble down to, the most lasting last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Attribution {
    /// Something that the change did not touch.
    Elsewhere,
    /// The state of the machine or of a service.
    Environment,
    /// The way in which a tool of the project works.
    Machinery,
}

/// Worth of what is said about the way in which a tool works.
pub(crate) const MACHINERY_WORTH: f32 = 0.65;
/// Words of a sentence in which its subject is named.
const SUBJECT_WORDS: usize = 8;
/// Words of a sentence that says something, though a list or code follows it.
const INTRODUCING_WORDS: usize = 10;
/// Words of a clause that only leads to a statement.
const LEAD_WORDS_MAX: usize = 4;

impl Attribution {
    pub(crate) const fn worth(self) -> f32 {
        match self {
            Self::Elsewhere => 0.55,
            Self::Environment => 0.6,
            Self::Machinery => MACHINERY_WORTH,
        }
    }
}

/// Parts of the machinery of any project.
#[rustfmt::skip]
const MACHINERY: &[&str] = &[
    "hook", "hooks", "ci", "pipeline", "runner", "wrapper", "subagent", "subagents", "sub-agent", "mcp", "sandbox", "cache", "proxy", "daemon",
    "registry", "gate", "gates", "linter", "formatter", "typecheck", "bundler", "container", "containers", "docker", "shell", "keychain", "vm",
    "firewall", "tunnel", "emulator", "simulator", "ssh", "lint-staged", "husky", "pre-commit", "compiler", "scheduler",
];
/// What such a part does to a change that it knows nothing of.
#[rustfmt::skip]
const BEHAVIOUR: &[&str] = &[
    " picks up ", " picking up ", " picked up ", " rewrote ", " rewrites ", " falsely ", " lints ", " runs ", " enforces ", " requires ", " only has ",
    " only have ", " only work", " only available ", " caches ", " cached ", " caching ", " defaults to ", " regenerat", " times out ", " timed out ",
    " keeps failing ", " consistently failing ", " intermittently ", " doesn't have ", " does not have ", " can't ", " cannot ", " catches ", " caught ", " stashes ",
    " strips ", " reformats ", " overrides ", " overwrites ", " ignores ", " rejects ", " refuses ", " expects ", " not supported ", " below the ",
    " swallows ", " hides ", " kills ", " sweeps ", " stale ",
];
/// States of the machine or of a service that make things fail.
#[rustfmt::skip]
const ENVIRONMENT: &[&str] = &[
    " not running ", " isn't running ", " not installed ", " isn't installed ", " not set ", " isn't set ", " only created ", " only exist", " don't exist until ",
    " defaults to ", " gitignored ", ".gitignore`", " leftover ", " left over ", " from a previous ", " stale ", " not reachable ", " unreachable ", " out of date ",
    " outdated ", " expired ", " cached ",
];
/// Phrases that put a failure down to something else than the change at hand.
#[rustfmt::skip]
const ELSEWHERE: &[&str] = &[
    " pre-existing ", " preexisting ", " unrelated to ", " unrelated ", " not related to ", " not caused by ", " not from my ", " not from our ", " not from this ", " not from the session's ",
    " aren't from ", " isn't from ", " not my ", " not our ", " without the session's changes ", " without these changes ", " flaky ", " known issue ", " someone else's ",
    " not part of my ", " not part of our ", "didn't modify ", "didn't touch ",
];
/// Words of a sentence that only supposes.
const GUESSING: &[&str] =
    &[" must have ", " looks like ", " appears to ", " i think ", " suspect", " could be ", " if "];
/// Phrases by which a hunt ends.
const FOUND: &[&str] = &[
    "found it",
    "there it is",
    "root cause",
    "the cause is",
    "the issue is",
    "the problem is",
    "that's why",
];
/// Words by which a sentence points to something before it says what it is.
#[rustfmt::skip]
const POINTERS: &[&str] = &[
    "It's a ", "It's an ", "This is a ", "This is an ", "Regarding ", "As for ", "The issue is that ", "The problem is that ", "The issue is ",
    "The problem is ", "The issue: ", "The problem: ",
];

/// What a sentence puts a trouble down to; `None` if it does not.
pub(crate) fn attribution(text: &str, trouble: &Trouble) -> Option<Attribution> {
    let lower = padded(text);
    let holds = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
    if gates::hedges(text) || holds(GUESSING) {
        return None;
    }
    let is_failure = says_failure(text);
    // "The wrapper was showing stale output": it is over.
    if !is_failure && holds(&[" was ", " were "]) {
        return None;
    }
    let passes = holds(&[" pass ", " passed ", " passes ", " green ", " succeeded "]);
    if names_machinery(&lower, trouble) && holds(BEHAVIOUR) && (!passes || is_failure) {
        return Some(Attribution::Machinery);
    }
    let is_found = says_found(text) || trouble.kind == TroubleKind::Reported;
    let names = text.contains('`') || (is_found && gates::names_something(text));
    if names && holds(ENVIRONMENT) && trouble.kind != TroubleKind::Rewritten {
        return Some(Attribution::Environment);
    }
    (is_named(text) && is_failure && holds(ELSEWHERE)).then_some(Attribution::Elsewhere)
}

/// Whether a text says that the reason was found.
pub(crate) fn says_found(text: &str) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    FOUND.iter().any(|phrase| lower.contains(phrase))
}

/// Whether a sentence of an explanation is told: no plan of the agent, no question, no bare disclaimer.
pub(crate) fn is_tellable(text: &str) -> bool {
    !gates::is_commentary(text)
        && !gates::is_first_person(text)
        && !text.trim_end().ends_with('?')
        && (!text.trim_end().ends_with(':') || text.split_whitespace().count() >= INTRODUCING_WORDS)
        && (is_named(text) || !disclaims(&padded(text)))
}

/// The sentence without the words that point to it and without the aside that it is not about the change at hand.
pub(crate) fn without_asides(text: &str) -> String {
    without_disclaimer(&without_pointer(text))
}

fn disclaims(lower: &str) -> bool {
    ELSEWHERE.iter().any(|phrase| lower.contains(phrase))
}

/// Words of a sentence in which a compound names its subject.
const SUBJECT_NAME_WORDS: usize = 4;
/// What a compound may be the name of.
const NAMED_THINGS: &[&str] =
    &["test", "tests", "suite", "spec", "job", "check", "build", "script", "workflow", "command", "stage"];

/// Whether a sentence names something from code, or a part of the project by a compound: `the full-import test`.
fn is_named(text: &str) -> bool {
    let words: Vec<&str> =
        text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())).collect();
    let is_compound = |word: &str| {
        let (head, rest) = word.split_once('-').unwrap_or_default();
        head.len() > 3 && rest.len() > 3
    };
    text.contains('`')
        || words
            .windows(2)
            .take(SUBJECT_NAME_WORDS)
            .any(|pair| is_compound(pair[0]) && NAMED_THINGS.contains(&pair[1]))
}

/// Whether the subject of a sentence is a part of the machinery, a program that was run, or what its error names.
fn names_machinery(lower: &str, trouble: &Trouble) -> bool {
    let words = lower.split_whitespace().take(SUBJECT_WORDS);
    let mut words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.any(|word| MACHINERY.contains(&word) || trouble.names.contains(word))
}

/// "It's a known flaky test — …", "The issue is that …", "Hit a snag — …": what stands behind says it.
fn without_pointer(text: &str) -> String {
    let pointed = POINTERS.iter().find_map(|pointer| text.strip_prefix(pointer));
    // A clause of a few words before the statement only leads to it.
    let led = text.split_once(" — ").filter(|(lead, rest)| {
        lead.split_whitespace().count() <= LEAD_WORDS_MAX
            && !is_named(lead)
            && !disclaims(&padded(lead))
            && gates::stands_alone(rest)
    });
    let bare = pointed.or(led.map(|(_, rest)| rest)).map_or_else(|| text.to_owned(), capitalised);
    let own = ["my changes", "our changes", "my change", "our change"];
    own.iter().fold(bare, |text, own| text.replace(own, "the session's changes"))
}

/// The sentence without the aside that it is not about the change at hand: "(not from my changes)".
fn without_disclaimer(text: &str) -> String {
    let is_aside = |part: &str| {
        let lower = padded(part);
        let own = [" my ", " our ", " this ", " these ", " i ", " the session's "];
        disclaims(&lower) && own.iter().any(|word| lower.contains(word)) && !part.contains('`')
    };
    let mut text = text.to_owned();
    if let Some((before, rest)) = text.split_once(" (")
        && let Some((aside, after)) = rest.split_once(')')
        && is_aside(aside)
    {
        text = format!("{before}{after}");
    }
    let end = text.trim_end_matches('.');
    let cut = [" — ", " – ", ", "].into_iter().find_map(|mark| {
        let (before, aside) = end.rsplit_once(mark)?;
        let closed = if before.matches('(').count() > before.matches(')').count() { ")" } else { "" };
        is_aside(aside).then(|| format!("{before}{closed}"))
    });
    cut.unwrap_or(text)
}
