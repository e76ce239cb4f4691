//! Scans a model's answer for the requested tags.
//!
//! A model's "XML" is not XML: `&` and `<` are unescaped, tags stay open, prose and code fences
//! surround it. So only the tags of the contract are tokens; everything else is text.
//!
//! Invariant: one pass, linear time and no recursion, for any text.

use std::ops::Range;

/// Maximum bytes between the name of a tag and its closing bracket.
const ANSWER_ATTRIBUTES_BYTES_MAX: usize = 1 << 10;

/// Maximum nesting levels of the tags in an answer. A well-formed one needs three.
pub(crate) const ANSWER_DEPTH_MAX: usize = 8;

/// The tags of the answer contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerTag {
    Observation,
    Summary,
    /// The model found nothing worth keeping.
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
    /// An entry of any list.
    Entry,
    Request,
    Investigated,
    Learned,
    Completed,
    NextSteps,
    Notes,
    /// Titles of earlier observations that are merged into this one.
    Replaces,
}

const TAGS: usize = AnswerTag::Replaces as usize + 1;

impl AnswerTag {
    /// Also accepts upper case, dashes and the synonyms that models use.
    fn from_name(name: &str) -> Option<Self> {
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
            "replaces" => Self::Replaces,
            _ => return None,
        })
    }

    pub(super) const fn is_item(self) -> bool {
        matches!(self, Self::Observation | Self::Summary)
    }

    pub(super) const fn is_list(self) -> bool {
        matches!(self, Self::Facts | Self::Concepts | Self::FilesRead | Self::FilesModified)
    }

    pub(super) const fn is_entry(self) -> bool {
        matches!(self, Self::Fact | Self::Concept | Self::File | Self::Entry)
    }
}

/// Whether a tag opens or closes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagMark {
    Open {
        attributes: Range<usize>,
        /// `<tag/>`
        empty: bool,
        /// Index of the next token that closes a tag of this name.
        close: Option<usize>,
    },
    Close,
}

/// One tag and its byte range in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagToken {
    pub tag: AnswerTag,
    pub mark: TagMark,
    pub at: Range<usize>,
}

impl TagToken {
    pub(super) const fn is_opening(&self) -> bool {
        matches!(self.mark, TagMark::Open { .. })
    }
}

/// All tags of a text, in order.
pub fn scan_tags(text: &str) -> Vec<TagToken> {
    let mut tokens = Vec::new();
    let mut sections = LiteralSections::default();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'<', &text.as_bytes()[at..]) {
        let start = at + found;
        if let Some(end) = sections.section_end(text, start) {
            at = end;
        } else if let Some(token) = tag_at(text, start) {
            at = token.at.end;
            tokens.push(token);
        } else {
            at = start + 1;
        }
    }
    link_closing_tags(&mut tokens);
    tokens
}

/// Skips CDATA sections and comments, whose content is plain text. An unclosed one is not a section;
/// it is remembered, so that many unclosed ones do not each scan to the end.
#[derive(Default)]
struct LiteralSections {
    unclosed: [bool; 2],
}

impl LiteralSections {
    const KINDS: [(&str, &str); 2] = [("<![CDATA[", "]]>"), ("<!--", "-->")];

    fn section_end(&mut self, text: &str, start: usize) -> Option<usize> {
        let rest = &text.as_bytes()[start..];
        let kind = Self::KINDS.iter().position(|(open, _)| rest.starts_with(open.as_bytes()))?;
        if self.unclosed[kind] {
            return None;
        }
        let (_, close) = Self::KINDS[kind];
        let end = memchr::memmem::find(rest, close.as_bytes());
        self.unclosed[kind] = end.is_none();
        end.map(|end| start + end + close.len())
    }
}

/// The tag that starts at this `<`, if it belongs to the contract.
fn tag_at(text: &str, start: usize) -> Option<TagToken> {
    let closing = text.as_bytes().get(start + 1) == Some(&b'/');
    let from = start + 1 + usize::from(closing);
    let rest = text.as_bytes().get(from..)?;
    let name_len =
        rest.iter().take(24).position(|b| !(b.is_ascii_alphabetic() || matches!(b, b'_' | b'-')))?;
    let tag = AnswerTag::from_name(text.get(from..from + name_len)?)?;
    let attributes = from + name_len;
    let end = attributes + end_of_tag(&rest[name_len..])?;
    if closing {
        let blank = text[attributes..end - 1].bytes().all(|b| b.is_ascii_whitespace());
        return blank.then_some(TagToken { tag, mark: TagMark::Close, at: start..end });
    }
    let empty = text[attributes..end - 1].ends_with('/');
    let mark = TagMark::Open { attributes: attributes..end - 1, empty, close: None };
    Some(TagToken { tag, mark, at: start..end })
}

/// The index after the `>` that ends a tag. A quoted `>` does not end it; a `<` means it is no tag.
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

/// Links every opening tag to the next closing tag of its name.
fn link_closing_tags(tokens: &mut [TagToken]) {
    let mut next = [None; TAGS];
    for i in (0..tokens.len()).rev() {
        let token = &mut tokens[i];
        match &mut token.mark {
            TagMark::Close => next[token.tag as usize] = Some(i),
            TagMark::Open { close, .. } => *close = next[token.tag as usize],
        }
    }
}

/// Whether tags nest deeper than `ANSWER_DEPTH_MAX`. A tag that was left open is closed implicitly by
/// a tag that cannot be inside it, so that careless answers do not count as deep.
pub fn is_too_deep(tokens: &[TagToken]) -> bool {
    let mut open: Vec<AnswerTag> = Vec::new();
    for token in tokens {
        match token.mark {
            TagMark::Close => {
                if let Some(at) = open.iter().rposition(|tag| *tag == token.tag) {
                    open.truncate(at);
                }
            }
            TagMark::Open { empty: true, .. } => {}
            TagMark::Open { .. } => {
                if token.tag.is_item() {
                    open.clear();
                } else if open.last().is_some_and(|tag| !tag.is_item() && !tag.is_list()) {
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
