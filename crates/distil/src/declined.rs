//! Points of a review that the agent did not follow: the items of a list whose heading says so. Each is a decision with
//! its reason, which a later session would otherwise take up again.

use crate::gates;
use crate::text::content_words;

/// Words of a heading whose items were left as they are, on purpose.
#[rustfmt::skip]
const DECLINED: &[&str] = &[
    "intentionally", "deliberately", "declined", "rejected", "not applied", "not changed", "not adopted", "left unchanged",
    "left as is", "left as-is", "kept as is", "kept as-is", "won't fix", "will not fix", "by design", "out of scope", "pushed back",
    "disagreed",
];
/// A longer line is a sentence that happens to use such a word.
const HEADING_WORDS_MAX: usize = 6;
/// Words of a reason that mean something.
const REASON_WORDS_MIN: usize = 3;
/// Words of the name of a point.
const NAME_WORDS: std::ops::RangeInclusive<usize> = 1..=9;

/// Whether a heading introduces points that were declined: "Intentionally deferred", "Declined (with reasons)".
pub(crate) fn is_heading(section: &str) -> bool {
    let bare = section.to_lowercase().replace('’', "'");
    bare.split_whitespace().count() <= HEADING_WORDS_MAX && DECLINED.iter().any(|word| bare.contains(word))
}

/// A point and the reason why it was declined: "Retry helper — two callers only".
pub(crate) fn point_with_reason(item: &str) -> Option<(&str, &str)> {
    let marks = [" — ", " – ", ": ", " - "];
    let (name, reason) =
        marks.iter().filter_map(|mark| item.split_once(mark)).min_by_key(|(name, _)| name.len())?;
    let names = NAME_WORDS.contains(&name.split_whitespace().count()) && !gates::is_dangling(name);
    (names && content_words(reason).len() >= REASON_WORDS_MIN).then(|| (name.trim(), reason.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declined_point_has_a_name_and_a_reason() {
        assert!(is_heading("Intentionally deferred"));
        assert!(is_heading("Declined (with reasons):"));
        assert!(!is_heading("Deferred"));
        assert!(!is_heading("The importer rejected every row that was not changed since Monday"));
        assert_eq!(
            point_with_reason("Retry helper (nit) — only two callers, and both differ"),
            Some(("Retry helper (nit)", "only two callers, and both differ"))
        );
        assert_eq!(point_with_reason("Retry helper — later"), None);
        assert_eq!(point_with_reason("Everything else in the module"), None);
    }
}
