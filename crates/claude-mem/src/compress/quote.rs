//! Recorded text as data: it cannot end the place it stands in, nor pass for an answer.

use super::elide;

/// Tags that mean something in a message or in an answer to it.
const OURS: &[&str] = &[
    "episode",
    "so_far",
    "asked",
    "step",
    "out",
    "compacted",
    "said",
    "observation",
    "summary",
    "skip",
    "think",
];

/// Takes the meaning from our own tags in a text; every other character stays, since the text is
/// mostly source.
pub(super) fn data(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let name = from[1..].trim_start_matches(['/', ' ']);
        let ours = |tag: &&&str| {
            let starts = name
                .get(..tag.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(tag));
            let goes_on = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            starts && !name[tag.len()..].starts_with(goes_on)
        };
        out.push_str(if OURS.iter().any(|tag| ours(&tag)) {
            "&lt;"
        } else {
            "<"
        });
        rest = &from[1..];
    }
    out.push_str(rest);
    out
}

/// A short value between quotes: names of projects, branches, tools.
pub(super) fn attribute(value: &str) -> String {
    let plain = |c: &char| !c.is_control() && !matches!(c, '"' | '<' | '>' | '&');
    let value: String = value.trim().chars().filter(plain).take(100).collect();
    elide::head(&value, 100).to_owned()
}

#[cfg(test)]
#[path = "quote_tests.rs"]
mod tests;
