//! Warnings of the hook path, one log line each. Payload contents are never logged.

use claude_mem_core::clock::Micros;
use claude_mem_core::log::{LogAuthor, LogLevel, LogRetention, LogWriter};
use claude_mem_core::paths::DataDir;

/// Appends a warning to today's hook log. A failure to log is ignored.
pub fn log_warning(dir: &DataDir, at: Micros, text: &str) {
    let log = LogWriter::new(dir.logs(), LogAuthor::Hook, LogRetention::default());
    log.line(at.millis(), LogLevel::Warn, "hook", &[("said", &text)]);
}
