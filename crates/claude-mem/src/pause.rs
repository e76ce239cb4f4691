//! The pause: a file in the data directory while whose time has not run out nothing is kept.
//!
//! In: the file's path and the time. Out: whether hooks must look away.
//!
//! Invariant: what cannot be read counts as a pause without an end. Someone who asked not to be
//! recorded is not recorded because a file got damaged, and `touch paused` is a pause too.

use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::clock::Millis;

/// What the file says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Millis>,
    /// `None`: until someone resumes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Millis>,
}

/// The pause that holds now, if one does. Without a file this costs one failed `open`.
pub fn in_force(path: &Path, now: Millis) -> Option<Pause> {
    let pause = match crate::paths::read_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Err(_) => Pause::default(),
        Ok(text) => serde_json::from_slice(&text).unwrap_or_default(),
    };
    let over = pause.until.is_some_and(|until| until <= now);
    (!over).then_some(pause)
}

/// Begins a pause, or changes the one that holds.
pub fn begin(path: &Path, pause: Pause) -> std::io::Result<()> {
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
