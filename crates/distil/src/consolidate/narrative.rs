//! Narrative and facts of an observation, filled with weighed sentences.

use std::collections::BTreeSet;

use claude_mem_core::limits::OBSERVATION_NARRATIVE_CHARS_MAX;
use claude_mem_core::memory::NewObservation;

use crate::carry::are_alike;
use crate::gates;
use crate::limits::OBSERVATION_FACT_CHARS_MAX;
use crate::text::{capitalised, content_words, full_stop, overlap, run_on, shared, without_bold};
use crate::verbs::has_verb;

use super::list_intro::{bare_intro, introduces};
use super::points::{WHOLE_CHARS_MAX, opening_points, split_points};
use super::story::{StoryBlock, StorySentence};

/// How much of a story its narrative tells.
#[derive(Clone, Copy, Debug)]
pub(super) struct NarrativeRoom {
    chars: usize,
    sentences: usize,
    /// Parts of a text that a narrative is taken from: more would tell of several things.
    blocks: usize,
    /// A sentence must have this weight, unless it is the only one.
    weight_min: f32,
    facts: usize,
    /// Points of a list may become facts, torn from the others.
    lists_as_facts: bool,
    /// Sentences are taken in the order they were said, not by their weight.
    in_order: bool,
}

impl NarrativeRoom {
    /// The weightiest sentences.
    pub(super) const SELECTED: Self = Self {
        chars: 500,
        sentences: 5,
        blocks: 2,
        weight_min: 0.4,
        facts: REASONS_MAX,
        lists_as_facts: true,
        in_order: false,
    };
    /// Whole paragraphs and lists of an answer.
    pub(super) const PARAGRAPHS: Self =
        Self { chars: 620, facts: FACTS_MAX, lists_as_facts: false, ..Self::SELECTED };
    /// Everything, in its order.
    pub(super) const WHOLE: Self = Self {
        chars: WHOLE_CHARS_MAX + 100,
        sentences: usize::MAX,
        blocks: usize::MAX,
        weight_min: 0.0,
        facts: FACTS_MAX,
        lists_as_facts: false,
        in_order: true,
    };
}

/// Facts of one observation, and all their characters.
const FACTS_MAX: usize = 2;
const FACTS_CHARS: usize = 400;
/// Sentences of this weight are the prose of a commit: its reasons. There may be more of them.
const REASON_WEIGHT: f32 = 0.75;
const REASONS_MAX: usize = 5;
const REASONS_CHARS: usize = 700;
/// A fact must have this weight.
const FACT_WEIGHT_MIN: f32 = 0.6;
/// The share of a fact's words that must be new.
const NEW_FACT_SHARE: f32 = 0.45;
/// The same for a reason that a commit gives.
const NEW_REASON_SHARE: f32 = 0.3;
/// Two sentences that share this much say the same.
pub(super) const SAME_SENTENCE: f32 = 0.8;
/// Two sentences of about the same length that share this much say the same in other words.
const REPHRASED: f32 = 0.7;

/// Fills narrative and facts with sentences: the weightiest of the story into the narrative, from at most two
/// parts of their text and in the order they were said; the rest of the story and the extras become facts. A
/// sentence that adds nothing to what is told, or refers to one that is not told, is left out.
pub(super) fn fill(
    made: &mut NewObservation,
    story: Vec<StorySentence>,
    extras: Vec<StorySentence>,
    room: NarrativeRoom,
) {
    let mut told: Vec<BTreeSet<String>> = vec![content_words(&made.text.title)];
    let mut narrative: Vec<(usize, StorySentence)> = Vec::new();
    let mut rest: Vec<StorySentence> = Vec::new();
    let mut used = 0;
    let mut ranked = by_weight(story);
    if room.in_order {
        ranked.sort_by_key(|(order, _)| *order);
    }
    for (order, sentence) in ranked {
        let text = &sentence.text;
        let follows =
            narrative.iter().any(|(known, before)| *known + 1 == order && before.block == sentence.block);
        if is_told(&told, &made.text.title, text) || (gates::refers_back(text) && !follows) {
            continue;
        }
        let chars = text.chars().count() + 1;
        let has_room = used + chars <= room.chars.min(OBSERVATION_NARRATIVE_CHARS_MAX)
            && narrative.len() < room.sentences
            && has_block_room(&narrative, &sentence.block, room.blocks);
        if has_room && (narrative.is_empty() || sentence.weight >= room.weight_min) {
            used += chars;
            told.push(content_words(text));
            let text = beyond_title(&made.text.title, text);
            narrative.push((order, StorySentence { text, ..sentence }));
        } else {
            rest.push(sentence);
        }
    }
    narrative.sort_by_key(|(order, _)| *order);
    let sentences: Vec<StorySentence> = narrative.into_iter().map(|(_, sentence)| sentence).collect();
    let (points, sentences) = split_points(sentences, &told[0]);
    made.text.narrative = prose(&sentences, &told[0]);
    rest.extend(extras);
    add_facts(made, rest, &mut told, room);
    if made.text.narrative.is_empty() && !made.text.facts.is_empty() {
        made.text.narrative = full_stop(&made.text.facts.remove(0));
    }
    let mut points = points.into_iter().peekable();
    if made.text.narrative.is_empty() {
        let opening = opening_points(&mut points);
        made.text.narrative = run_on(opening.iter().map(String::as_str));
    }
    made.text.facts.splice(0..0, points);
}

/// Whether a part of the text is told already, or may be told besides the others.
fn has_block_room(narrative: &[(usize, StorySentence)], block: &StoryBlock, blocks_max: usize) -> bool {
    let mut blocks: Vec<&StoryBlock> =
        narrative.iter().map(|(_, sentence)| &sentence.block).filter(|b| **b != StoryBlock::Single).collect();
    blocks.dedup();
    *block == StoryBlock::Single || blocks.contains(&block) || blocks.len() < blocks_max
}

