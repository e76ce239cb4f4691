//! Finds our tags in what a model wrote.
//!
//! A model's "XML" is not XML: `&` and `<` stand unescaped, tags stay open, prose and fences
//! surround it. So only the tags we asked for are tags; every other character is text.
//!
//! Invariant: one pass, time linear in the text, no recursion, whatever the text is.

use std::ops::Range;

use crate::limits::{ANSWER_ATTRIBUTES_BYTES_MAX, ANSWER_DEPTH_MAX};

/// The tags of the answer contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    Observation,
    Summary,
    /// "Nothing here is worth keeping."
    Skip,
    Type,
    Title,
    Subtitle,
    Narrative,
    Facts,
    Concepts,
    FilesRead,
    FilesModified,
    Fact,
    Concept,
    File,
    /// An entry of some list.
    Entry,
    Request,
    Investigated,
    Learned,
    Completed,
    NextSteps,
    Notes,
}

const TAGS: usize = Tag::Notes as usize + 1;

impl Tag {
    /// Upper case, dashes and the names that models use instead are understood.
    fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase().replace('-', "_");
        Some(match name.as_str() {
            "observation" => Self::Observation,
            "summary" | "session_summary" => Self::Summary,
            "skip" | "skip_summary" | "no_observation" | "no_observations" => Self::Skip,
            "type" | "kind" => Self::Type,
            "title" => Self::Title,
            "subtitle" => Self::Subtitle,
            "narrative" => Self::Narrative,
            "facts" => Self::Facts,
            "concepts" => Self::Concepts,
            "files_read" => Self::FilesRead,
            "files_modified" | "files_edited" | "files_changed" => Self::FilesModified,
            "fact" => Self::Fact,
            "concept" => Self::Concept,
            "file" | "path" => Self::File,
            "entry" | "item" => Self::Entry,
            "request" => Self::Request,
            "investigated" => Self::Investigated,
            "learned" => Self::Learned,
            "completed" => Self::Completed,
            "next_steps" => Self::NextSteps,
            "notes" => Self::Notes,
            _ => return None,
        })
    }

    pub(super) const fn is_item(self) -> bool {
        matches!(self, Self::Observation | Self::Summary)
    }

    pub(super) const fn is_list(self) -> bool {
        matches!(
            self,
            Self::Facts | Self::Concepts | Self::FilesRead | Self::FilesModified
        )
    }

    pub(super) const fn is_entry(self) -> bool {
        matches!(self, Self::Fact | Self::Concept | Self::File | Self::Entry)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    Open {
        attributes: Range<usize>,
        /// `<tag/>`
        empty: bool,
        /// The token that closes a tag of this name next, if any does.
        close: Option<usize>,
    },
    Close,
}

/// One tag, and where it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub tag: Tag,
    pub mark: Mark,
    pub at: Range<usize>,
}

impl Token {
    pub(super) const fn opens(&self) -> bool {
        matches!(self.mark, Mark::Open { .. })
    }
}

/// All tags of a text, in order.
pub fn scan(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut sections = Sections::default();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'<', &text.as_bytes()[at..]) {
        let start = at + found;
        if let Some(end) = sections.end(text, start) {
            at = end;
        } else if let Some(token) = tag_at(text, start) {
            at = token.at.end;
            tokens.push(token);
        } else {
            at = start + 1;
        }
    }
    link(&mut tokens);
    tokens
}

/// Sections whose content is text, whatever it looks like. An unclosed one is no section; that
/// is remembered, so that many unclosed ones do not each search to the end.
#[derive(Default)]
struct Sections {
    unclosed: [bool; 2],
}

impl Sections {
    const KINDS: [(&str, &str); 2] = [("<![CDATA[", "]]>"), ("<!--", "-->")];

    fn end(&mut self, text: &str, start: usize) -> Option<usize> {
        let rest = &text.as_bytes()[start..];
        let kind = Self::KINDS
            .iter()
            .position(|(open, _)| rest.starts_with(open.as_bytes()))?;
        if self.unclosed[kind] {
            return None;
        }
        let (_, close) = Self::KINDS[kind];
        let end = memchr::memmem::find(rest, close.as_bytes());
        self.unclosed[kind] = end.is_none();
        end.map(|end| start + end + close.len())
    }
}

/// The tag that starts at this `<`, if it is one of ours.
fn tag_at(text: &str, start: usize) -> Option<Token> {
    let closing = text.as_bytes().get(start + 1) == Some(&b'/');
    let from = start + 1 + usize::from(closing);
    let rest = text.as_bytes().get(from..)?;
    let name_len = rest
        .iter()
        .take(24)
        .position(|b| !(b.is_ascii_alphabetic() || matches!(b, b'_' | b'-')))?;
    let tag = Tag::named(text.get(from..from + name_len)?)?;
    let attributes = from + name_len;
    let end = attributes + end_of_tag(&rest[name_len..])?;
    if closing {
        let blank = text[attributes..end - 1]
            .bytes()
            .all(|b| b.is_ascii_whitespace());
        return blank.then_some(Token {
            tag,
            mark: Mark::Close,
            at: start..end,
        });
    }
    let empty = text[attributes..end - 1].ends_with('/');
    let mark = Mark::Open {
        attributes: attributes..end - 1,
        empty,
        close: None,
    };
    Some(Token {
        tag,
        mark,
        at: start..end,
    })
}

/// Just after the `>` that ends a tag. A quoted `>` does not, and a `<` says it never was a tag.
fn end_of_tag(rest: &[u8]) -> Option<usize> {
    if !matches!(rest.first()?, b'>' | b'/') && !rest[0].is_ascii_whitespace() {
        return None;
    }
    let mut quote = None;
    for (i, b) in rest.iter().take(ANSWER_ATTRIBUTES_BYTES_MAX).enumerate() {
        match (quote, b) {
            (None, b'>') => return Some(i + 1),
            (None, b'<') => return None,
            (None, b'"' | b'\'') => quote = Some(b),
            (Some(open), b) if open == b => quote = None,
            _ => {}
        }
    }
    None
}

/// Tells every opening tag where its name is closed next.
fn link(tokens: &mut [Token]) {
    let mut next = [None; TAGS];
    for i in (0..tokens.len()).rev() {
        let token = &mut tokens[i];
        match &mut token.mark {
            Mark::Close => next[token.tag as usize] = Some(i),
            Mark::Open { close, .. } => *close = next[token.tag as usize],
        }
    }
}

/// Whether tags nest deeper than any honest answer. A tag left open is closed by what cannot
/// stand inside it, so that carelessness does not count as depth.
pub fn too_deep(tokens: &[Token]) -> bool {
    let mut open: Vec<Tag> = Vec::new();
    for token in tokens {
        match token.mark {
            Mark::Close => {
                if let Some(at) = open.iter().rposition(|tag| *tag == token.tag) {
                    open.truncate(at);
                }
            }
            Mark::Open { empty: true, .. } => {}
            Mark::Open { .. } => {
                if token.tag.is_item() {
                    open.clear();
                } else if open
                    .last()
                    .is_some_and(|tag| !tag.is_item() && !tag.is_list())
                {
                    open.pop();
                }
                open.push(token.tag);
                if open.len() > ANSWER_DEPTH_MAX {
                    return true;
                }
            }
        }
    }
    false
}

#[cfg(test)]
#[path = "scanner_tests.rs"]
mod tests;
