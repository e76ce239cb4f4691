//! Builds observations and enforces their limits.

use super::sentences;
use super::text::{clip, one_line, without_bold};
use crate::limits::OBSERVATION_FACT_CHARS_MAX;
use crate::limits::OBSERVATION_FACTS_MAX;
use crate::limits::OBSERVATION_FILES_MAX;
use crate::limits::OBSERVATION_TITLE_CHARS_MAX;
use claude_mem_core::clock::Millis;
use claude_mem_core::limits::OBSERVATION_NARRATIVE_CHARS_MAX;
use claude_mem_core::memory::{NewObservation, ObservationType, Origin};
use claude_mem_core::vocabulary::{AMENDMENT, PREFERENCE, Vocabulary};

/// Maximum concepts of one observation.
pub(crate) const OBSERVATION_CONCEPTS_MAX: usize = 5;

/// Maximum characters of an observation's subtitle.
pub(crate) const OBSERVATION_SUBTITLE_CHARS_MAX: usize = 180;

pub(super) fn observation(kind: ObservationType, title: String, at: Millis) -> NewObservation {
    NewObservation::new(kind, title, Origin::Agent, at)
}

pub(super) fn concepts(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Enforces the limits and the vocabulary. `None` without a title.
pub(super) fn finish(mut made: NewObservation, vocabulary: &Vocabulary) -> Option<NewObservation> {
    made.text.kind = vocabulary.resolve_type(made.text.kind.as_str());
    made.text.title = clip(&one_line(&without_bold(&made.text.title)), OBSERVATION_TITLE_CHARS_MAX);
    made.text.subtitle = clip(&one_line(&made.text.subtitle), OBSERVATION_SUBTITLE_CHARS_MAX);
    made.text.narrative = clip(&made.text.narrative, OBSERVATION_NARRATIVE_CHARS_MAX);
    let mut facts = without_echoes(made.text.facts);
    // The points of a decision stand apart from the conversation that its narrative quotes.
    if made.text.kind != ObservationType::DECISION {
        facts = without_repeated(facts, &made.text.title, &made.text.narrative);
    }
    made.text.facts = bounded(facts, OBSERVATION_FACTS_MAX, OBSERVATION_FACT_CHARS_MAX);
    let known = |concept: &String| match concept.as_str() {
        reserved @ (PREFERENCE | AMENDMENT) => Some(reserved.to_owned()),
        said => vocabulary.find_concept(said).map(str::to_owned),
    };
    made.text.concepts = made.text.concepts.iter().filter_map(known).collect();
    made.text.concepts = bounded(made.text.concepts, OBSERVATION_CONCEPTS_MAX, OBSERVATION_FACT_CHARS_MAX);
    made.text.files_read.retain(|file| !made.text.files_modified.contains(file));
    made.text.files_read = bounded(made.text.files_read, OBSERVATION_FILES_MAX, OBSERVATION_FACT_CHARS_MAX);
    made.text.files_modified =
        bounded(made.text.files_modified, OBSERVATION_FILES_MAX, OBSERVATION_FACT_CHARS_MAX);
    (!made.text.title.is_empty()).then_some(made)
}

/// Maximum characters before a repeated fact: "Understood: the pool has four connections".
const LEAD_IN_CHARS_MAX: usize = 24;

/// Whether a fact repeats one of these, possibly after a word of agreement.
pub(super) fn says(known: &[String], fact: &str) -> bool {
    known.iter().any(|known| {
        let Some(at) = fact.len().checked_sub(known.len()) else {
            return false;
        };
        let Some((lead_in, rest)) = fact.split_at_checked(at) else {
            return false;
        };
        let ends = lead_in.trim_end().ends_with([':', '：']);
        let short = lead_in.chars().count() <= LEAD_IN_CHARS_MAX;
        (lead_in.is_empty() || (ends && short)) && rest.to_lowercase() == known.to_lowercase()
    })
}

/// Removes facts that repeat a shorter one.
fn without_echoes(facts: Vec<String>) -> Vec<String> {
    let is_echo = |at: usize| {
        let others: Vec<String> =
            facts.iter().filter(|other| other.len() < facts[at].len()).cloned().collect();
        says(&others, &facts[at])
    };
    let echoes: Vec<bool> = (0..facts.len()).map(is_echo).collect();
    let kept = facts.into_iter().zip(echoes).filter(|(_, echo)| !echo);
    kept.map(|(fact, _)| fact).collect()
}

/// Removes facts that are the title or stand in the narrative, word for word.
fn without_repeated(mut facts: Vec<String>, title: &str, narrative: &str) -> Vec<String> {
    let (title, narrative) = (title.to_lowercase(), narrative.to_lowercase());
    facts.retain(|fact| {
        let bare = fact.trim().trim_end_matches('.').to_lowercase();
        bare != title && !narrative.contains(&bare)
    });
    facts
}

/// At most `chars_max` characters, up to the end of a sentence if that leaves at least half of them. The cut is marked.
fn clip_at_sentence(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    let whole = sentences::join_fitting(sentences::split(text).into_iter(), chars_max.saturating_sub(2));
    if whole.chars().count() * 2 >= chars_max { format!("{whole} …") } else { clip(text, chars_max) }
}

/// The first `max` different ones, each on one line and no longer than `chars_max`.
pub(super) fn bounded(items: Vec<String>, max: usize, chars_max: usize) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for item in items {
        let item = clip_at_sentence(&one_line(&item), chars_max);
        if !item.is_empty() && !kept.contains(&item) {
            kept.push(item);
        }
        if kept.len() == max {
            break;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::clip_at_sentence;

    #[test]
    fn long_fact_ends_with_a_sentence() {
        let text =
            "Only owners may pass a key on. Guests see the parcel and nothing else, whatever they ask for.";
        assert_eq!(clip_at_sentence(text, 50), "Only owners may pass a key on. …");
        assert_eq!(clip_at_sentence(text, 200), text);
        assert!(clip_at_sentence(text, 80).ends_with('…'));
    }
}
