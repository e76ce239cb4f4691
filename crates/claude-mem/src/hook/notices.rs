//! What the person has to know at the start of a session: only what needs them, each with the
//! command that helps.

use super::settings::HookSettings;
use crate::clock::{self, Millis};
use crate::config::{Provider, Settings};
use crate::install::client::wants_other_hooks;
use crate::install::receipt::Receipt;
use crate::install::version::Version;
use crate::paths::DataDir;
use crate::serve::pidfile::WorkerFile;
use crate::serve::recover::{NEWS_SECONDS, NOTICE, Recovered};
use crate::store::{Reads, StoreError};

/// In the order of their weight; empty on a good day.
pub(super) fn notices(
    reads: &Reads<'_>,
    dir: &DataDir,
    settings: &HookSettings,
    now: Millis,
    client: Option<Version>,
) -> Result<Vec<String>, StoreError> {
    let mut found = Vec::new();
    found.extend(recovered(reads, now)?);
    found.extend(dead_events(reads)?);
    found.extend(budget(reads, &settings.all(), now)?);
    found.extend(other_version(dir));
    found.extend(other_client(dir, client));
    Ok(found)
}

fn recovered(reads: &Reads<'_>, now: Millis) -> Result<Option<String>, StoreError> {
    let noted = reads.meta(NOTICE)?;
    let happened = noted.and_then(|text| serde_json::from_str::<Recovered>(&text).ok());
    let news = happened.filter(|happened| now <= happened.at.plus_seconds(NEWS_SECONDS));
    Ok(news.map(|happened| {
        let instead = if happened.backup_from.is_some() {
            "a backup took its place"
        } else {
            "there was no backup, so memory began anew"
        };
        format!("claude-mem's database was damaged; {instead}. Details: claude-mem status")
    }))
}

fn dead_events(reads: &Reads<'_>) -> Result<Option<String>, StoreError> {
    let dead = reads.queue_counts()?.dead;
    Ok((dead > 0).then(|| {
        format!("claude-mem could not work on {dead} recorded events: claude-mem queue list --state dead")
    }))
}

fn budget(
    reads: &Reads<'_>,
    settings: &Settings,
    now: Millis,
) -> Result<Option<String>, StoreError> {
    if matches!(settings.provider, Provider::Auto | Provider::Local) {
        return Ok(None);
    }
    let spent = reads.spend_on(&clock::local_day(now))?.tokens;
    let all = settings.budget_tokens_per_day;
    Ok((spent > 0 && spent >= all).then(|| {
        format!("claude-mem has used today's {all} tokens; memories are made without a model until tomorrow: claude-mem status")
    }))
}

/// A worker that was started before the last update.
fn other_version(dir: &DataDir) -> Option<String> {
    let ours = env!("CARGO_PKG_VERSION");
    // One that cannot be read is none that runs.
    let worker = WorkerFile::read(&dir.worker_pid()).ok().flatten()?;
    (worker.version != ours && worker.is_alive()).then(|| {
        format!(
            "claude-mem's worker is version {}, its hooks {ours}: claude-mem worker restart",
            worker.version
        )
    })
}

/// A client that was updated since hooks were written for it, and now knows others.
fn other_client(dir: &DataDir, now: Option<Version>) -> Option<String> {
    let now = now?;
    let written = Receipt::read(&dir.installed()).client?;
    wants_other_hooks(Some(now), Version::find(&written)).then(|| {
        format!("claude-mem's hooks were written for Claude Code {written}, this is {now}: claude-mem repair")
    })
}
