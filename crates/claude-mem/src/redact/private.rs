//! Takes out what the user marked as private, and what memory or the client wrote itself.
//!
//! Invariant: of a private block nothing is left, not its tags, not its text. An opening tag
//! without its closing tag hides everything to the end, because the other reading would keep
//! what someone wanted hidden. Context blocks are no secret (they are left out so that memory
//! does not feed on itself), so an unclosed one loses its tag alone.

use std::borrow::Cow;

use super::tag::{self, Name, Tag};

/// Taking a block out can join two halves of a tag. Nobody does that by accident this often.
const ROUNDS_MAX: usize = 8;

/// A text without its private parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stripped<'a> {
    pub text: Cow<'a, str>,
    /// Something private was taken out.
    pub private: bool,
    /// The last private block was not closed: what follows the text is private too.
    pub open: bool,
}

impl Stripped<'_> {
    /// There was something private, and nothing else that says anything: a full stop or a space
    /// of no width beside it is no reason to keep what it leads to.
    pub fn is_fully_private(&self) -> bool {
        self.private && !self.text.contains(char::is_alphanumeric)
    }
}

/// Removes private blocks, memory's own context and the client's reminders.
pub fn strip(text: &str) -> Stripped<'_> {
    let mut stripped = Stripped {
        text: Cow::Borrowed(text),
        private: false,
        open: false,
    };
    for _ in 0..ROUNDS_MAX {
        let Some(pass) = strip_once(&stripped.text) else {
            return stripped;
        };
        stripped = Stripped {
            text: Cow::Owned(pass.text),
            private: stripped.private | pass.private,
            open: stripped.open | pass.open,
        };
    }
    Stripped {
        text: Cow::Borrowed(""),
        private: true,
        open: true,
    }
}

/// What one pass leaves.
struct Pass {
    text: String,
    private: bool,
    open: bool,
}

/// One pass. `None`: there is nothing to remove.
fn strip_once(text: &str) -> Option<Pass> {
    let mut tags: Vec<Tag> = tag::all(text).collect();
    let last_closer = tags
        .iter()
        .rfind(|tag| tag.closing && tag.name == Name::Private);
    let closed_until = last_closer.map_or(0, |tag| tag.start);
    tags.retain(|tag| !tag.maybe_type || tag.start < closed_until);
    if tags.is_empty() {
        return None;
    }
    let closers = closers(&tags);
    let mut out = String::with_capacity(text.len());
    let (mut private, mut open) = (false, false);
    let mut kept_from = 0;
    // Where the text began that a private block, opened inside a context block, may yet claim.
    let mut claimed_from = None;
    let mut i = 0;
    while let Some(tag) = tags.get(i) {
        out.push_str(&text[kept_from..tag.start]);
        let closer = closers[i];
        kept_from = match (tag.name, tag.closing) {
            (Name::Private, false) => {
                private = true;
                open = closer.is_none();
                closer.map_or(text.len(), |c| tags[c].end)
            }
            (Name::Private, true) => {
                if let Some(start) = claimed_from.take() {
                    out.truncate(start);
                    private = true;
                }
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
    Some(Pass {
        text: out,
        private,
        open,
    })
}

/// For each opening tag the index of the tag that closes it; nested blocks of one name pair up
/// from the inside.
fn closers(tags: &[Tag]) -> Vec<Option<usize>> {
    let mut closers = vec![None; tags.len()];
    let mut open: [Vec<usize>; Name::COUNT] = Default::default();
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

/// Whether `block` (tags from index `first` up to `end`) opens something private that is closed
/// only behind it. A mere mention of the tag inside a reminder is not closed at all.
fn leaves_private_open(block: &[Tag], first: usize, closers: &[Option<usize>], end: usize) -> bool {
    block.iter().enumerate().any(|(offset, tag)| {
        tag.name == Name::Private
            && !tag.closing
            && closers[first + offset].is_some_and(|c| c > end)
    })
}
