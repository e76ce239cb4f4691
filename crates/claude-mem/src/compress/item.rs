//! One item of an answer: its fields, as far as they can be told apart.
//!
//! Invariant: a field ends where it is closed, where its item ends, or where the next field opens,
//! in that order; what the end of the answer cut off is left out.

use super::answer::{Observation, Summary};
use super::scanner::{Mark, Tag, Token};
use super::{prompt, text};
use crate::limits::{FACT_CHARS_MAX, FIELD_CHARS_MAX, LIST_ENTRIES_MAX, TITLE_CHARS_MAX};

/// One `<observation>` or `<summary>` with its tokens.
pub(super) struct Item<'a> {
    source: &'a str,
    tokens: &'a [Token],
    /// Its opening tag.
    start: usize,
    /// The first token that is no longer part of it.
    pub(super) end: usize,
    /// Where its text ends.
    text_end: usize,
    /// False when the answer ended before the item did.
    pub(super) closed: bool,
}

impl<'a> Item<'a> {
    pub(super) fn at(source: &'a str, tokens: &'a [Token], start: usize) -> Self {
        if let Mark::Open { empty: true, .. } = tokens[start].mark {
            let text_end = tokens[start].at.end;
            return Self {
                source,
                tokens,
                start,
                end: start + 1,
                text_end,
                closed: true,
            };
        }
        let tag = tokens[start].tag;
        // An item ends where it is closed, or where the next one opens. `<summary>` is also HTML,
        // so inside an observation it is text as long as the observation is closed after it.
        let ends = |token: &Token| match token.mark {
            Mark::Close => token.tag == tag,
            Mark::Open { .. } => {
                token.tag == Tag::Observation || (tag == Tag::Summary && token.tag == tag)
            }
        };
        let rest = &tokens[start + 1..];
        let mut end = rest
            .iter()
            .position(ends)
            .map_or(tokens.len(), |i| start + 1 + i);
        let mut closed = end < tokens.len();
        if !closed || tokens[end].opens() {
            let sibling = |token: &Token| token.opens() && token.tag.is_item();
            if let Some(at) = tokens[start + 1..end].iter().position(sibling) {
                end = start + 1 + at;
                closed = true;
            }
        }
        let text_end = tokens.get(end).map_or(source.len(), |token| token.at.start);
        Self {
            source,
            tokens,
            start,
            end,
            text_end,
            closed,
        }
    }

    pub(super) fn tag(&self) -> Tag {
        self.tokens[self.start].tag
    }

    pub(super) fn is_blank(&self) -> bool {
        let inside = &self.source[self.tokens[self.start].at.end..self.text_end];
        self.closed && inside.trim().is_empty() && self.attribute("title").is_empty()
    }

    pub(super) fn observation(&self) -> Option<Observation> {
        let mut read = Observation {
            kind: self.attribute("type"),
            title: self.attribute("title"),
            ..Observation::default()
        };
        self.fields(|tag, field| match tag {
            Tag::Type => first(&mut read.kind, field.line(64)),
            Tag::Title => first(&mut read.title, field.line(TITLE_CHARS_MAX)),
            Tag::Subtitle => first(&mut read.subtitle, field.line(TITLE_CHARS_MAX)),
            Tag::Narrative => first(&mut read.narrative, field.text(FIELD_CHARS_MAX)),
            Tag::Facts | Tag::Fact | Tag::Entry => field.list(&mut read.facts, false),
            Tag::Concepts | Tag::Concept => field.list(&mut read.concepts, true),
            Tag::FilesRead | Tag::File => field.list(&mut read.files_read, true),
            Tag::FilesModified => field.list(&mut read.files_modified, true),
            _ => {}
        });
        let says = !read.narrative.is_empty() || !read.facts.is_empty();
        if !self.closed && (read.title.is_empty() || !says) {
            return None;
        }
        if read.title.is_empty() {
            let from = [&read.subtitle, &read.narrative];
            let from = from
                .into_iter()
                .chain(read.facts.first())
                .find(|text| !text.is_empty())?;
            read.title = text::cut(text::first_sentence(from).to_owned(), TITLE_CHARS_MAX);
        }
        Some(read)
    }

