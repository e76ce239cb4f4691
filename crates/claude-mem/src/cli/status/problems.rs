//! What needs the user, each with the command that mends it.

use std::os::unix::fs::PermissionsExt as _;

use serde::Serialize;

use super::words;
use crate::clock::Millis;
use crate::config::Loaded;
use crate::paths::DataDir;
use crate::serve::recover::{NEWS_SECONDS, Recovered};
use crate::store::{QueueCounts, StoreError};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Problem {
    pub(super) what: String,
    pub(super) fix: String,
}

impl Problem {
    fn new(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            fix: fix.into(),
        }
    }
}

pub(super) fn of_directory(data: &DataDir, loaded: &Loaded) -> Vec<Problem> {
    let mut found = Vec::new();
    let root = data.root();
    if let Ok(meta) = std::fs::metadata(root) {
        let mode = meta.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            found.push(Problem::new(
                format!("{} can be read by others (mode {mode:o})", root.display()),
                format!("chmod 700 {}", root.display()),
            ));
        }
    }
    if loaded.file_unreadable {
        found.push(Problem::new(
            "settings.json cannot be read, so none of its settings hold",
            format!("mend {}", data.settings().display()),
        ));
    }
    found
}

pub(super) fn of_store(error: &StoreError, data: &DataDir) -> Problem {
    let database = data.db();
    let fix = match error {
        StoreError::Busy => "another process is writing; try again".to_owned(),
        StoreError::Damaged => {
            format!("move {} away; events that come in are spooled meanwhile", database.display())
        }
        StoreError::DiskFull => "make room on the disk; nothing is lost meanwhile".to_owned(),
        StoreError::Foreign => "claude-mem install --adopt, or set CLAUDE_MEM_DATA_DIR to another directory".to_owned(),
        StoreError::Newer { .. } => "update claude-mem".to_owned(),
        _ => format!("look at {}", database.display()),
    };
    Problem::new(error.to_string(), fix)
}

pub(super) fn of_worker(trouble: &str) -> Problem {
    Problem::new(format!("the worker: {trouble}"), "claude-mem worker logs")
}

/// What happened to the store, for as long as it is news.
pub(super) fn of_notice(text: &str, now: Millis) -> Option<Problem> {
    let recovered: Recovered = serde_json::from_str(text).ok()?;
    if now > recovered.at.plus_seconds(NEWS_SECONDS) {
        return None;
    }
    let what = match recovered.backup_from {
        Some(from) => format!(
            "the database was damaged; a backup of {} took its place",
            words::local(from)
        ),
        None => "the database was damaged and there was no backup: memory began anew".to_owned(),
    };
    let kept = recovered.damaged.display();
    Some(Problem::new(what, format!("the damaged one is kept: {kept}")))
}

pub(super) fn of_queue(queue: &QueueCounts, spooled: u64) -> Vec<Problem> {
    let mut found = Vec::new();
    if queue.dead > 0 {
        found.push(Problem::new(
            format!("{} could not be worked on", words::count(queue.dead, "event")),
            "claude-mem queue list --state dead",
        ));
    }
    // A few are normal while a migration or a backup holds the database.
    if spooled > SPOOLED_USUAL_MAX {
        found.push(Problem::new(
            format!("{} wait outside the database", words::count(spooled, "event")),
            "claude-mem install",
        ));
    }
    found
}

const SPOOLED_USUAL_MAX: u64 = 100;
