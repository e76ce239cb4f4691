//! `logs/worker-2026-01-31.log` and `logs/hook-2026-01-31.log`: one line per thing that happened.
//!
//! In: a fixed text and named values. Out: a line that is appended in one write, so that lines of
//! many hooks never mix.
//!
//! Invariant: the text of a line is part of the program and its values are ids, counts, names of
//! states and errors; nothing remembered is ever passed here. The directory stays below a size
//! and an age. Logging cannot fail: a log that cannot be written is not worth an agent's time.

use std::fmt::{Display, Write as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::clock::Millis;
use crate::config::Settings;
use crate::limits::{LOG_BYTES_MAX, LOG_DAYS_MAX, LOG_VALUE_BYTES_MAX};
use crate::paths::{append_file, create_dir};

/// How much a line matters to someone who looks for trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Info,
    Warn,
    Error,
}

impl Level {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// Who writes: each has files of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    Hook,
    Worker,
}

impl Author {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Hook => "hook",
            Self::Worker => "worker",
        }
    }
}

/// How much of all logs is kept.
#[derive(Clone, Copy, Debug)]
pub struct Keep {
    pub days: u32,
    pub bytes_max: u64,
}

/// For a hook, which reads no setting that it does not need. The worker sweeps by the real ones.
impl Default for Keep {
    fn default() -> Self {
        Self {
            days: LOG_DAYS_MAX,
            bytes_max: LOG_BYTES_MAX,
        }
    }
}

impl From<&Settings> for Keep {
    fn from(settings: &Settings) -> Self {
        Self {
            days: settings.log_days,
            bytes_max: settings.log_bytes_max,
        }
    }
}

/// One author's log in one directory.
#[derive(Clone, Debug)]
pub struct Log {
    dir: PathBuf,
    author: Author,
    keep: Keep,
}

impl Log {
    pub fn new(dir: impl Into<PathBuf>, author: Author, keep: Keep) -> Self {
        Self {
            dir: dir.into(),
            author,
            keep,
        }
    }

    /// The worker's, for whoever does its work and knows no settings, and so takes nothing away.
    pub fn of_worker(dir: &crate::paths::DataDir) -> Self {
        let all = Keep {
            days: 36_500,
            bytes_max: u64::MAX,
        };
        Self::new(dir.logs(), Author::Worker, all)
    }

    /// Appends one line: `2026-01-31T10:00:00.123Z warn event spooled session=… reason=busy`.
    pub fn line(
        &self,
        now: Millis,
        level: Level,
        what: &'static str,
        values: &[(&'static str, &dyn Display)],
    ) {
        // There is nobody to tell: the log is where failures are told.
        let _ = self.append(now, &rendered(now, level, what, values));
    }

    fn append(&self, now: Millis, line: &str) -> std::io::Result<()> {
        let path = self.dir.join(self.name(now, 0));
        let size = if let Ok(meta) = std::fs::metadata(&path) {
            meta.len()
        } else {
            // The first line of a day pays for tidying up.
            create_dir(&self.dir)?;
            sweep(&self.dir, now, self.keep)?;
            0
        };
        if size > 0 && size + line.len() as u64 > self.file_bytes_max() {
            self.set_aside(&path, now)?;
            sweep(&self.dir, now, self.keep)?;
        }
        append_file(&path)?.write_all(line.as_bytes())
    }

    /// A quarter of the whole, so that the oldest that goes is never all there is.
    const fn file_bytes_max(&self) -> u64 {
        self.keep.bytes_max / 4
    }

    fn name(&self, now: Millis, part: u32) -> String {
        let (author, day) = (self.author.as_str(), day(now));
        match part {
            0 => format!("{author}-{day}.log"),
            part => format!("{author}-{day}.{part:03}.log"),
        }
    }

    /// Gives a full file the next free number. Two processes may do so at once: neither replaces
    /// what the other set aside.
    fn set_aside(&self, path: &Path, now: Millis) -> std::io::Result<()> {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        for part in 1..1_000 {
            let aside = self.dir.join(self.name(now, part));
            match renameat_with(CWD, path, CWD, &aside, RenameFlags::NOREPLACE) {
                Err(rustix::io::Errno::EXIST) => {}
                // Another process was faster: there is room again.
                Err(rustix::io::Errno::NOENT) => return Ok(()),
                other => return Ok(other?),
            }
        }
        std::fs::remove_file(path)
    }
}

/// Removes what is too old, then the oldest until the rest is small enough. Only names that `Log`
/// makes are touched.
pub fn sweep(dir: &Path, now: Millis, keep: Keep) -> std::io::Result<()> {
    let oldest_kept = day(now.plus_seconds(-i64::from(keep.days) * 86_400));
    let mut files: Vec<(Age, PathBuf, u64)> = std::fs::read_dir(dir)?
        .flatten()
        .filter_map(|entry| {
            let age = Age::of(entry.file_name().to_str()?)?;
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

/// What files are ordered by. The one that is being written has no number, and is the newest of
/// its day.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Age {
    day: String,
    part: u32,
}

impl Age {
    /// Reads `worker-2026-01-31.002.log`; any other name is none of ours.
    fn of(name: &str) -> Option<Self> {
        let stem = name
            .strip_prefix("hook-")
            .or_else(|| name.strip_prefix("worker-"))?
            .strip_suffix(".log")?;
        let (day, part) = stem.split_at_checked(10)?;
        day.parse::<jiff::civil::Date>().ok()?;
        let part = match part.strip_prefix('.') {
            Some(number) => number.parse().ok()?,
            None if part.is_empty() => u32::MAX,
            None => return None,
        };
        Some(Self {
            day: day.to_owned(),
            part,
        })
    }
}

fn rendered(
    now: Millis,
    level: Level,
    what: &str,
    values: &[(&'static str, &dyn Display)],
) -> String {
    let mut line = format!("{} {:5} {what}", stamp(now), level.as_str());
    for (name, value) in values {
        let _ = write!(line, " {name}=");
        push_value(&mut line, &value.to_string());
    }
    line.push('\n');
    line
}

/// One line stays one line: control characters are escaped, and a value that is not a single
/// word is quoted. Long values are cut, whatever they are.
fn push_value(line: &mut String, value: &str) {
    let end = value.floor_char_boundary(LOG_VALUE_BYTES_MAX);
    let kept = &value[..end];
    let plain = !kept.is_empty()
        && kept
            .chars()
            .all(|c| !c.is_whitespace() && !c.is_control() && c != '"');
    if plain {
        line.push_str(kept);
    } else {
        let _ = write!(line, "{kept:?}");
    }
    if end < value.len() {
        line.push('…');
    }
}

fn stamp(now: Millis) -> String {
    utc(now, "%Y-%m-%dT%H:%M:%S%.3fZ")
}

/// UTC, so that a file's name does not depend on where a laptop is.
fn day(now: Millis) -> String {
    utc(now, "%Y-%m-%d")
}

fn utc(now: Millis, format: &str) -> String {
    jiff::Timestamp::from_millisecond(now.0)
        .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
        .strftime(format)
        .to_string()
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
