//! Notices: conditions that need the user's attention, each with the command that helps.
//!
//! A [`UserNotice`] is detected and worded here once, for `claude-mem status`, the dashboard and
//! the first lines of a session.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::doctor::{manifest_paths, settings_without_hooks};
pub use crate::fixes::{CANNOT_OPEN_FIX, DISK_FAILED_FIX};
use crate::install::client::needs_new_hooks;
use crate::install::manifest::InstallManifest;
pub use crate::model_notice::model_notice;
pub use crate::team_notice::{shared_row_notices, team_notices};
pub use crate::user_notice::UserNotice;
use claude_mem_capture::ipc::pidfile::WorkerFile;
use claude_mem_capture::project_claim;
use claude_mem_core::client_version::ClientVersion;
use claude_mem_core::clock;
use claude_mem_core::clock::Millis;
use claude_mem_core::config::{LoadedSettings, Settings};
use claude_mem_core::paths::DataDir;
use claude_mem_core::pause;
use claude_mem_store::recovery::{RECOVERY_NOTICE_KEY, RECOVERY_NOTICE_SECONDS, RecoveryNotice};
use claude_mem_store::{StoreError, StoreReader};

/// Spooled events that are normal, as when a migration or a backup locks the database.
const SPOOLED_NORMAL_MAX: u64 = 100;

/// The notices at the start of a session, most important first.
pub fn session_start_notices(
    reads: &StoreReader<'_>,
    dir: &DataDir,
    settings: &Settings,
    now: Millis,
    client: Option<ClientVersion>,
) -> Result<Vec<String>, StoreError> {
    let mut found = store_notices(reads, settings, now)?;
    found.extend(pause_notice(dir, now));
    found.extend(worker_version_notice(dir));
    found.extend(client_version_notice(dir, client));
    Ok(found.iter().map(UserNotice::line).collect())
}

/// A directory that claims to be a known project, without evidence.
pub fn project_notice(reads: &StoreReader<'_>, keys: &[String]) -> Result<Option<UserNotice>, StoreError> {
    let claimed = reads.unconfirmed_project(keys)?;
    Ok(claimed
        .map(|claimed| UserNotice::new(project_claim::describe_claim(&claimed), project_claim::JOIN_COMMAND)))
}

/// Notices about the content of the store, most important first.
pub fn store_notices(
    reads: &StoreReader<'_>,
    settings: &Settings,
    now: Millis,
) -> Result<Vec<UserNotice>, StoreError> {
    let mut found = Vec::new();
    found.extend(recovery_notice(reads, now)?);
    found.extend(backup_notice(reads)?);
    found.extend(dead_events_notice(reads)?);
    found.extend(model_notice(reads, settings, now)?);
    found.extend(team_notices(reads, now)?);
    Ok(found)
}

/// Reports a recent recovery of the database.
fn recovery_notice(reads: &StoreReader<'_>, now: Millis) -> Result<Option<UserNotice>, StoreError> {
    let noted = reads.meta(RECOVERY_NOTICE_KEY)?;
    let Some(noted) = noted else { return Ok(None) };
    let Ok(happened) = serde_json::from_str::<RecoveryNotice>(&noted) else {
        let what = "the database was damaged and replaced; another version recorded the details";
        return Ok(Some(UserNotice::new(what, "claude-mem worker logs")));
    };
    let news = Some(happened).filter(|happened| now <= happened.at.plus_seconds(RECOVERY_NOTICE_SECONDS));
    Ok(news.map(|happened| {
        let what = match happened.backup_from {
            Some(from) => {
                format!("the database was damaged and restored from a backup of {}", clock::local_day(from))
            }
            None if happened.rows > 0 => {
                let rows = happened.rows;
                format!(
                    "the database was damaged and no backup could be used; {rows} rows were recovered from it"
                )
            }
            None if happened.passed_over.is_empty() => {
                "the database was damaged and there was no backup: memory starts empty".to_owned()
            }
            None => "the database was damaged and no backup could be used: memory starts empty".to_owned(),
        };
        let passed = match happened.passed_over.len() {
            0 => String::new(),
            1 => format!("; this backup was skipped: {}", happened.passed_over[0]),
            n => format!("; {n} backups were skipped, such as {}", happened.passed_over[0]),
        };
        let lost = match happened.incomplete.join(", ") {
            lost if lost.is_empty() => lost,
            lost => format!("; not fully recovered: {lost}"),
        };
        let kept = happened.damaged.display();
        let what = format!("{what}{passed}{lost} (the damaged file is kept: {kept})");
        UserNotice::new(what, "claude-mem doctor")
    }))
}

