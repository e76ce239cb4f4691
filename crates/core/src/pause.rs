//! Pausing capture: while the pause file exists and has not expired, nothing is recorded.
//!
//! Invariant: an unreadable file counts as a pause without end, because a user who asked not to be
//! recorded must not be recorded after a file got damaged. So `touch paused` pauses too.

use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::clock::Millis;

/// The content of the pause file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapturePause {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Millis>,
    /// `None`: until the user resumes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Millis>,
}

/// The active pause, if there is one. Without a file this costs one failed `open`.
pub fn active_pause(path: &Path, now: Millis) -> Option<CapturePause> {
    let pause = match crate::paths::read_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Err(_) => CapturePause::default(),
        Ok(text) => serde_json::from_slice(&text).unwrap_or_default(),
    };
    let over = pause.until.is_some_and(|until| until <= now);
    (!over).then_some(pause)
}

/// Starts a pause, or changes the active one.
pub fn begin(path: &Path, pause: CapturePause) -> std::io::Result<()> {
    let text = format!("{}\n", serde_json::to_string(&pause)?);
    crate::paths::replace_file(path, text.as_bytes())
}

/// Ends the pause. True if there was a file.
pub fn end(path: &Path) -> std::io::Result<bool> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
#[path = "pause_tests.rs"]
mod tests;
