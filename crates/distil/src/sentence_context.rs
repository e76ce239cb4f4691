//! The place of a sentence in its text, and the sentences that it cannot be told without.

use crate::claim::SentencePlace;
use crate::gates;
use crate::sentences::{TextBlock, TextDocument, TextSentence};
use crate::text::{capitalised, run_on, without_bold};

/// Characters of the sentences before or after a claim that are told with it.
const CONTEXT_CHARS_MAX: usize = 240;
/// Sentences after a claim that are told with it.
const SENTENCES_AFTER_MAX: usize = 2;

/// Where a sentence of a text stands.
pub(crate) fn place_of(sentence: &TextSentence, index: usize) -> SentencePlace {
    SentencePlace {
        index: u32::try_from(index).unwrap_or(u32::MAX),
        paragraph: u32::try_from(sentence.paragraph).unwrap_or(u32::MAX),
        listed: !matches!(sentence.block, TextBlock::Prose),
    }
}

/// The sentence that this one refers to; empty if it refers to none. `None`: there is nothing before it that it
/// could refer to, so that it cannot be told.
pub(crate) fn sentence_before(document: &TextDocument, index: usize) -> Option<String> {
    let sentence = document.sentences.get(index)?;
    let refers = gates::refers_back(&sentence.text);
    if !refers && !gates::is_mid_argument(&sentence.text) {
        return Some(String::new());
    }
    let before = index.checked_sub(1).and_then(|before| document.sentences.get(before));
    let fitting = before.filter(|before| {
        before.paragraph == sentence.paragraph
            && is_tellable(before)
            && !gates::refers_back(&before.text)
            && before.text.chars().count() <= CONTEXT_CHARS_MAX
    });
    match fitting {
        Some(before) => Some(told(before)),
        // "The only cost is …" can be understood, if need be.
        None => (!refers).then(String::new),
    }
}

/// The next sentences of the same paragraph, as long as they refer back.
pub(crate) fn sentences_after(document: &TextDocument, index: usize) -> String {
    let Some(sentence) = document.sentences.get(index) else {
        return String::new();
    };
    let next = document.sentences.iter().skip(index + 1).take(SENTENCES_AFTER_MAX);
    let follows = |next: &&TextSentence| {
        next.paragraph == sentence.paragraph && gates::refers_back(&next.text) && is_tellable(next)
    };
    let mut after = String::new();
    for next in next.take_while(follows) {
        let next = told(next);
        if after.chars().count() + next.chars().count() > CONTEXT_CHARS_MAX {
            break;
        }
        if !after.is_empty() {
            after.push(' ');
        }
        after.push_str(&next);
    }
    after
}

/// Characters of a paragraph or list that is told whole.
const BLOCK_CHARS_MAX: usize = 420;

/// The paragraph or list of a sentence as one text, without what only the conversation needs. Empty if it has nothing
/// besides the sentence or is too long.
pub(crate) fn whole_block(
    document: &TextDocument,
    index: usize,
    is_claimed: impl Fn(usize) -> bool,
) -> String {
    let range = block_range(document, index);
    let mut items: Vec<(usize, String)> = Vec::new();
    let mut told_before = true;
    let mut sentences = 0;
    for at in range {
        let sentence = &document.sentences[at];
        let tellable = is_claimed(at)
            || (says_something(&sentence.text)
                && is_tellable(sentence)
                && !gates::is_first_person(&sentence.text));
        // A sentence that refers to one that is left out is left out with it.
        let follows = told_before || !gates::refers_back(&sentence.text);
        told_before = tellable && follows;
        if !told_before {
            continue;
        }
        sentences += 1;
        match items.last_mut() {
            Some((paragraph, item)) if *paragraph == sentence.paragraph => {
                *item = run_on([item.as_str(), &told(sentence)].into_iter());
            }
            _ => items.push((sentence.paragraph, told(sentence))),
        }
    }
    let items: Vec<&str> = items.iter().map(|(_, item)| item.trim_end_matches(['.', ';'])).collect();
    let whole = items.join("; ");
    if sentences > 1 && whole.chars().count() <= BLOCK_CHARS_MAX { whole } else { String::new() }
}