/// Reports that the last backup could not be made.
fn backup_notice(reads: &StoreReader<'_>) -> Result<Option<UserNotice>, StoreError> {
    let failed = reads.failed_backup()?;
    Ok(failed.map(|failed| {
        let what = format!("the backup of {} failed: {}", clock::local_day(failed.at), failed.error);
        UserNotice::new(what, "claude-mem doctor")
    }))
}

fn dead_events_notice(reads: &StoreReader<'_>) -> Result<Option<UserNotice>, StoreError> {
    let dead = reads.queue_counts()?.dead;
    Ok((dead > 0).then(|| {
        UserNotice::new(
            format!("{} could not be processed", count_events(dead)),
            "claude-mem queue list --state dead",
        )
    }))
}

/// Notices about the permissions of the data directory and its settings file.
pub fn directory_notices(data: &DataDir, loaded: &LoadedSettings) -> Vec<UserNotice> {
    let mut found = Vec::new();
    let root = data.root();
    if let Ok(meta) = std::fs::metadata(root) {
        let mode = meta.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            found.push(UserNotice::new(
                format!("{} can be read by others (mode {mode:o})", root.display()),
                format!("chmod 700 {}", root.display()),
            ));
        }
    }
    if loaded.file_unreadable {
        found.push(UserNotice::new(
            "settings.json cannot be read, so its settings are ignored",
            format!("fix {}", data.settings().display()),
        ));
    }
    found
}

/// Reports missing hooks, without which nothing is captured.
pub fn missing_hooks_notice(data: &DataDir, env: &dyn Fn(&str) -> Option<OsString>) -> Option<UserNotice> {
    // `install` and `doctor` report an unreadable manifest; here the default location counts.
    let manifest = InstallManifest::read(&data.installed()).unwrap_or_default();
    let of_user = manifest_paths(&manifest, env)?;
    let missing = settings_without_hooks(&manifest, &of_user, env)?;
    let what = format!("no hooks in {}, so nothing new is remembered", missing.display());
    Some(UserNotice::new(what, "claude-mem install"))
}

/// Reports an error of the store.
pub fn store_error_notice(error: &StoreError, data: &DataDir) -> UserNotice {
    let database = data.db();
    let fix = match error {
        StoreError::Busy => "another process is writing; try again".to_owned(),
        StoreError::Corrupt => "claude-mem restore; new events wait meanwhile".to_owned(),
        StoreError::DiskFull => {
            "free some disk space; events that hooks cannot store are recovered from the client's transcripts"
                .to_owned()
        }
        StoreError::DiskIo(_) => DISK_FAILED_FIX.to_owned(),
        StoreError::CannotOpen(_) => CANNOT_OPEN_FIX.to_owned(),
        StoreError::Foreign => {
            "claude-mem install --adopt, or set CLAUDE_MEM_DATA_DIR to another directory".to_owned()
        }
        StoreError::Newer { .. } => "update claude-mem".to_owned(),
        _ => format!("check {}", database.display()),
    };
    UserNotice::new(error.to_string(), fix)
}

/// Reports a problem of the worker.
pub fn worker_notice(trouble: &str) -> UserNotice {
    UserNotice::new(format!("the worker: {trouble}"), "claude-mem worker logs")
}