    pub(super) fn summary(&self) -> Option<Summary> {
        let mut read = Summary::default();
        self.fields(|tag, field| match tag {
            Tag::Request => first(&mut read.request, field.text(FIELD_CHARS_MAX)),
            Tag::Investigated => first(&mut read.investigated, field.text(FIELD_CHARS_MAX)),
            Tag::Learned => first(&mut read.learned, field.text(FIELD_CHARS_MAX)),
            Tag::Completed => first(&mut read.completed, field.text(FIELD_CHARS_MAX)),
            Tag::NextSteps => first(&mut read.next_steps, field.text(FIELD_CHARS_MAX)),
            Tag::Notes => first(&mut read.notes, field.text(FIELD_CHARS_MAX)),
            Tag::FilesRead => field.list(&mut read.files_read, true),
            Tag::FilesModified => field.list(&mut read.files_edited, true),
            _ => {}
        });
        let telling = [
            &read.completed,
            &read.learned,
            &read.investigated,
            &read.next_steps,
        ];
        let says = telling.iter().any(|text| !text.is_empty());
        (says && (self.closed || !read.request.is_empty())).then_some(read)
    }

    fn attribute(&self, name: &str) -> String {
        let Mark::Open { attributes, .. } = &self.tokens[self.start].mark else {
            return String::new();
        };
        let raw = &self.source[attributes.clone()];
        let value = raw.match_indices(name).find_map(|(at, _)| {
            let starts = raw[..at].ends_with(|c: char| c.is_ascii_whitespace());
            let rest = raw[at + name.len()..]
                .trim_start()
                .strip_prefix('=')?
                .trim_start();
            let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            let value = rest[1..].split(quote).next()?;
            starts.then_some(value)
        });
        text::cut(said(text::line(value.unwrap_or_default())), TITLE_CHARS_MAX)
    }

    /// Calls back with each field that stands directly in the item.
    fn fields(&self, mut each: impl FnMut(Tag, Field<'_>)) {
        let mut at = self.start + 1;
        while at < self.end {
            let token = &self.tokens[at];
            let Mark::Open {
                empty: false,
                close,
                ..
            } = token.mark
            else {
                at += 1;
                continue;
            };
            let (last, whole) = self.field_end(at, close);
            let text_end = self
                .tokens
                .get(last)
                .map_or(self.source.len(), |t| t.at.start);
            let text_end = text_end.min(self.text_end);
            // What the end of the answer cut off is not half a sentence to be remembered.
            if whole || self.closed || last < self.end {
                let tokens = &self.tokens[at + 1..last.max(at + 1)];
                each(
                    token.tag,
                    Field {
                        source: self.source,
                        tokens,
                        text: token.at.end..text_end,
                    },
                );
            }
            at = last.max(at + 1);
        }
    }

    /// The token at which a field ends, and whether that closes it. One that nobody closes ends
    /// where the next field opens.
    fn field_end(&self, at: usize, close: Option<usize>) -> (usize, bool) {
        if let Some(close) = close.filter(|close| *close < self.end) {
            return (close, true);
        }
        let list = self.tokens[at].tag.is_list();
        let ends = |token: &Token| token.opens() && !(list && token.tag.is_entry());
        let next = self.tokens[at + 1..self.end].iter().position(ends);
        (next.map_or(self.end, |i| at + 1 + i), false)
    }
}

/// The text of one field and the tags in it.
struct Field<'a> {
    source: &'a str,
    tokens: &'a [Token],
    text: std::ops::Range<usize>,
}

impl Field<'_> {
    fn line(&self, chars_max: usize) -> String {
        text::cut(said(text::line(&self.source[self.text.clone()])), chars_max)
    }

    fn text(&self, chars_max: usize) -> String {
        text::cut(
            said(text::plain(&self.source[self.text.clone()])),
            chars_max,
        )
    }

    /// Entries in their own tags, or, where there are none, one a line; names also by commas.
    fn list(&self, into: &mut Vec<String>, names: bool) {
        let mut entry = |raw: &str| {
            let entry = text::cut(said(text::line(raw)), FACT_CHARS_MAX);
            if !entry.is_empty() && into.len() < LIST_ENTRIES_MAX && !into.contains(&entry) {
                into.push(entry);
            }
        };
        let mut entries = self
            .tokens
            .iter()
            .filter(|token| token.tag.is_entry())
            .peekable();
        if entries.peek().is_some() {
            while let Some(token) = entries.next() {
                let end = entries.peek().map_or(self.text.end, |next| next.at.start);
                if token.opens() {
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

fn first(slot: &mut String, value: String) {
    if slot.is_empty() {
        *slot = value;
    }
}

/// What stands for nothing is nothing: a dash, `N/A`, three dots, our own explanation.
fn said(text: String) -> String {
    let word = text
        .trim_matches(|c: char| !c.is_alphanumeric())
        .to_ascii_lowercase();
    match word.as_str() {
        "" | "n/a" | "na" | "none" | "null" | "nothing" | "unknown" | "untitled" | "tbd" => {
            String::new()
        }
        _ if prompt::HINTS.iter().any(|(_, hint)| text == *hint) => String::new(),
        _ => text,
    }
}
