//! Reads the fields of one item of an answer.
//!
//! Invariant: a field ends where it is closed, where its item ends, or where the next field opens,
//! in that order; a field cut off by the end of the answer is dropped.

use super::scanner::{AnswerTag, TagMark, TagToken};
use super::{prompt, text};
use claude_mem_core::limits::{FACT_CHARS_MAX, FIELD_CHARS_MAX, LIST_ENTRIES_MAX, TITLE_CHARS_MAX};
use claude_mem_core::memory::{ObservationText, ObservationType, SummaryText};

/// An observation in the model's words, unchecked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerObservation {
    pub text: ObservationText,
    /// Titles of earlier observations that are merged into this one.
    pub replaces: Vec<String>,
}

/// One `<observation>` or `<summary>` with its tokens.
pub(super) struct AnswerItem<'a> {
    source: &'a str,
    tokens: &'a [TagToken],
    /// Index of its opening tag.
    start: usize,
    /// Index of the first token after it.
    pub(super) end: usize,
    /// Byte offset where its text ends.
    text_end: usize,
    /// False if the answer ended inside the item.
    pub(super) closed: bool,
}

impl<'a> AnswerItem<'a> {
    /// The item whose opening tag is token `start`.
    pub(super) fn starting_at(source: &'a str, tokens: &'a [TagToken], start: usize) -> Self {
        if let TagMark::Open { empty: true, .. } = tokens[start].mark {
            let text_end = tokens[start].at.end;
            return Self { source, tokens, start, end: start + 1, text_end, closed: true };
        }
        let tag = tokens[start].tag;
        // An item ends where it is closed, or where the next one opens. `<summary>` is also HTML,
        // so inside an observation it is text as long as the observation is closed after it.
        let ends = |token: &TagToken| match token.mark {
            TagMark::Close => token.tag == tag,
            TagMark::Open { .. } => {
                token.tag == AnswerTag::Observation || (tag == AnswerTag::Summary && token.tag == tag)
            }
        };
        let rest = &tokens[start + 1..];
        let mut end = rest.iter().position(ends).map_or(tokens.len(), |i| start + 1 + i);
        let mut closed = end < tokens.len();
        if !closed || tokens[end].is_opening() {
            let sibling = |token: &TagToken| token.is_opening() && token.tag.is_item();
            if let Some(at) = tokens[start + 1..end].iter().position(sibling) {
                end = start + 1 + at;
                closed = true;
            }
        }
        let text_end = tokens.get(end).map_or(source.len(), |token| token.at.start);
        Self { source, tokens, start, end, text_end, closed }
    }

    pub(super) fn tag(&self) -> AnswerTag {
        self.tokens[self.start].tag
    }

    /// Whether the item is closed and empty.
    pub(super) fn is_blank(&self) -> bool {
        let inside = &self.source[self.tokens[self.start].at.end..self.text_end];
        self.closed && inside.trim().is_empty() && self.attribute("title").is_empty()
    }

    /// The item as an observation in the model's words, its type unchecked. `None` if it has no usable content, or
    /// was cut off before its title and content were complete.
    pub(super) fn observation(&self) -> Option<AnswerObservation> {
        let (mut kind, mut replaces) = (self.attribute("type"), Vec::new());
        let mut read = ObservationText::new(ObservationType::named(""), self.attribute("title"));
        self.for_each_field(|tag, field| match tag {
            AnswerTag::Type => set_if_empty(&mut kind, field.line(64)),
            AnswerTag::Title => set_if_empty(&mut read.title, field.line(TITLE_CHARS_MAX)),
            AnswerTag::Subtitle => set_if_empty(&mut read.subtitle, field.line(TITLE_CHARS_MAX)),
            AnswerTag::Narrative => set_if_empty(&mut read.narrative, field.text(FIELD_CHARS_MAX)),
            AnswerTag::Facts | AnswerTag::Fact | AnswerTag::Entry => field.read_list(&mut read.facts, false),
            AnswerTag::Concepts | AnswerTag::Concept => field.read_list(&mut read.concepts, true),
            AnswerTag::FilesRead | AnswerTag::File => field.read_list(&mut read.files_read, true),
            AnswerTag::FilesModified => field.read_list(&mut read.files_modified, true),
            AnswerTag::Replaces => field.read_list(&mut replaces, false),
            _ => {}
        });
        read.kind = ObservationType::named(kind);
        let says = !read.narrative.is_empty() || !read.facts.is_empty();
        if !self.closed && (read.title.is_empty() || !says) {
            return None;
        }
        if read.title.is_empty() {
            let texts = [&read.subtitle, &read.narrative];
            let from = texts.into_iter().chain(read.facts.first()).find(|text| !text.is_empty())?;
            read.title =
                text::truncate_chars(claude_mem_core::first_sentence(from).to_owned(), TITLE_CHARS_MAX);
        }
        Some(AnswerObservation { text: read, replaces })
    }

