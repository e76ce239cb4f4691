//! Narrative and facts of an observation, filled with weighed sentences.

use std::collections::BTreeSet;

use claude_mem_core::limits::OBSERVATION_NARRATIVE_CHARS_MAX;
use claude_mem_core::memory::NewObservation;

use crate::carry::are_alike;
use crate::gates;
use crate::text::{capitalised, content_words, full_stop, overlap, shared, without_bold};

/// A sentence with its weight among the others.
pub(super) type WeighedSentence = (f32, String);

/// Characters of a narrative that are filled with sentences.
const NARRATIVE_CHARS: usize = 500;
const NARRATIVE_SENTENCES_MAX: usize = 5;
/// Facts of one observation, and all their characters.
const FACTS_MAX: usize = 2;
const FACTS_CHARS: usize = 400;
/// Sentences of this weight are the prose of a commit: its reasons. There may be more of them.
const REASON_WEIGHT: f32 = 0.75;
const REASONS_MAX: usize = 5;
const REASONS_CHARS: usize = 700;
/// A sentence of the narrative must have this weight, unless it is the only one.
const NARRATIVE_WEIGHT_MIN: f32 = 0.4;
/// A fact must have this weight.
const FACT_WEIGHT_MIN: f32 = 0.6;
/// The share of a fact's words that must be new.
const NEW_FACT_SHARE: f32 = 0.45;
/// Two sentences that share this much say the same.
pub(super) const SAME_SENTENCE: f32 = 0.8;
/// Two sentences of about the same length that share this much say the same in other words.
const REPHRASED: f32 = 0.7;

/// Fills narrative and facts with sentences: the weightiest of the story into the narrative, in the order
/// they were said; the rest of the story and the extras become facts. A sentence that adds nothing to what
/// is told, or refers to one that is not told, is left out.
pub(super) fn fill(made: &mut NewObservation, story: Vec<WeighedSentence>, extras: Vec<WeighedSentence>) {
    let mut told: Vec<BTreeSet<String>> = vec![content_words(&made.text.title)];
    let mut narrative: Vec<(usize, String)> = Vec::new();
    let mut rest: Vec<WeighedSentence> = Vec::new();
    let mut used = 0;
    for (order, weight, text) in by_weight(story) {
        let refers = gates::refers_back(&text);
        let follows = order > 0 && narrative.iter().any(|(known, _)| *known + 1 == order);
        if is_told(&told, &made.text.title, &text) || (refers && !follows) {
            continue;
        }
        let chars = text.chars().count() + 1;
        let has_room = used + chars <= NARRATIVE_CHARS.min(OBSERVATION_NARRATIVE_CHARS_MAX)
            && narrative.len() < NARRATIVE_SENTENCES_MAX;
        if has_room && (narrative.is_empty() || weight >= NARRATIVE_WEIGHT_MIN) {
            used += chars;
            told.push(content_words(&text));
            narrative.push((order, beyond_title(&made.text.title, &text)));
        } else {
            rest.push((weight, text));
        }
    }
    narrative.sort_by_key(|(order, _)| *order);
    let sentences: Vec<String> = narrative.into_iter().map(|(_, text)| full_stop(&text)).collect();
    made.text.narrative = sentences.join(" ");
    rest.extend(extras);
    let mut chars = 0;
    for (_, weight, text) in by_weight(rest) {
        let words = content_words(&text);
        let with_it = chars + text.chars().count() + 1;
        let fits = !gates::refers_back(&text)
            && has_fact_room(weight, made.text.facts.len(), with_it)
            && !is_told(&told, &made.text.title, &text)
            && (weight >= REASON_WEIGHT || adds_words(&told, &words));
        if fits {
            chars = with_it;
            made.text.facts.push(text.trim_end_matches('.').to_owned());
            told.push(words);
        }
    }
    if made.text.narrative.is_empty() && !made.text.facts.is_empty() {
        made.text.narrative = full_stop(&made.text.facts.remove(0));
    }
}

/// Sentences with their place and weight, the weightiest first.
fn by_weight(sentences: Vec<WeighedSentence>) -> Vec<(usize, f32, String)> {
    let numbered = sentences.into_iter().enumerate();
    let mut ranked: Vec<_> =
        numbered.map(|(order, (weight, text))| (order, weight, without_bold(&text))).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranked
}

/// Whether a sentence before it says the same, or the title does and the sentence does not go on after it. The
/// first of `told` are the words of the title.
fn is_told(told: &[BTreeSet<String>], title: &str, text: &str) -> bool {
    let words = content_words(text);
    let held = |known: &BTreeSet<String>| shared(known, &words) as f32 >= SAME_SENTENCE * words.len() as f32;
    let in_title = told.first().is_some_and(|known| overlap(known, &words) >= SAME_SENTENCE || held(known))
        || are_alike(title, text);
    let rephrased = |known: &BTreeSet<String>| {
        let (shorter, longer) = (known.len().min(words.len()), known.len().max(words.len()));
        longer * 2 <= shorter * 3 && overlap(known, &words) >= REPHRASED
    };
    told.iter().skip(1).any(|known| held(known) || rephrased(known)) || (in_title && !told_more(title, text))
}

/// Words after which the rest of a sentence cannot stand without its beginning.
#[rustfmt::skip]
const BOUND_WORDS: &[&str] = &[
    "which", "that", "who", "to", "with", "in", "on", "for", "from", "by", "of", "as", "at", "where", "when", "while", "or",
    "than", "whose", "including", "via", "into", "so", "but", "then", "e.g", "i.e", "not", "if", "after", "before",
];
/// Words that the rest of a sentence needs to be told alone.
const REST_WORDS_MIN: usize = 4;

/// A sentence whose beginning is the title, without that beginning if the rest stands alone.
fn beyond_title(title: &str, text: &str) -> String {
    let Some(rest) = text.strip_prefix(title) else {
        return text.to_owned();
    };
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || ",;:.—–-".contains(c));
    let rest = rest.strip_prefix("and ").unwrap_or(rest);
    if let Some(reason) = rest.strip_prefix("because ") {
        return format!("Reason: {reason}");
    }
    let bound = BOUND_WORDS.contains(&gates::first_word(rest).as_str()) || rest.starts_with('(');
    let stands = content_words(rest).len() >= REST_WORDS_MIN && !bound && gates::has_verb(rest);
    if stands { capitalised(rest) } else { text.to_owned() }
}

/// Whether there is room for a fact of this weight. Reasons that a commit gives have more of it.
fn has_fact_room(weight: f32, facts: usize, chars: usize) -> bool {
    match weight {
        REASON_WEIGHT.. => facts < REASONS_MAX && chars <= REASONS_CHARS,
        FACT_WEIGHT_MIN.. => facts < FACTS_MAX && chars <= FACTS_CHARS,
        _ => false,
    }
}

/// Whether a fact has enough words that nothing before it has.
fn adds_words(told: &[BTreeSet<String>], words: &BTreeSet<String>) -> bool {
    let new = words.iter().filter(|word| !told.iter().any(|known| known.contains(*word))).count();
    new as f32 >= NEW_FACT_SHARE * words.len() as f32
}

/// Whether a sentence whose beginning is the title goes on after it: "The button is hidden, because …".
fn told_more(title: &str, text: &str) -> bool {
    let (title, text) = (content_words(title).len(), content_words(text).len());
    text >= title + 3
}
