//! Removes what the user marked as private, memory's own context, and the client's reminders.
//!
//! Invariant: nothing of a private block remains, neither tags nor text. An opening tag without a
//! closing tag hides everything to the end, and a closing tag without an opening one everything from
//! the start: part of a file or of a conversation was cut off. The alternative would store what the
//! user wanted hidden. Context blocks are not secret (they are removed so that memory does not feed on
//! itself), so an unclosed one loses only its tag.

use std::borrow::Cow;

use super::tag::{self, BlockTag, TagName};

/// Maximum passes: removing a block can join two halves of a tag. More than this is no accident.
const ROUNDS_MAX: usize = 8;

/// A text without its private blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrippedText<'a> {
    pub text: Cow<'a, str>,
    /// Whether a private block was removed.
    pub private: bool,
    /// The last private block was not closed, so the text that follows is private, too.
    pub open: bool,
}

impl StrippedText<'_> {
    /// Whether only private content was there. Leftover punctuation or zero-width characters do not
    /// count.
    pub fn is_fully_private(&self) -> bool {
        self.private && !self.text.contains(char::is_alphanumeric)
    }
}

/// Removes private blocks, memory's own context and the client's reminders.
pub fn strip(text: &str) -> StrippedText<'_> {
    let mut stripped = StrippedText { text: Cow::Borrowed(text), private: false, open: false };
    for _ in 0..ROUNDS_MAX {
        let Some(pass) = strip_once(&stripped.text) else {
            return stripped;
        };
        stripped = StrippedText {
            text: Cow::Owned(pass.text),
            private: stripped.private | pass.private,
            open: stripped.open | pass.open,
        };
    }
    StrippedText { text: Cow::Borrowed(""), private: true, open: true }
}

/// The result of one pass.
struct StripPass {
    text: String,
    private: bool,
    open: bool,
}

/// Runs one pass; `None` if there is nothing to remove.
fn strip_once(text: &str) -> Option<StripPass> {
    let mut tags: Vec<BlockTag> = tag::find_tags(text).collect();
    let last_closer = tags.iter().rfind(|tag| tag.closing && tag.name == TagName::Private);
    let closed_until = last_closer.map_or(0, |tag| tag.start);
    tags.retain(|tag| !tag.maybe_type || tag.start < closed_until);
    if tags.is_empty() {
        return None;
    }
    let closers = closers(&tags);
    let mut out = String::with_capacity(text.len());
    let (mut private, mut open) = (false, false);
    let mut kept_from = 0;
    // Start in `out` of text that a private block opened inside a context block may still claim.
    let mut claimed_from = None;
    let mut i = 0;
    while let Some(tag) = tags.get(i) {
        out.push_str(&text[kept_from..tag.start]);
        let closer = closers[i];
        kept_from = match (tag.name, tag.closing) {
            (TagName::Private, false) => {
                private = true;
                open = closer.is_none();
                closer.map_or(text.len(), |c| tags[c].end)
            }
            (TagName::Private, true) => {
                // An orphan: its block began before this text, or inside a context block.
                out.truncate(claimed_from.take().unwrap_or(0));
                private = true;
                tag.end
            }
            (_, false) => match closer {
                Some(c) => {
                    if leaves_private_open(&tags[i..c], i, &closers, c) {
                        claimed_from = claimed_from.or(Some(out.len()));
                    }
                    tags[c].end
                }
                None => tag.end,
            },
            (_, true) => tag.end,
        };
        i += 1;
        while tags.get(i).is_some_and(|tag| tag.start < kept_from) {
            i += 1;
        }
    }
    out.push_str(&text[kept_from..]);
    Some(StripPass { text: out, private, open })
}

/// For each opening tag, the index of its closing tag; nested blocks of one name pair up from the
/// inside.
fn closers(tags: &[BlockTag]) -> Vec<Option<usize>> {
    let mut closers = vec![None; tags.len()];
    let mut open: [Vec<usize>; TagName::COUNT] = Default::default();
    for (i, tag) in tags.iter().enumerate() {
        let open = &mut open[tag.name as usize];
        if !tag.closing {
            open.push(i);
        } else if let Some(opener) = open.pop() {
            closers[opener] = Some(i);
        }
    }
    closers
}

/// Whether `block` (tags from index `first` to `end`) opens a private block that closes only after
/// it. A mere mention of the tag in a reminder is never closed.
fn leaves_private_open(block: &[BlockTag], first: usize, closers: &[Option<usize>], end: usize) -> bool {
    block.iter().enumerate().any(|(offset, tag)| {
        tag.name == TagName::Private && !tag.closing && closers[first + offset].is_some_and(|c| c > end)
    })
}
