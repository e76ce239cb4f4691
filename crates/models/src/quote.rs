//! Escapes recorded text for the prompt, so that it can neither close its enclosing tag nor pass for
//! an answer.

use std::fmt::Write as _;

use crate::truncate_middle;
use claude_mem_core::source::TextSource;

/// Tags with a meaning in a message or an answer.
const RESERVED_TAGS: &[&str] = &[
    "episode",
    "so_far",
    "asked",
    "step",
    "out",
    "compacted",
    "said",
    "words",
    "observation",
    "summary",
    "skip",
    "think",
];

/// Escapes our own tags in a text. Everything else is kept, since the text is mostly source code.
pub(super) fn escape_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let name = from[1..].trim_start_matches(['/', ' ']);
        let ours = |tag: &&&str| {
            let starts = name.get(..tag.len()).is_some_and(|head| head.eq_ignore_ascii_case(tag));
            let goes_on = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            starts && !name[tag.len()..].starts_with(goes_on)
        };
        out.push_str(if RESERVED_TAGS.iter().any(|tag| ours(&tag)) { "&lt;" } else { "<" });
        rest = &from[1..];
    }
    out.push_str(rest);
    out
}

/// Sanitises a short attribute value: the name of a project, branch or tool.
pub(super) fn sanitize_attribute(value: &str) -> String {
    let plain = |c: &char| !c.is_control() && !matches!(c, '"' | '<' | '>' | '&');
    let value: String = value.trim().chars().filter(plain).take(100).collect();
    truncate_middle::prefix(&value, 100).to_owned()
}

/// Writes an attribute, unless its value is empty.
pub(super) fn write_attribute(text: &mut String, name: &str, value: &str) {
    let value = sanitize_attribute(value);
    if !value.is_empty() {
        let _ = write!(text, " {name}=\"{value}\"");
    }
}

/// Writes whose words a text is, as attributes.
pub(super) fn write_source(text: &mut String, source: TextSource) {
    write_attribute(text, "source", source.traits().name);
    write_attribute(text, "voice", source.voice().name());
}

#[cfg(test)]
#[path = "quote_tests.rs"]
mod tests;
