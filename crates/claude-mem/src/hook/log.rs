//! One line per thing that went wrong in a hook, and nothing of what the hook was told.

use std::io::Write;
use std::path::Path;

use crate::clock::Micros;
use crate::limits::{LOG_DAYS_MAX, LOG_FILE_BYTES_MAX};
use crate::paths::{self, DataDir};

/// Adds a line to today's log. A hook that cannot even log goes on all the same.
pub fn line(dir: &DataDir, at: Micros, text: &str) {
    // Where would one report that the log cannot be written?
    let _ = try_line(dir, at, text);
}

fn try_line(dir: &DataDir, at: Micros, text: &str) -> std::io::Result<()> {
    let time = jiff::Timestamp::from_microsecond(at.0).map_err(std::io::Error::other)?;
    let logs = dir.logs();
    let today = format!("hook-{}.log", time.strftime("%Y-%m-%d"));
    let path = logs.join(&today);
    if !path.exists() {
        paths::create_dir(&logs)?;
        remove_old(&logs, at)?;
    }
    let mut file = paths::append_file(&path)?;
    if file.metadata()?.len() > LOG_FILE_BYTES_MAX {
        // Whatever fills a log this fast has been said in it already.
        return Ok(());
    }
    // One write: lines of hooks that run at once do not mix.
    let text = text.replace(char::is_control, " ");
    file.write_all(format!("{} {text}\n", time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ")).as_bytes())
}

fn remove_old(logs: &Path, at: Micros) -> std::io::Result<()> {
    let oldest = at.0 - LOG_DAYS_MAX * 86_400 * 1_000_000;
    let oldest = jiff::Timestamp::from_microsecond(oldest).map_err(std::io::Error::other)?;
    let oldest = format!("hook-{}.log", oldest.strftime("%Y-%m-%d"));
    for entry in std::fs::read_dir(logs)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let ours = name.starts_with("hook-") && name.ends_with(".log");
        if ours && *name < *oldest {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
