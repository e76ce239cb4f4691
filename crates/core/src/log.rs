//! The log files `logs/worker-2026-01-31.log` and `logs/hook-2026-01-31.log`, one line per event.
//!
//! A [`LogWriter`] appends each line in one write, so that the lines of concurrent hooks never mix.
//!
//! Invariant: the message is a constant of the program and the values are ids, counts, states and
//! errors; remembered text is never logged. The directory stays below a size and an age. Logging
//! never fails: a log that cannot be written must not cost the agent time.

use std::fmt::{Display, Write as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::clock::Millis;
use crate::config::Settings;
use crate::paths::{append_file, create_dir};
use crate::platform;

/// Maximum days that log files are kept, unless the settings say otherwise.
const LOG_DAYS_MAX: u32 = 14;

/// Maximum bytes of all log files together, unless the settings say otherwise.
const LOG_BYTES_MAX: u64 = 32 << 20;

/// Maximum bytes of one value in a log line.
pub(crate) const LOG_VALUE_BYTES_MAX: usize = 300;

/// The severity of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    Info,
    Warn,
    Error,
}

impl LogLevel {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// The process kind that writes; each has its own files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogAuthor {
    Hook,
    Worker,
}

impl LogAuthor {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Hook => "hook",
            Self::Worker => "worker",
        }
    }
}

/// How long and how much is kept of all logs.
#[derive(Clone, Copy, Debug)]
pub struct LogRetention {
    pub days: u32,
    pub bytes_max: u64,
}

/// For hooks, which read no unnecessary settings. The worker sweeps with the configured values.
impl Default for LogRetention {
    fn default() -> Self {
        Self { days: LOG_DAYS_MAX, bytes_max: LOG_BYTES_MAX }
    }
}

impl From<&Settings> for LogRetention {
    fn from(settings: &Settings) -> Self {
        Self { days: settings.log_days, bytes_max: settings.log_bytes_max }
    }
}

/// Writes the log of one author in one directory.
#[derive(Clone, Debug)]
pub struct LogWriter {
    dir: PathBuf,
    author: LogAuthor,
    retention: LogRetention,
}

impl LogWriter {
    pub fn new(dir: impl Into<PathBuf>, author: LogAuthor, retention: LogRetention) -> Self {
        Self { dir: dir.into(), author, retention }
    }

    /// The worker's log, for processes that do its work without loading settings. It removes
    /// nothing.
    pub fn for_worker(dir: &crate::paths::DataDir) -> Self {
        let all = LogRetention { days: 36_500, bytes_max: u64::MAX };
        Self::new(dir.logs(), LogAuthor::Worker, all)
    }

    /// Appends one line: `2026-01-31T10:00:00.123Z warn event spooled session=… reason=busy`.
    pub fn line(
        &self,
        now: Millis,
        level: LogLevel,
        what: &'static str,
        values: &[(&'static str, &dyn Display)],
    ) {
        // There is no other place to report that the log cannot be written.
        let _ = self.append(now, &format_line(now, level, what, values));
    }

    fn append(&self, now: Millis, line: &str) -> std::io::Result<()> {
        let path = self.dir.join(self.name(now, 0));
        let size = if let Ok(meta) = std::fs::metadata(&path) {
            meta.len()
        } else {
            // The first line of a day pays for the sweep.
            create_dir(&self.dir)?;
            sweep(&self.dir, now, self.retention)?;
            0
        };
        if size > 0 && size + line.len() as u64 > self.file_bytes_max() {
            self.rotate(&path, now)?;
            sweep(&self.dir, now, self.retention)?;
        }
        append_file(&path)?.write_all(line.as_bytes())
    }

    /// A quarter of the total, so that removing the oldest file never removes everything.
    const fn file_bytes_max(&self) -> u64 {
        self.retention.bytes_max / 4
    }

    fn name(&self, now: Millis, part: u32) -> String {
        let (author, day) = (self.author.as_str(), utc_day(now));
        match part {
            0 => format!("{author}-{day}.log"),
            part => format!("{author}-{day}.{part:03}.log"),
        }
    }

    /// Renames a full file to the next free number. Safe if two processes do so at once.
    fn rotate(&self, path: &Path, now: Millis) -> std::io::Result<()> {
        for part in 1..1_000 {
            let aside = self.dir.join(self.name(now, part));
            match platform::rename_without_replacing(path, &aside) {
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                // Another process has rotated already.
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
                other => return other,
            }
        }
        std::fs::remove_file(path)
    }
}

/// Removes files that are too old, then the oldest until the total is small enough. Only files with
/// our names are removed.
pub fn sweep(dir: &Path, now: Millis, keep: LogRetention) -> std::io::Result<()> {
    let oldest_kept = utc_day(now.plus_seconds(-i64::from(keep.days) * 86_400));
    let mut files: Vec<(LogFileAge, PathBuf, u64)> = std::fs::read_dir(dir)?
        .flatten()
        .filter_map(|entry| {
            let age = LogFileAge::parse(entry.file_name().to_str()?)?;
            Some((age, entry.path(), entry.metadata().ok()?.len()))
        })
        .collect();
    files.sort();
    let mut total: u64 = files.iter().map(|(_, _, bytes)| bytes).sum();
    for (age, path, bytes) in files {
        if age.day >= oldest_kept && total <= keep.bytes_max {
            break;
        }
        // Another process may have removed it already.
        let _ = std::fs::remove_file(path);
        total -= bytes;
    }
    Ok(())
}

/// The sort order of log files. The current file has no number and is the newest of its day.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LogFileAge {
    day: String,
    part: u32,
}

impl LogFileAge {
    /// Parses `worker-2026-01-31.002.log`. `None`: not one of our files.
    fn parse(name: &str) -> Option<Self> {
        let stem =
            name.strip_prefix("hook-").or_else(|| name.strip_prefix("worker-"))?.strip_suffix(".log")?;
        let (day, part) = stem.split_at_checked(10)?;
        day.parse::<jiff::civil::Date>().ok()?;
        let part = match part.strip_prefix('.') {
            Some(number) => number.parse().ok()?,
            None if part.is_empty() => u32::MAX,
            None => return None,
        };
        Some(Self { day: day.to_owned(), part })
    }
}

fn format_line(now: Millis, level: LogLevel, what: &str, values: &[(&'static str, &dyn Display)]) -> String {
    let mut line = format!("{} {:5} {what}", timestamp(now), level.as_str());
    for (name, value) in values {
        let _ = write!(line, " {name}=");
        push_value(&mut line, &value.to_string());
    }
    line.push('\n');
    line
}

/// Appends a value. Control characters are escaped and values with spaces are quoted, so that a
/// line stays one line. Long values are cut.
fn push_value(line: &mut String, value: &str) {
    let end = value.floor_char_boundary(LOG_VALUE_BYTES_MAX);
    let kept = &value[..end];
    let plain = !kept.is_empty() && kept.chars().all(|c| !c.is_whitespace() && !c.is_control() && c != '"');
    if plain {
        line.push_str(kept);
    } else {
        let _ = write!(line, "{kept:?}");
    }
    if end < value.len() {
        line.push('…');
    }
}

fn timestamp(now: Millis) -> String {
    format_utc(now, "%Y-%m-%dT%H:%M:%S%.3fZ")
}

/// The day in UTC, so that file names do not depend on the time zone.
fn utc_day(now: Millis) -> String {
    format_utc(now, "%Y-%m-%d")
}

fn format_utc(now: Millis, format: &str) -> String {
    jiff::Timestamp::from_millisecond(now.0)
        .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
        .strftime(format)
        .to_string()
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