/// Whether a sentence is more than an acknowledgement: "Noted.". A bare yes or no answers the question.
fn says_something(text: &str) -> bool {
    let answers = matches!(gates::first_word(text).as_str(), "yes" | "no");
    answers || text.split_whitespace().count() > 2
}

/// The sentences of the same paragraph, or of the same list.
fn block_range(document: &TextDocument, index: usize) -> std::ops::Range<usize> {
    let Some(own) = document.sentences.get(index) else {
        return 0..0;
    };
    let is_same = |other: &TextSentence| {
        other.block == own.block
            && match own.block {
                TextBlock::Item => other.section == own.section,
                _ => other.paragraph == own.paragraph,
            }
    };
    let before = document.sentences[..index].iter().rev().take_while(|other| is_same(other)).count();
    let after = document.sentences[index..].iter().take_while(|other| is_same(other)).count();
    index - before..index + after
}

/// The first sentence of the paragraph or list of a sentence.
pub(crate) fn block_start(document: &TextDocument, index: usize) -> usize {
    block_range(document, index).start
}

fn told(sentence: &TextSentence) -> String {
    let text = sentence.text.trim_start_matches(|c: char| "✅✓✔❌⚠️→•".contains(c) || c.is_whitespace());
    capitalised(&without_label(&without_bold(text)))
}

/// Whether a sentence may be told at all: no question, offer, heading or talk to the reader.
fn is_tellable(sentence: &TextSentence) -> bool {
    let text = sentence.text.as_str();
    !matches!(sentence.block, TextBlock::Heading | TextBlock::Quote)
        && !text.ends_with([':', '：', '?', '？'])
        && !gates::is_commentary(text)
        && !gates::is_passing_trouble(text)
        && !gates::names_option(text)
        && !gates::speaks_to_reader(text)
        && !gates::is_session_talk(text)
        && !gates::is_quotation(text)
}

/// Labels in front of a statement that say what kind of statement it is.
#[rustfmt::skip]
const LABELS: &[&str] = &[
    "summary", "conclusion", "in conclusion", "note", "goal", "result", "results", "key finding", "key insight", "finding", "in short",
    "short answer", "answer", "the answer", "the answer is", "tl;dr", "bottom line", "takeaway", "key takeaway", "why", "important", "current state",
    "yes", "no", "yep", "nope", "correct", "exactly", "right", "done", "good news", "bad news",
];

/// The statement without a label or a one-word answer in front of it: "Yes — turn the cache off" → "turn the
/// cache off". "No backup exists" begins with no label.
pub(crate) fn without_label(text: &str) -> String {
    let text = text.trim();
    let Some(end) = text.find([':', ',', '—', '–', '.', '!']) else {
        return text.to_owned();
    };
    let (head, rest) = text.split_at(end);
    let dash = rest.starts_with(['—', '–']);
    let rest = rest.trim_start_matches([':', ',', '—', '–', '.', '!']);
    let is_label = LABELS.contains(&head.trim().to_lowercase().as_str());
    let separated = dash || rest.starts_with(' ');
    let rest = rest.trim_start();
    if is_label && separated && rest.split_whitespace().count() >= 3 {
        rest.to_owned()
    } else {
        text.to_owned()
    }
}

/// Headings above reports of progress.
#[rustfmt::skip]
const PROGRESS_HEADINGS: &[&str] = &[
    "progress", "current position", "position", "recent work", "status", "current status", "what's next", "whats next", "up next",
    "project status", "completed phases", "session continuity", "next up",
];

/// Whether a text reports where the work stands, rather than what was done or found out.
pub(crate) fn is_status_report(document: &TextDocument) -> bool {
    let headings = document.sentences.iter().filter(|sentence| sentence.block == TextBlock::Heading);
    headings.filter(|heading| is_progress_heading(&heading.text)).count() >= PROGRESS_HEADINGS_MIN
}

/// Headings that make a status report of a text.
const PROGRESS_HEADINGS_MIN: usize = 2;

fn is_progress_heading(heading: &str) -> bool {
    let bare = heading.to_lowercase();
    PROGRESS_HEADINGS.contains(&bare.trim_matches(|c: char| !c.is_alphanumeric()))
}

#[cfg(test)]
#[path = "sentence_context_tests.rs"]
mod tests;
