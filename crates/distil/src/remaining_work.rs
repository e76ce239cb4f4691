//! Remaining work in the agent's words: what a sentence leaves to be done, waited for or mended.

use crate::cues::{self, CueKind};
use crate::gates;
use crate::sentences::{TextBlock, TextSentence};
use crate::speech::MarkedSentence;
use crate::text::content_words;

/// Phrases that state remaining work.
#[rustfmt::skip]
const REMAINS: &[&str] = &[
    "not yet", "still needs", "still need", "still to do", "still to be", "remaining work", "remaining task",
    "remaining item", "remaining todo", "remains to", "todo:", "left to do", "left undone", "not fixed",
    "to complete the setup", "to finish the setup", "not implemented yet", "follow-up:", "follow-up work",
    "follow-up task", "as a follow-up", "in a follow-up",
    "known issue:", "still pending", "still fails", "still failing", "not addressed", "future work", "noch offen",
    "noch nicht", "steht noch aus", "still open", "未対応", "まだ", "残作業", "待办", "尚未", "还没", "未完成",
    "pendiente", "reste à", "à faire", "остаётся", "ещё не", "осталось",
];

/// Headings of lists of remaining work.
#[rustfmt::skip]
const REMAINS_HEADINGS: &[&str] = &[
    "remaining", "open", "todo", "todos", "to do", "not done", "deferred", "follow-up", "follow-ups",
    "known issue", "known issues", "still open", "left over", "outstanding", "pending", "next step", "next steps",
    "what's left", "offen",
];

/// Words of a heading of remaining work. A longer line is a sentence that happens to use such a word.
const HEADING_WORDS_MAX: usize = 6;

/// Labels in front of remaining work: "Open: the old address is still called".
const LABELS: &[&str] = &[
    "open: ",
    "still open: ",
    "left: ",
    "remaining: ",
    "to do: ",
    "offen: ",
    "осталось: ",
    "pendiente: ",
    "à faire : ",
];

/// What follows "Next: " and is over with the conversation.
#[rustfmt::skip]
const NEXT_IN_TALK: &[&str] = &[
    "commit", "push", "pick", "choose", "review", "wait", "confirm", "tell", "approve", "say", "answer", "your",
    "you", "select", "reply", "let",
];

/// Offers and questions to the user, which open nothing.
#[rustfmt::skip]
const OFFERS: &[&str] = &[
    "you may want", "you might want", "you can ", "if you", "i'd recommend", "i recommend", "let me know",
    "want me to", "would you like", "shall i", "should i", "i can ", "i could ", "happy to", "feel free",
    "you'll want", "you could", "consider ", "ready to", "ready for",
];

pub(crate) fn is_open(sentence: &TextSentence, statement: &MarkedSentence, section: &cues::CueMarks) -> bool {
    if statement.question || statement.words.len() < 4 {
        return false;
    }
    let lower = sentence.text.to_lowercase();
    if OFFERS.iter().any(|offer| lower.contains(offer)) || gates::is_commentary(&sentence.text) {
        return false;
    }
    if sentence.block == TextBlock::Todo {
        return true;
    }
    let listed = matches!(sentence.block, TextBlock::Item) && is_remaining_heading(&sentence.section);
    let next = lower.strip_prefix("next: ").or_else(|| lower.strip_prefix("next step: "));
    let comes = next.is_some_and(|next| !NEXT_IN_TALK.contains(&gates::first_word(next).as_str()));
    let labelled = LABELS.iter().any(|label| lower.starts_with(label));
    let says = REMAINS.iter().any(|phrase| lower.contains(phrase)) || is_awaited(&lower) || comes || labelled;
    let past = content_words(&sentence.text).len() > 40;
    let heading = sentence.section.to_lowercase();
    let tells =
        ["decision", "decided", "recent", "history", "fixes", "fixed", "changes made", "status", "position"];
    let past = past || tells.iter().any(|word| heading.contains(word));
    (listed || (says && !section.has(CueKind::Done))) && !past
}

/// "The signing keys aren't configured yet", "`orders.spec` is flaky": what is lacking or unreliable at the end.
fn is_awaited(lower: &str) -> bool {
    let spaced = format!(" {} ", lower.replace(['.', ',', ';', ')'], " "));
    let lacks = (spaced.contains("n't ") || spaced.contains(" not ")) && spaced.contains(" yet ");
    let tests = [" test", " spec", ".spec", ".test", " suite"].iter().any(|word| spaced.contains(word));
    let unreliable = [" is flaky ", " are flaky ", " known flake ", " is a flake "];
    lacks || (tests && unreliable.iter().any(|phrase| spaced.contains(phrase)))
}

/// "Open items", "Two todos added:", but not "Here is what to do if …".
fn is_remaining_heading(heading: &str) -> bool {
    let bare = heading.to_lowercase();
    let bare = bare.trim_end_matches(':');
    let named = |title: &str| {
        let padded =
            format!(" {} ", bare.replace(|c: char| !c.is_alphanumeric() && c != '-' && c != '\'', " "));
        padded.contains(&format!(" {title} "))
    };
    let refused = ["intentional", "won't", "not planned", "by design"].iter().any(|word| bare.contains(word));
    !bare.ends_with('?')
        && !refused
        && bare.split_whitespace().count() <= HEADING_WORDS_MAX
        && REMAINS_HEADINGS.iter().any(|title| named(title))
}
