//! The points of lists: which of them are facts, and how all of them are told briefly rather than some of them whole.

use std::collections::BTreeSet;

use crate::gates;
use crate::limits::OBSERVATION_FACT_CHARS_MAX;
use crate::text::{capitalised, content_words, full_stop};
use crate::titles::shorten;

use super::list_intro::{bare_intro, introduces};
use super::story::{StoryBlock, StorySentence};

/// The body of a commit is told whole up to this many characters.
pub(super) const WHOLE_CHARS_MAX: usize = 700;

/// Whether a sentence is a point of a list.
pub(super) const fn is_point(sentence: &StorySentence) -> bool {
    matches!(sentence.block, StoryBlock::List(_))
}

/// Characters of a point of a list that is told briefly.
const BRIEF_POINT_CHARS: usize = 80;

/// A story whose points are told briefly, so that all of it fits: the first ones whole as long as there is room. `None`
/// if it does not fit even so.
pub(super) fn brief_list(story: &[StorySentence]) -> Option<Vec<StorySentence>> {
    let chars = |text: &str| text.chars().count() + 2;
    let mut brief: Vec<StorySentence> = story.to_vec();
    for point in brief.iter_mut().filter(|sentence| is_point(sentence)) {
        if let Some(short) = brief_point(&crate::titles::without_brackets(&point.text)) {
            point.text = short;
        }
    }
    let mut used: usize = brief.iter().map(|sentence| chars(&sentence.text)).sum();
    if used > WHOLE_CHARS_MAX || !story.iter().any(is_point) {
        return None;
    }
    for (short, whole) in brief.iter_mut().zip(story) {
        let more = chars(&whole.text).saturating_sub(chars(&short.text));
        if used + more <= WHOLE_CHARS_MAX {
            used += more;
            short.text.clone_from(&whole.text);
        }
    }
    Some(brief)
}

/// A point up to the first mark behind which it goes into detail.
fn brief_point(text: &str) -> Option<String> {
    let heads = [" - ", " — ", " – ", "; ", ": "].iter().filter_map(|mark| text.split_once(mark));
    let says = |head: &&str| {
        content_words(head).len() >= BRIEF_POINT_WORDS_MIN && head.chars().count() <= BRIEF_POINT_CHARS
    };
    let head = heads.map(|(head, _)| head).filter(says).max_by_key(|head| head.len());
    head.map(str::to_owned)
        .or_else(|| Some(shorten(text, BRIEF_POINT_CHARS)).filter(|short| !short.ends_with('…')))
}

/// Words that mean something in a point that is told briefly.
const BRIEF_POINT_WORDS_MIN: usize = 3;

/// Characters of the points that open a list without prose.
const OPENING_CHARS: usize = 420;

/// The first points of a list that no prose introduces, as sentences: they tell what the change is about.
pub(super) fn opening_points(points: &mut std::iter::Peekable<std::vec::IntoIter<String>>) -> Vec<String> {
    let mut opening: Vec<String> = points.next().iter().map(|point| full_stop(point)).collect();
    let mut used: usize = opening.iter().map(|point| point.chars().count()).sum();
    while let Some(point) = points.next_if(|point| used + point.chars().count() <= OPENING_CHARS) {
        used += point.chars().count();
        opening.push(full_stop(&point));
    }
    opening
}

/// Points of a list that are facts: fewer are told in the narrative.
const POINTS_MIN: usize = 2;

/// Takes the points of lists out of a narrative: they are facts, each by itself. A list behind a line that introduces
/// it is one sentence, and one with a long point is told as sentences.
pub(super) fn split_points(
    sentences: Vec<StorySentence>,
    title: &BTreeSet<String>,
) -> (Vec<String>, Vec<StorySentence>) {
    let (mut points, mut others) = (Vec::new(), Vec::new());
    for run in sentences.chunk_by(|a, b| a.block == b.block) {
        let stands = match &run[0].block {
            StoryBlock::List(intro) => !introduces(&bare_intro(intro), title),
            StoryBlock::Single | StoryBlock::Paragraph(_) => false,
        };
        let fits = |point: &StorySentence| {
            point.text.chars().count() <= OBSERVATION_FACT_CHARS_MAX && !gates::refers_back(&point.text)
        };
        if stands && run.len() >= POINTS_MIN && run.iter().all(fits) {
            points.extend(run.iter().map(|point| capitalised(point.text.trim_end_matches('.'))));
        } else {
            others.extend_from_slice(run);
        }
    }
    (points, others)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(text: &str) -> StorySentence {
        StorySentence { weight: 0.7, text: text.to_owned(), block: StoryBlock::List(String::new()) }
    }

    #[test]
    fn long_list_is_told_whole_but_briefly() {
        let tail = "the reader kept the old cursor and the writer overwrote it on every flush of the queue";
        let story: Vec<StorySentence> = (1..=8)
            .map(|n| point(&format!("Close gap {n} of the import (see `import_{n}.rs`) - {tail}")))
            .collect();
        let brief = brief_list(&story).expect("eight short points fit");
        assert_eq!(brief.len(), story.len());
        assert_eq!(brief[0].text, story[0].text);
        assert_eq!(brief[7].text, "Close gap 8 of the import");
        let chars: usize = brief.iter().map(|sentence| sentence.text.chars().count()).sum();
        assert!(chars <= WHOLE_CHARS_MAX, "{chars}");
    }

    #[test]
    fn list_that_is_too_long_even_briefly_is_left_to_the_selection() {
        let long = "a point without any place at which it could be cut because it is one long clause without a comma";
        let story: Vec<StorySentence> = (1..=9).map(|n| point(&format!("{n} {long}"))).collect();
        assert_eq!(brief_list(&story), None);
    }
}
