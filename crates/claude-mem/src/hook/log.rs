//! One line per thing that went wrong in a hook, and nothing of what the hook was told.

use crate::clock::Micros;
use crate::log::{Author, Keep, Level, Log};
use crate::paths::DataDir;

/// Adds a line to today's log. A hook that cannot even log goes on all the same.
pub fn line(dir: &DataDir, at: Micros, text: &str) {
    let log = Log::new(dir.logs(), Author::Hook, Keep::default());
    log.line(at.millis(), Level::Warn, "hook", &[("said", &text)]);
}
