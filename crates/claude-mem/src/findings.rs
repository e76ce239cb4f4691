//! What needs the person, each with the command that helps: found and worded in one place, for
//! `status`, the dashboard and the first lines of a session.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;

use serde::Serialize;

use crate::clock::{self, Millis};
use crate::config::{Loaded, Provider, Settings};
use crate::doctor;
use crate::install::change::Places;
use crate::install::client::wants_other_hooks;
use crate::install::receipt::Receipt;
use crate::install::version::Version;
use crate::paths::DataDir;
use crate::serve::pidfile::WorkerFile;
use crate::serve::recover::{NEWS_SECONDS, NOTICE, Recovered};
use crate::store::{Reads, StoreError};

/// Events in the spool that are nothing to speak of: a migration or a backup holds the database.
const SPOOLED_USUAL_MAX: u64 = 100;

/// What to do about a disk that fails without saying that it is full.
pub const LOOK_AT_DISK: &str = "look at `df` and at the system's log: the disk failed";

/// What to do about a file that the system does not let us open.
pub const OPEN_IT: &str = "look whose the files of the data directory are, whether its disk is read-only, and at `ulimit -n`";

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
    let Some(noted) = noted else { return Ok(None) };
    let Ok(happened) = serde_json::from_str::<Recovered>(&noted) else {
        let what = "the database was damaged and was replaced; another version noted how";
        return Ok(Some(Finding::new(what, "claude-mem worker logs")));
    };
    let news = Some(happened).filter(|happened| now <= happened.at.plus_seconds(NEWS_SECONDS));
    Ok(news.map(|happened| {
        let what = match happened.backup_from {
            Some(from) => format!(
                "the database was damaged; a backup of {} took its place",
                clock::local_day(from)
            ),
            None if happened.passed_over.is_empty() => {
                "the database was damaged and there was no backup: memory began anew".to_owned()
            }
            None => {
                "the database was damaged and no backup could be used: memory began anew".to_owned()
            }
        };
        let passed = match happened.passed_over.len() {
            0 => String::new(),
            1 => format!("; this backup was passed over: {}", happened.passed_over[0]),
            n => format!(
                "; {n} backups were passed over, as {}",
                happened.passed_over[0]
            ),
        };
        let lost = match happened.incomplete.join(", ") {
            lost if lost.is_empty() => lost,
            lost => format!("; not all could be saved of: {lost}"),
        };
        let kept = happened.damaged.display();
        let what = format!("{what}{passed}{lost} (the damaged one is kept: {kept})");
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

/// Without hooks nothing is ever remembered, however well the rest works.
pub fn of_hooks(data: &DataDir, env: &dyn Fn(&str) -> Option<OsString>) -> Option<Finding> {
    // A receipt that cannot be read is told by `install` and `doctor`; the usual place counts.
    let receipt = Receipt::read(&data.installed()).unwrap_or_default();
    let of_user = Places::find(env, None)?;
    let missing = doctor::without_hooks(&receipt, &of_user, env)?;
    let what = format!(
        "no hooks in {}, so nothing new is remembered",
        missing.display()
    );
    Some(Finding::new(what, "claude-mem install"))
}

/// Why the store could not be asked.
pub fn of_store(error: &StoreError, data: &DataDir) -> Finding {
    let database = data.db();
    let fix = match error {
        StoreError::Busy => "another process is writing; try again".to_owned(),
        StoreError::Damaged => "claude-mem restore; events that come in wait meanwhile".to_owned(),
        StoreError::DiskFull => "make room on the disk; what hooks cannot keep is filled in from the client's transcripts".to_owned(),
        StoreError::Disk(_) => LOOK_AT_DISK.to_owned(),
        StoreError::CannotOpen(_) => OPEN_IT.to_owned(),
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

/// Events that lie there go nowhere.
pub fn of_unread_spool(error: &StoreError) -> Finding {
    Finding::new(
        format!("events cannot be taken in: {error}"),
        "look whose the directory and its files are; `claude-mem doctor`",
    )
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
    let written = match Receipt::read(&dir.installed()) {
        Ok(receipt) => receipt.client?,
        Err(error) => return Some(Finding::new(error.to_string(), "claude-mem doctor")),
    };
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