    /// The item as a summary. `None` without content, or if it was cut off before its request.
    pub(super) fn summary(&self) -> Option<SummaryText> {
        let mut read = SummaryText::default();
        self.for_each_field(|tag, field| match tag {
            AnswerTag::Request => set_if_empty(&mut read.request, field.text(FIELD_CHARS_MAX)),
            AnswerTag::Investigated => set_if_empty(&mut read.investigated, field.text(FIELD_CHARS_MAX)),
            AnswerTag::Learned => set_if_empty(&mut read.learned, field.text(FIELD_CHARS_MAX)),
            AnswerTag::Completed => set_if_empty(&mut read.completed, field.text(FIELD_CHARS_MAX)),
            AnswerTag::NextSteps => set_if_empty(&mut read.next_steps, field.text(FIELD_CHARS_MAX)),
            AnswerTag::Notes => set_if_empty(&mut read.notes, field.text(FIELD_CHARS_MAX)),
            AnswerTag::FilesRead => field.read_list(&mut read.files_read, true),
            AnswerTag::FilesModified => field.read_list(&mut read.files_edited, true),
            _ => {}
        });
        let telling = [&read.completed, &read.learned, &read.investigated, &read.next_steps];
        let says = telling.iter().any(|text| !text.is_empty());
        (says && (self.closed || !read.request.is_empty())).then_some(read)
    }

    /// The value of an attribute of the opening tag, or an empty string.
    fn attribute(&self, name: &str) -> String {
        let TagMark::Open { attributes, .. } = &self.tokens[self.start].mark else {
            return String::new();
        };
        let raw = &self.source[attributes.clone()];
        let value = raw.match_indices(name).find_map(|(at, _)| {
            let starts = raw[..at].ends_with(|c: char| c.is_ascii_whitespace());
            let rest = raw[at + name.len()..].trim_start().strip_prefix('=')?.trim_start();
            let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            let value = rest[1..].split(quote).next()?;
            starts.then_some(value)
        });
        text::truncate_chars(drop_placeholder(text::clean_line(value.unwrap_or_default())), TITLE_CHARS_MAX)
    }

    /// Calls `each` for every direct field of the item.
    fn for_each_field(&self, mut each: impl FnMut(AnswerTag, ItemField<'_>)) {
        let mut at = self.start + 1;
        while at < self.end {
            let token = &self.tokens[at];
            let TagMark::Open { empty: false, close, .. } = token.mark else {
                at += 1;
                continue;
            };
            let (last, whole) = self.field_end(at, close);
            let text_end = self.tokens.get(last).map_or(self.source.len(), |t| t.at.start);
            let text_end = text_end.min(self.text_end);
            // A field cut off by the end of the answer would store half a sentence.
            if whole || self.closed || last < self.end {
                let tokens = &self.tokens[at + 1..last.max(at + 1)];
                each(token.tag, ItemField { source: self.source, tokens, text: token.at.end..text_end });
            }
            at = last.max(at + 1);
        }
    }

    /// The token at which a field ends, and whether it closes the field. An unclosed field ends where
    /// the next one opens.
    fn field_end(&self, at: usize, close: Option<usize>) -> (usize, bool) {
        if let Some(close) = close.filter(|close| *close < self.end) {
            return (close, true);
        }
        let list = self.tokens[at].tag.is_list();
        let ends = |token: &TagToken| token.is_opening() && !(list && token.tag.is_entry());
        let next = self.tokens[at + 1..self.end].iter().position(ends);
        (next.map_or(self.end, |i| at + 1 + i), false)
    }
}

/// The text of one field and the tags inside it.
struct ItemField<'a> {
    source: &'a str,
    tokens: &'a [TagToken],
    text: std::ops::Range<usize>,
}

impl ItemField<'_> {
    fn line(&self, chars_max: usize) -> String {
        text::truncate_chars(drop_placeholder(text::clean_line(&self.source[self.text.clone()])), chars_max)
    }

    fn text(&self, chars_max: usize) -> String {
        text::truncate_chars(drop_placeholder(text::clean_text(&self.source[self.text.clone()])), chars_max)
    }

    /// Reads list entries from their tags; without tags, one per line. Lists of names may also be
    /// separated by commas.
    fn read_list(&self, into: &mut Vec<String>, names: bool) {
        let mut entry = |raw: &str| {
            let entry = text::truncate_chars(drop_placeholder(text::clean_line(raw)), FACT_CHARS_MAX);
            if !entry.is_empty() && into.len() < LIST_ENTRIES_MAX && !into.contains(&entry) {
                into.push(entry);
            }
        };
        let mut entries = self.tokens.iter().filter(|token| token.tag.is_entry()).peekable();
        if entries.peek().is_some() {
            while let Some(token) = entries.next() {
                let end = entries.peek().map_or(self.text.end, |next| next.at.start);
                if token.is_opening() {
                    entry(&self.source[token.at.end..end]);
                }
            }
            return;
        }
        let raw = &self.source[self.text.clone()];
        for line in raw.lines() {
            let line = line.trim().trim_start_matches(['-', '*', '•']);
            if names {
                line.split(',').for_each(&mut entry);
            } else {
                entry(line);
            }
        }
    }
}

fn set_if_empty(slot: &mut String, value: String) {
    if slot.is_empty() {
        *slot = value;
    }
}

/// Empties a placeholder: a dash, `N/A`, three dots, or a copied hint of our prompt.
fn drop_placeholder(text: String) -> String {
    let word = text.trim_matches(|c: char| !c.is_alphanumeric()).to_ascii_lowercase();
    match word.as_str() {
        "" | "n/a" | "na" | "none" | "null" | "nothing" | "unknown" | "untitled" | "tbd" => String::new(),
        _ if prompt::FIELD_HINTS.iter().any(|(_, hint)| text == *hint) => String::new(),
        _ => text,
    }
}
