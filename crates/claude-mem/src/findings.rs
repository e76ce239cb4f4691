//! What needs the person, each with the command that helps: found and worded in one place, for
//! `status`, the dashboard and the first lines of a session.

use std::os::unix::fs::PermissionsExt as _;

use serde::Serialize;

use crate::clock::{self, Millis};
use crate::config::{Loaded, Provider, Settings};
use crate::install::client::wants_other_hooks;
use crate::install::receipt::Receipt;
use crate::install::version::Version;
use crate::paths::DataDir;
use crate::serve::pidfile::WorkerFile;
use crate::serve::recover::{NEWS_SECONDS, NOTICE, Recovered};
use crate::store::{Reads, StoreError};

/// Events in the spool that are nothing to speak of: a migration or a backup holds the database.
const SPOOLED_USUAL_MAX: u64 = 100;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub what: String,
    pub fix: String,
}

impl Finding {
    fn new(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            fix: fix.into(),
        }
    }

    /// As one line, for a place where nothing else says who speaks.
    pub fn line(&self) -> String {
        format!("claude-mem: {} ({})", self.what, self.fix)
    }
}

/// What the first lines of a session say, in the order of its weight; empty on a good day.
pub fn at_start(
    reads: &Reads<'_>,
    dir: &DataDir,
    settings: &Settings,
    now: Millis,
    client: Option<Version>,
) -> Result<Vec<String>, StoreError> {
    let mut found = of_memory(reads, settings, now)?;
    found.extend(of_worker_version(dir));
    found.extend(of_client_version(dir, client));
    Ok(found.iter().map(Finding::line).collect())
}

/// What the store itself tells, in the order of its weight; empty on a good day.
pub fn of_memory(
    reads: &Reads<'_>,
    settings: &Settings,
    now: Millis,
) -> Result<Vec<Finding>, StoreError> {
    let mut found = Vec::new();
    found.extend(recovered(reads, now)?);
    found.extend(dead_events(reads)?);
    found.extend(budget(reads, settings, now)?);
    Ok(found)
}

/// What happened to the store, for as long as it is news.
fn recovered(reads: &Reads<'_>, now: Millis) -> Result<Option<Finding>, StoreError> {
    let noted = reads.meta(NOTICE)?;
    let happened = noted.and_then(|text| serde_json::from_str::<Recovered>(&text).ok());
    let news = happened.filter(|happened| now <= happened.at.plus_seconds(NEWS_SECONDS));
    Ok(news.map(|happened| {
        let what = match happened.backup_from {
            Some(from) => format!(
                "the database was damaged; a backup of {} took its place",
                clock::local_day(from)
            ),
            None => {
                "the database was damaged and there was no backup: memory began anew".to_owned()
            }
        };
        let kept = happened.damaged.display();
        let what = format!("{what} (the damaged one is kept: {kept})");
        Finding::new(what, "claude-mem doctor")
    }))
}

fn dead_events(reads: &Reads<'_>) -> Result<Option<Finding>, StoreError> {
    let dead = reads.queue_counts()?.dead;
    Ok((dead > 0).then(|| {
        Finding::new(
            format!("{} could not be worked on", events(dead)),
            "claude-mem queue list --state dead",
        )
    }))
}

fn budget(
    reads: &Reads<'_>,
    settings: &Settings,
    now: Millis,
) -> Result<Option<Finding>, StoreError> {
    // `auto` may have chosen a model; whether it did is told by what was spent.
    if settings.provider == Provider::Local {
        return Ok(None);
    }
    let spent = reads.spend_on(&clock::local_day(now))?.tokens;
    let all = settings.budget_tokens_per_day;
    Ok((spent > 0 && spent >= all).then(|| {
        Finding::new(
            format!(
                "today's {all} tokens are used; memories are made without a model until tomorrow"
            ),
            "claude-mem config set budget_tokens_per_day allows more",
        )
    }))
}

pub fn of_directory(data: &DataDir, loaded: &Loaded) -> Vec<Finding> {
    let mut found = Vec::new();
    let root = data.root();
    if let Ok(meta) = std::fs::metadata(root) {
        let mode = meta.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            found.push(Finding::new(
                format!("{} can be read by others (mode {mode:o})", root.display()),
                format!("chmod 700 {}", root.display()),
            ));
        }
    }
    if loaded.file_unreadable {
        found.push(Finding::new(
            "settings.json cannot be read, so none of its settings hold",
            format!("mend {}", data.settings().display()),
        ));
    }
    found
}

/// Why the store could not be asked.
pub fn of_store(error: &StoreError, data: &DataDir) -> Finding {
    let database = data.db();
    let fix = match error {
        StoreError::Busy => "another process is writing; try again".to_owned(),
        StoreError::Damaged => "claude-mem restore; events that come in wait meanwhile".to_owned(),
        StoreError::DiskFull => "make room on the disk; what hooks cannot keep is filled in from the client's transcripts".to_owned(),
        StoreError::Foreign => {
            "claude-mem install --adopt, or set CLAUDE_MEM_DATA_DIR to another directory".to_owned()
        }
        StoreError::Newer { .. } => "update claude-mem".to_owned(),
        _ => format!("look at {}", database.display()),
    };
    Finding::new(error.to_string(), fix)
}

pub fn of_worker(trouble: &str) -> Finding {
    Finding::new(format!("the worker: {trouble}"), "claude-mem worker logs")
}

pub fn of_spool(spooled: u64) -> Option<Finding> {
    (spooled > SPOOLED_USUAL_MAX).then(|| {
        Finding::new(
            format!("{} wait outside the database", events(spooled)),
            "claude-mem install",
        )
    })
}

/// Events that no version so far could read.
pub fn of_set_aside(files: u64) -> Option<Finding> {
    (files > 0).then(|| {
        let what = format!("{} could not be read, set aside", events(files));
        Finding::new(what, "claude-mem doctor")
    })
}

/// A worker that was started before the last update.
pub fn of_worker_version(dir: &DataDir) -> Option<Finding> {
    let ours = env!("CARGO_PKG_VERSION");
    // One that cannot be read is none that runs.
    let worker = WorkerFile::read(&dir.worker_pid()).ok().flatten()?;
    (worker.version != ours && worker.is_alive()).then(|| {
        let what = format!(
            "the worker is version {}, its hooks are {ours}",
            worker.version
        );
        Finding::new(what, "claude-mem worker restart")
    })
}

/// A client that was updated since hooks were written for it, and now knows others.
pub fn of_client_version(dir: &DataDir, now: Option<Version>) -> Option<Finding> {
    let now = now?;
    let written = Receipt::read(&dir.installed()).client?;
    wants_other_hooks(Some(now), Version::find(&written)).then(|| {
        let what = format!("the hooks were written for Claude Code {written}, this is {now}");
        Finding::new(what, "claude-mem repair")
    })
}

fn events(count: u64) -> String {
    match count {
        1 => "1 event".to_owned(),
        _ => format!("{count} events"),
    }
}
