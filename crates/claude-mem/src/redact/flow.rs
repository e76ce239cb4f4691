//! What one text of a document leaves open for the texts behind it.
//!
//! In: the texts of one JSON value, in the order in which they stand there. Out: what of each may
//! be looked at further. A private block or a private key may begin in one field and end in
//! another: rows of a file, hunks of a patch, parts of a message.
//!
//! Invariant: what was opened and not closed hides everything to the end. Where nothing is open,
//! the usual case, a text costs one look and no memory.

use std::borrow::Cow;

use super::tag::{self, Name, Tag};
use super::{pem, private};

/// A marker without a key behind it is a mention, unless a key follows within so many texts.
const TEXTS_TO_KEY_MAX: u8 = 8;
const KEY_MASK: &str = "[redacted:private-key]";

/// The state between two texts.
#[derive(Debug, Default)]
pub struct Flow {
    open: Open,
}

#[derive(Clone, Copy, Debug, Default)]
enum Open {
    #[default]
    Nothing,
    /// So many private blocks are open.
    Private(usize),
    /// A key's first marker stood there, and maybe some of the key.
    Key { seen: bool, texts_left: u8 },
}

/// What is left of a text.
#[derive(Debug, PartialEq, Eq)]
pub enum Passed<'t> {
    Whole,
    Part(Cow<'t, str>),
    Hidden,
}

impl Flow {
    /// True if whatever comes next is private.
    pub const fn is_private(&self) -> bool {
        matches!(self.open, Open::Private(_))
    }

    /// The next text.
    pub fn text<'t>(&mut self, text: &'t str) -> Passed<'t> {
        match self.open {
            Open::Nothing => self.outside(text),
            Open::Private(depth) => self.inside_private(text, depth),
            Open::Key { seen, texts_left } => self.inside_key(text, seen, texts_left),
        }
    }

    /// The next field's name: no key is written in names.
    pub fn name<'t>(&mut self, name: &'t str) -> Passed<'t> {
        match self.open {
            Open::Key { .. } => Passed::Whole,
            Open::Nothing | Open::Private(_) => self.text(name),
        }
    }

    fn outside<'t>(&mut self, text: &'t str) -> Passed<'t> {
        if tag::all(text).any(|tag| opens(&tag)) {
            let stripped = private(text);
            if stripped.open {
                self.open = Open::Private(depth_after(text, 0).max(1));
                return part(Cow::Owned(stripped.text.into_owned()));
            }
        }
        let Some(left_open) = pem::left_open(text) else {
            return Passed::Whole;
        };
        self.open = Open::Key {
            seen: left_open.holds_a_key,
            texts_left: TEXTS_TO_KEY_MAX,
        };
        Passed::Part(Cow::Owned([&text[..left_open.start], KEY_MASK].concat()))
    }

    fn inside_private<'t>(&mut self, text: &'t str, depth: usize) -> Passed<'t> {
        let mut depth = depth;
        for tag in tag::all(text).filter(|tag| tag.name == Name::Private) {
            depth = if tag.closing { depth - 1 } else { depth + 1 };
            if depth == 0 {
                return self.after(&text[tag.end..]);
            }
        }
        self.open = Open::Private(depth);
        Passed::Hidden
    }

    fn inside_key<'t>(&mut self, text: &'t str, seen: bool, texts_left: u8) -> Passed<'t> {
        if let Some(end) = pem::closed_at(text) {
            return self.after(&text[end..]);
        }
        if seen || pem::is_key_line(text) {
            self.open = Open::Key {
                seen: true,
                texts_left,
            };
            return Passed::Hidden;
        }
        self.open = Open::Nothing;
        let passed = self.outside(text);
        if matches!(self.open, Open::Nothing) && texts_left > 1 {
            self.open = Open::Key {
                seen,
                texts_left: texts_left - 1,
            };
        }
        passed
    }

    /// What was open is closed; `rest` stands behind it.
    fn after<'t>(&mut self, rest: &'t str) -> Passed<'t> {
        self.open = Open::Nothing;
        match self.outside(rest) {
            Passed::Whole => part(Cow::Borrowed(rest)),
            other => other,
        }
    }
}

fn opens(tag: &Tag) -> bool {
    tag.name == Name::Private && !tag.closing
}

/// How many private blocks are open behind `text`, of `before` before it.
fn depth_after(text: &str, before: usize) -> usize {
    let tags = tag::all(text).filter(|tag| tag.name == Name::Private);
    tags.fold(before, |depth, tag| {
        if tag.closing {
            depth.saturating_sub(1)
        } else {
            depth + 1
        }
    })
}

fn part(left: Cow<'_, str>) -> Passed<'_> {
    if left.trim().is_empty() {
        Passed::Hidden
    } else {
        Passed::Part(left)
    }
}
