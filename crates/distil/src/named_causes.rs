//! Sentences of the agent that name a cause, and those that only suppose one.

use crate::cues::{self, CueKind, Language};
use crate::gates;

pub(crate) fn is_labelled_cause(text: &str) -> bool {
    let lower = text.to_lowercase();
    ["root cause", "cause:", "the cause", "caused by", "turns out", "fails because", "failed because"]
        .iter()
        .any(|label| lower.contains(label))
}

/// A guess that nothing has confirmed yet.
pub(crate) fn is_guess(text: &str) -> bool {
    let lower = text.to_lowercase();
    ["it might ", "maybe ", "perhaps ", "my guess", "my primary suspect", "could be that"]
        .iter()
        .any(|start| lower.starts_with(start))
        || lower.contains(" might be ")
        || lower.contains("primary suspect")
}

/// A cause that is only supposed: later messages confirm or refute it.
pub(crate) fn is_hypothesis(text: &str) -> bool {
    let lower = format!(" {} ", text.to_lowercase());
    [" could be ", " could have ", " could exhaust", " suspect ", " would cause "]
        .iter()
        .any(|word| lower.contains(word))
        || lower.starts_with(" if ")
        || gates::hedges(text)
}

/// Phrases that name a cause, rather than a plain "because".
#[rustfmt::skip]
const CAUSES: &[&str] = &[
    "cause: ", "root cause", "real issue", "actual issue", "real problem", "actual problem", "turns out", "turned out",
    "caused by", "the culprit", "fails because", "failed because", "failing because", "was failing",
    "the cause", "the bug is", "the bug was", "the issue is", "the issue was", "the problem is",
    "the problem was", "traced to", "stems from", "is why", "was why", "happens when", "happens because",
    "breaks because", "broke because", "this explains", "which explains", "due to", "because the",
    "because it", "because of", "the fix was ", "the fix is ", "won't work because", "doesn't work because", "never called", "never reached",
    "silently", "is a known flaky", "known flaky", "race condition", "which causes", "causing", "resulting in",
];

/// Whether a sentence says why something happened.
pub(crate) fn names_cause(text: &str, language: Language) -> bool {
    if language != Language::English {
        return cues::mark(text, language).has(CueKind::Cause);
    }
    let lower = text.to_lowercase();
    CAUSES.iter().any(|cause| lower.contains(cause))
}
