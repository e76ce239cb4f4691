//! Text that a person or an agent saves explicitly: it may repeat a private part of a session.

use std::borrow::Cow;
use std::io;

use crate::privacy_marks::words_of_all_sessions;
use claude_mem_core::paths::DataDir;

/// Whether a text has a private block, which is not stored.
pub fn has_private_block(text: &str) -> bool {
    claude_mem_redact::private(text).private
}

/// Masks the words of private blocks in texts that are saved. Which session they come from is not known, so those of
/// all sessions that have marks count. An error means that there may be such words.
#[derive(Debug)]
pub struct SavedTextMask(Vec<crate::session_words::SessionWords>);

impl SavedTextMask {
    pub fn load(dir: &DataDir) -> io::Result<Self> {
        words_of_all_sessions(dir).map(Self)
    }

    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.0.iter().fold(Cow::Borrowed(text), |text, words| match words.mask(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(masked) => Cow::Owned(masked),
        })
    }
}
