//! Checks of the agents other than Claude Code: registered, current, and their hooks run.

use std::path::Path;
use std::time::SystemTime;

use super::flow::{SILENCE_SECONDS, last_event, mtime, newest_mtime, to_millis};
use super::{AutoFix, DoctorContext, DoctorFinding};
use crate::install::agent_entries::AgentLaunch;
use crate::install::agent_find;
use crate::install::agent_find::FoundAgent;
use crate::install::agent_plan::{self, AgentPlan};
use claude_mem_core::agents::CodingAgent;
use claude_mem_core::clock::Millis;
use claude_mem_core::pause;
use claude_mem_store::{SessionDatabase, StoreError};

/// Directory levels below which transcripts are looked for.
const TRANSCRIPT_DEPTH_MAX: usize = 4;

/// Whether we are registered with the agents on this machine, and whether their hooks run.
pub(super) fn agents(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    let found = agent_find::find_agents(context.env);
    found.iter().flat_map(|found| check_agent(context, found)).collect()
}

fn check_agent(context: &DoctorContext<'_>, found: &FoundAgent) -> Vec<DoctorFinding> {
    let agent = found.agent;
    let Some(recorded) = context.manifest.agent(agent.name) else {
        return vec![DoctorFinding::note(
            agent.name,
            format!("{} is on this machine, and claude-mem is not registered with it", agent.title),
            format!("claude-mem install --agent {}", agent.name),
        )];
    };
    let Some(files) = agent_plan::agent_files(agent, context.env) else {
        return Vec::new();
    };
    let launch = AgentLaunch {
        agent,
        executable: &context.launch.executable,
        data_dir: context.launch.data_dir.as_deref(),
    };
    let registration = match AgentPlan::install(&launch, &files, Some(recorded)) {
        Err(error) => {
            DoctorFinding::problem(agent.name, error.to_string(), "fix the file, then `claude-mem repair`")
        }
        Ok(plan) if plan.is_needed() => {
            let changed = plan.changes.iter().filter(|change| change.is_needed());
            let paths: Vec<String> = changed.map(|change| change.file.path.display().to_string()).collect();
            let what = format!("our entries are missing or outdated in {}", paths.join(", "));
            DoctorFinding::problem(agent.name, what, "claude-mem repair").with_auto_fix(AutoFix::Registration)
        }
        Ok(_) => DoctorFinding::ok(agent.name, found.describe()),
    };
    std::iter::once(registration).chain(silence(context, agent)).collect()
}

/// A problem if the agent was used after the installation and none of its hooks has run since.
fn silence(context: &DoctorContext<'_>, agent: &'static CodingAgent) -> Option<DoctorFinding> {
    let spec = agent.transcripts?;
    let folder = spec.folder.resolve(context.env)?;
    let used = match spec.database {
        None => newest_transcript(&folder, TRANSCRIPT_DEPTH_MAX).map(to_millis)?,
        Some(name) => match newest_session(&folder.join(name)) {
            Ok(used) => used?,
            Err(error) => return Some(DoctorFinding::unknown(agent.name, &error)),
        },
    };
    // Only its own events count: those of another agent say nothing about its hooks.
    let heard = match last_event(context, Some(agent.name)) {
        Ok(heard) => heard,
        Err(error) => return Some(DoctorFinding::unknown(agent.name, &error)),
    };
    let never = heard.is_none();
    let since = heard.max(mtime(&context.data.installed()).map(to_millis))?;
    // The first use tells enough if no event ever came; later, a pause in the conversation is allowed for.
    let grace = if never { 0 } else { i64::try_from(SILENCE_SECONDS).unwrap_or(i64::MAX) };
    let is_paused = pause::active_pause(&context.data.paused(), context.now).is_some();
    if is_paused || used <= since.plus_seconds(grace) {
        return None;
    }
    let when = if never { "no hook of it ever ran" } else { "no hook of it ran since" };
    let what = format!("{} was used, but {when}", agent.title);
    Some(DoctorFinding::problem(agent.name, what, agent.silence_fix))
}

/// When a session in the client's database was last active; `None` without a database or a session.
fn newest_session(database: &Path) -> Result<Option<Millis>, StoreError> {
    let database = match SessionDatabase::open(database) {
        Ok(Some(database)) => database,
        Ok(None) | Err(StoreError::Missing) => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(database.sessions()?.iter().map(|session| session.updated_at).max())
}

fn newest_transcript(folder: &Path, depth: usize) -> Option<SystemTime> {
    let here = newest_mtime(folder, "jsonl");
    if depth == 0 {
        return here;
    }
    let folders = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let below = folders.filter(|path| path.is_dir()).filter_map(|path| newest_transcript(&path, depth - 1));
    below.max().max(here)
}

#[cfg(test)]
#[path = "agents_tests.rs"]
mod tests;
