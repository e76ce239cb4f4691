//! Options that the agent offers: an option that was not chosen says nothing about the project.

use std::collections::BTreeSet;

use crate::sentences::TextDocument;

/// The paragraphs that describe options to choose from: "A. Top header — …", "Option 2: …". An option that was
/// not chosen says nothing about the project; a chosen one becomes a choice of the user.
pub(crate) fn option_paragraphs(document: &TextDocument) -> BTreeSet<usize> {
    let mut last = None;
    let mut options = BTreeSet::new();
    let mut several = false;
    for sentence in &document.sentences {
        if last != Some(sentence.paragraph) && is_option(&sentence.text) {
            options.insert(sentence.paragraph);
        }
        // "A. … B. …" on lines that follow each other are one paragraph.
        let is_first = options.contains(&sentence.paragraph);
        several |= is_first && [" B. ", " B) ", " b) "].iter().any(|mark| sentence.text.contains(mark));
        last = Some(sentence.paragraph);
    }
    if options.len() < 2 && !several { BTreeSet::new() } else { options }
}

/// "A. …", "b) …", "Option 2: …", "Approach A — …".
fn is_option(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| "*-(• ".contains(c));
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    let mark = |word: &str| {
        let bare = word.trim_end_matches([')', '.', ':', '—', '-', '*']);
        let short = bare.chars().count() == 1 && bare.chars().all(|c| c.is_ascii_alphanumeric());
        short && bare.len() < word.len()
    };
    let letter = |word: &str| mark(word) && word.starts_with(|c: char| c.is_ascii_alphabetic());
    let named = matches!(first.to_lowercase().as_str(), "option" | "approach" | "alternative" | "choice");
    let second = words.next().unwrap_or_default();
    let dashed = || words.clone().next().is_some_and(|word| matches!(word, "—" | "–" | "-" | ":"));
    letter(first) || (named && (mark(second) || (second.chars().count() == 1 && dashed())))
}

/// Whether a message ends by asking the user to pick: the items of its lists are candidates, not facts.
pub(crate) fn asks_to_choose(last: &str) -> bool {
    let lower = format!(" {} ", last.to_lowercase());
    let picks =
        [" which ", " prefer", " option", " approach", " direction", " would you rather", " pick ", " or "];
    lower.trim_end().ends_with(['?', '？']) && picks.iter().any(|word| lower.contains(word))
}
