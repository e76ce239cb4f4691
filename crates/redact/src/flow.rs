//! Tracks private blocks and private keys that span several fields of one JSON value.
//!
//! [`OpenBlockTracker`] receives the texts in document order and returns what of each may be
//! processed further: a block may begin in one field and end in another, as in rows of a file,
//! hunks of a patch or parts of a message.
//!
//! Invariant: a block that is opened and never closed hides everything to the end. With nothing
//! open, the usual case, a text costs one scan and no allocation.

use std::borrow::Cow;

use super::tag::{self, BlockTag, TagName};
use super::{pem, private};

/// A key marker without a key is a mention, unless a key follows within this many texts.
const TEXTS_TO_KEY_MAX: u8 = 8;
const KEY_MASK: &str = "[redacted:private-key]";

/// The block that is open between two texts.
#[derive(Debug, Default)]
pub struct OpenBlockTracker {
    open: OpenBlock,
}

#[derive(Clone, Copy, Debug, Default)]
enum OpenBlock {
    #[default]
    Nothing,
    /// The nesting depth of open private blocks.
    Private(usize),
    /// A key's BEGIN marker was seen; `seen` means some of the key followed.
    Key { seen: bool, texts_left: u8 },
}

/// The visible part of a text.
#[derive(Debug, PartialEq, Eq)]
pub enum VisibleText<'t> {
    Whole,
    Part(Cow<'t, str>),
    Hidden,
}

impl OpenBlockTracker {
    /// Whether the next text starts inside a private block.
    pub const fn is_private(&self) -> bool {
        matches!(self.open, OpenBlock::Private(_))
    }

    /// Processes the next text.
    pub fn next_text<'t>(&mut self, text: &'t str) -> VisibleText<'t> {
        match self.open {
            OpenBlock::Nothing => self.outside(text),
            OpenBlock::Private(depth) => self.inside_private(text, depth),
            OpenBlock::Key { seen, texts_left } => self.inside_key(text, seen, texts_left),
        }
    }

    /// Processes the next field name. A private key never continues in names.
    pub fn next_name<'t>(&mut self, name: &'t str) -> VisibleText<'t> {
        match self.open {
            OpenBlock::Key { .. } => VisibleText::Whole,
            OpenBlock::Nothing | OpenBlock::Private(_) => self.next_text(name),
        }
    }

    /// Processes a text while no block is open.
    fn outside<'t>(&mut self, text: &'t str) -> VisibleText<'t> {
        if tag::find_tags(text).any(|tag| is_private_opener(&tag)) {
            let stripped = private(text);
            if stripped.open {
                self.open = OpenBlock::Private(depth_after(text, 0).max(1));
                return visible_part(Cow::Owned(stripped.text.into_owned()));
            }
        }
        let Some(left_open) = pem::open_block(text) else {
            return VisibleText::Whole;
        };
        self.open = OpenBlock::Key { seen: left_open.has_key_material, texts_left: TEXTS_TO_KEY_MAX };
        VisibleText::Part(Cow::Owned([&text[..left_open.start], KEY_MASK].concat()))
    }

    /// Processes a text inside a private block.
    fn inside_private<'t>(&mut self, text: &'t str, depth: usize) -> VisibleText<'t> {
        let mut depth = depth;
        for tag in tag::find_tags(text).filter(|tag| tag.name == TagName::Private) {
            depth = if tag.closing { depth - 1 } else { depth + 1 };
            if depth == 0 {
                return self.resume_after(&text[tag.end..]);
            }
        }
        self.open = OpenBlock::Private(depth);
        VisibleText::Hidden
    }

    /// Processes a text after a key's BEGIN marker.
    fn inside_key<'t>(&mut self, text: &'t str, seen: bool, texts_left: u8) -> VisibleText<'t> {
        if let Some(end) = pem::continued_block_end(text) {
            return self.resume_after(&text[end..]);
        }
        if seen || pem::has_key_line(text) {
            self.open = OpenBlock::Key { seen: true, texts_left };
            return VisibleText::Hidden;
        }
        self.open = OpenBlock::Nothing;
        let passed = self.outside(text);
        if matches!(self.open, OpenBlock::Nothing) && texts_left > 1 {
            self.open = OpenBlock::Key { seen, texts_left: texts_left - 1 };
        }
        passed
    }

    /// The open block ended; continues with the rest of the text.
    fn resume_after<'t>(&mut self, rest: &'t str) -> VisibleText<'t> {
        self.open = OpenBlock::Nothing;
        match self.outside(rest) {
            VisibleText::Whole => visible_part(Cow::Borrowed(rest)),
            other => other,
        }
    }
}

fn is_private_opener(tag: &BlockTag) -> bool {
    tag.name == TagName::Private && !tag.closing
}

/// The nesting depth of private blocks after `text`.
fn depth_after(text: &str, before: usize) -> usize {
    let tags = tag::find_tags(text).filter(|tag| tag.name == TagName::Private);
    tags.fold(before, |depth, tag| if tag.closing { depth.saturating_sub(1) } else { depth + 1 })
}

/// The remaining text, or hidden if it is blank.
fn visible_part(left: Cow<'_, str>) -> VisibleText<'_> {
    if left.trim().is_empty() { VisibleText::Hidden } else { VisibleText::Part(left) }
}
