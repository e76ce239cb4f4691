//! Removes our entries from the files of agents other than Claude Code.

use crate::cli::install::StepReporter;
use crate::limits::CLIENT_FILE_TRIES;
use claude_mem_core::agents::CodingAgent;
use claude_mem_setup::install::agent_plan::{self, AgentPlan};
use claude_mem_setup::install::file::ClientFileError;
use claude_mem_setup::install::manifest::InstallManifest;
use claude_mem_setup::install::plan;

/// Removes our entries from the files of an agent other than Claude Code. One that was never registered is
/// left alone if its files cannot be read.
pub(super) fn remove_from_agent(
    agent: &'static CodingAgent,
    dry_run: bool,
    manifest: &mut InstallManifest,
    steps: &mut StepReporter<'_>,
) -> anyhow::Result<()> {
    let recorded = manifest.agent(agent.name).cloned();
    let Some(found) = agent_plan::agent_files(agent, &|name| std::env::var_os(name)) else {
        return Ok(());
    };
    let mut tries = 1..=CLIENT_FILE_TRIES;
    let plan = loop {
        let plan = match AgentPlan::uninstall(agent, &found, recorded.as_ref()) {
            Err(_) if recorded.is_none() => return Ok(()),
            plan => plan?,
        };
        if dry_run {
            break plan;
        }
        match (plan::apply_all(&plan.changes), tries.next()) {
            (Ok(()), _) => break plan,
            (Err(ClientFileError::ChangedMeanwhile(_)), Some(_)) => {}
            (Err(error), _) => return Err(error.into()),
        }
    };
    manifest.remove_agent(agent.name);
    for change in plan.changes.iter().filter(|change| change.is_needed()) {
        let path = change.file.path.display();
        let what = if change.after.is_none() { "deleted" } else { "removed from" };
        steps.report_change(agent.name, format!("{what} {path}"))?;
    }
    Ok(())
}
