//! The points of a commit's list: all of them briefly rather than some of them whole.

use crate::text::content_words;
use crate::titles::shorten;

use super::narrative::{StoryBlock, StorySentence, WHOLE_CHARS_MAX};

/// Whether a sentence is a point of a list.
const fn is_point(sentence: &StorySentence) -> bool {
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