/// Notices about the events in the spool.
pub fn spool_notices(dir: &DataDir) -> Vec<UserNotice> {
    match spool_counts(&dir.spool()) {
        Ok((waiting, set_aside)) => {
            spool_notice(waiting).into_iter().chain(set_aside_notice(set_aside)).collect()
        }
        Err(error) => vec![unread_spool_notice(&StoreError::io(dir.spool().display(), error))],
    }
}

/// Events that wait, and those that were set aside. Without the directory there are none.
fn spool_counts(spool: &Path) -> io::Result<(u64, u64)> {
    let entries = match std::fs::read_dir(spool) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((0, 0)),
        entries => entries?,
    };
    let (mut waiting, mut set_aside) = (0, 0);
    for entry in entries {
        let name = entry?.file_name();
        if !name.as_encoded_bytes().starts_with(b".") {
            waiting += u64::from(name.as_encoded_bytes().ends_with(b".json"));
            set_aside += u64::from(name.as_encoded_bytes().ends_with(b".bad"));
        }
    }
    Ok((waiting, set_aside))
}

/// Reports a spool that is not being drained.
pub fn spool_notice(spooled: u64) -> Option<UserNotice> {
    (spooled > SPOOLED_NORMAL_MAX).then(|| {
        UserNotice::new(format!("{} wait in the spool", count_events(spooled)), "claude-mem install")
    })
}

/// Reports a spool that cannot be read, so that its events are not processed.
pub fn unread_spool_notice(error: &StoreError) -> UserNotice {
    UserNotice::new(
        format!("the spool cannot be read: {error}"),
        "check who owns the directory and its files; `claude-mem doctor`",
    )
}

/// Reports events that no version could read so far.
pub fn set_aside_notice(files: u64) -> Option<UserNotice> {
    (files > 0).then(|| {
        let what = format!("{} could not be read (set aside)", count_events(files));
        UserNotice::new(what, "claude-mem doctor")
    })
}

/// Reports that capture is paused: what happens meanwhile is not remembered.
pub fn pause_notice(dir: &DataDir, now: Millis) -> Option<UserNotice> {
    let pause = pause::active_pause(&dir.paused(), now)?;
    let until = match pause.until {
        Some(until) => format!(" until {}", clock::local_time(until)),
        None => String::new(),
    };
    Some(UserNotice::new(
        format!("memory is paused{until}; this session is not recorded"),
        "claude-mem resume",
    ))
}

/// Reports a worker that was started before the last update.
pub fn worker_version_notice(dir: &DataDir) -> Option<UserNotice> {
    let ours = env!("CARGO_PKG_VERSION");
    // Without a readable pid file no worker is running.
    let worker = WorkerFile::read(&dir.worker_pid()).ok().flatten()?;
    (worker.version != ours && worker.is_alive()).then(|| {
        let what = format!("the worker runs version {}, the hooks are version {ours}", worker.version);
        UserNotice::new(what, "claude-mem worker restart")
    })
}

/// Reports a client that was updated and supports other hooks than those installed.
pub fn client_version_notice(dir: &DataDir, now: Option<ClientVersion>) -> Option<UserNotice> {
    let now = now?;
    let written = match InstallManifest::read(&dir.installed()) {
        Ok(manifest) => manifest.client?,
        Err(error) => return Some(UserNotice::new(error.to_string(), "claude-mem doctor")),
    };
    needs_new_hooks(Some(now), ClientVersion::find(&written)).then(|| {
        let what = format!("the hooks were installed for Claude Code {written}, this is {now}");
        UserNotice::new(what, "claude-mem repair")
    })
}

fn count_events(count: u64) -> String {
    match count {
        1 => "1 event".to_owned(),
        _ => format!("{count} events"),
    }
}

#[cfg(test)]
#[path = "notices_tests.rs"]
mod tests;
