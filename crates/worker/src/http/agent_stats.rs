//! The coding agents of this machine: their sessions that are stored, and their transcripts that could be imported.

use std::ffi::OsString;

use super::agent_stats_view::AgentStatsView;
use super::api::ApiState;
use super::problem::Problem;
use claude_mem_core::agents::{AGENTS, CodingAgent};
use claude_mem_transfer::import::transcripts;

/// Transcripts of one agent that are counted.
const TRANSCRIPTS_MAX: usize = 5_000;

/// The figures of every agent, at most a few seconds old.
pub(super) fn agent_stats(api: &ApiState) -> Result<Vec<AgentStatsView>, Problem> {
    api.agent_stats.get_or_try_make(|| AGENTS.iter().map(|agent| count_transcripts(api, agent)).collect())
}

fn count_transcripts(api: &ApiState, agent: &'static CodingAgent) -> Result<AgentStatsView, Problem> {
    let env = |name: &str| (api.env)(name).map(OsString::from);
    let home = agent.program.home.resolve(env);
    let folder = agent.transcripts.and_then(|spec| spec.folder.resolve(env));
    // A folder that cannot be read is as good as none: the importer says why.
    let paths = folder.as_deref().map(|folder| transcripts::list_transcripts(agent, folder));
    let paths = paths.and_then(Result::ok).unwrap_or_default();
    let (read, has_run) = api.view(|reads| {
        let mut read = 0;
        for path in paths.iter().take(TRANSCRIPTS_MAX) {
            read += usize::from(reads.transcript_position(&path.display().to_string())?.is_some());
        }
        let source = folder.as_ref().map(|folder| folder.display().to_string()).unwrap_or_default();
        Ok::<_, Problem>((read, reads.is_imported(transcripts::KIND, &source)?))
    })?;
    let transcripts = paths.len().min(TRANSCRIPTS_MAX);
    Ok(AgentStatsView {
        name: agent.name,
        title: agent.title,
        is_present: home.is_some_and(|home| home.is_dir()),
        transcripts,
        read,
        is_imported: transcripts > 0 && (has_run || read == transcripts),
    })
}