/// Sentences as running text: the items of a list behind the line that introduces it, as one sentence.
fn prose(sentences: &[StorySentence], title: &BTreeSet<String>) -> String {
    let mut parts: Vec<String> = Vec::new();
    for run in sentences.chunk_by(|a, b| a.block == b.block) {
        match &run[0].block {
            StoryBlock::List(intro) => parts.push(list_sentence(intro, run, title)),
            StoryBlock::Single | StoryBlock::Paragraph(_) => {
                parts.extend(run.iter().map(|sentence| full_stop(&sentence.text)));
            }
        }
    }
    let parts: Vec<String> = name_files_once(parts).into_iter().map(closed_quotation).collect();
    run_on(parts.iter().map(String::as_str))
}

/// Sentences behind the names of their files, each name once for all that follow it: "`list.rs`: Added a cursor.
/// Removed the table."
fn name_files_once(parts: Vec<String>) -> Vec<String> {
    let file = |part: &str| -> Option<String> {
        let (name, _) = part.strip_prefix('`')?.split_once("`: ")?;
        (!name.contains(' ')).then(|| format!("`{name}`: "))
    };
    let mut named: Option<String> = None;
    let mut told = Vec::new();
    for part in parts {
        let own = file(&part);
        let again = own.as_deref().filter(|own| named.as_deref() == Some(*own));
        told.push(again.map_or_else(|| part.clone(), |own| capitalised(&part[own.len()..])));
        named = own;
    }
    told
}

/// The sentence with an end to a quotation that begins in it: a text may be split inside one.
fn closed_quotation(text: String) -> String {
    if text.matches('"').count().is_multiple_of(2) { text } else { text + "\"" }
}

/// "What the import needs: a cursor; a table of positions."
fn list_sentence(intro: &str, items: &[StorySentence], title: &BTreeSet<String>) -> String {
    let items: Vec<&str> =
        items.iter().map(|item| item.text.trim_end_matches(['.', ';']).trim_end()).collect();
    let intro = bare_intro(intro);
    if introduces(&intro, title) {
        full_stop(&format!("{intro}: {}", items.join("; ")))
    } else {
        let sentences: Vec<String> = items.into_iter().map(full_stop).collect();
        run_on(sentences.iter().map(String::as_str))
    }
}

/// Adds the weightiest sentences as facts that say something new about the same thing.
fn add_facts(
    made: &mut NewObservation,
    rest: Vec<StorySentence>,
    told: &mut Vec<BTreeSet<String>>,
    room: NarrativeRoom,
) {
    let mut chars = 0;
    for (_, sentence) in by_weight(rest) {
        let text = &sentence.text;
        let words = content_words(text);
        let with_it = chars + text.chars().count() + 1;
        let is_torn = !room.lists_as_facts && matches!(sentence.block, StoryBlock::List(_));
        let fits = !gates::refers_back(text)
            && !gates::is_mid_argument(text)
            && !is_torn
            && text.chars().count() <= OBSERVATION_FACT_CHARS_MAX
            && !gates::is_step(text)
            && made.text.facts.len() < room.facts
            && has_fact_room(sentence.weight, made.text.facts.len(), with_it)
            && !is_told(told, &made.text.title, text)
            && adds_words(told, &words, sentence.weight)
            && (sentence.weight >= REASON_WEIGHT || is_related(told, &words));
        if fits {
            chars = with_it;
            made.text.facts.push(text.trim_end_matches('.').to_owned());
            told.push(words);
        }
    }
}

/// Sentences with their place, the weightiest first.
fn by_weight(sentences: Vec<StorySentence>) -> Vec<(usize, StorySentence)> {
    let mut ranked: Vec<_> = sentences.into_iter().enumerate().collect();
    for (_, sentence) in &mut ranked {
        sentence.text = without_bold(&sentence.text);
    }
    ranked.sort_by(|a, b| b.1.weight.total_cmp(&a.1.weight));
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
    let first = gates::first_word(rest);
    let bound = BOUND_WORDS.contains(&first.as_str())
        || (first.len() > 4 && first.ends_with("ing"))
        || rest.starts_with('(')
        || gates::refers_back(rest);
    let stands = content_words(rest).len() >= REST_WORDS_MIN && !bound && has_verb(rest);
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
fn adds_words(told: &[BTreeSet<String>], words: &BTreeSet<String>, weight: f32) -> bool {
    let new = words.iter().filter(|word| !told.iter().any(|known| known.contains(*word))).count();
    let least = if weight >= REASON_WEIGHT { NEW_REASON_SHARE } else { NEW_FACT_SHARE };
    new as f32 >= least * words.len() as f32
}

/// Words that a fact must share with what is told, so that it is about the same thing.
const RELATED_WORDS_MIN: usize = 2;

fn is_related(told: &[BTreeSet<String>], words: &BTreeSet<String>) -> bool {
    words.iter().filter(|word| told.iter().any(|known| known.contains(*word))).count() >= RELATED_WORDS_MIN
}

/// Whether a sentence whose beginning is the title goes on after it: "The button is hidden, because …".
fn told_more(title: &str, text: &str) -> bool {
    let (title, text) = (content_words(title).len(), content_words(text).len());
    text >= title + 3
}

#[cfg(test)]
mod tests {
    use super::closed_quotation;

    #[test]
    fn quotation_that_a_cut_left_open_is_closed() {
        assert_eq!(
            closed_quotation("The intro reads \"Print once.".into()),
            "The intro reads \"Print once.\""
        );
        assert_eq!(closed_quotation("The \"desk\" prints once.".into()), "The \"desk\" prints once.");
    }
}
