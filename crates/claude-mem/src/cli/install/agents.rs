//! Installation step for the agents other than Claude Code.

use std::ffi::OsString;

use anyhow::Context as _;

use super::agent_choice::AgentChoice;
use super::ask;
use super::context::InstallContext;
use super::registration;
use super::steps::{StepReporter, StepState};
use crate::limits::CLIENT_FILE_TRIES;
use claude_mem_core::agents::{CLAUDE_CODE, CodingAgent};
use claude_mem_setup::install::agent_entries::AgentLaunch;
use claude_mem_setup::install::agent_find;
use claude_mem_setup::install::agent_find::FoundAgent;
use claude_mem_setup::install::agent_plan;
use claude_mem_setup::install::agent_plan::AgentPlan;
use claude_mem_setup::install::file::ClientFileError;
use claude_mem_setup::install::plan;
use claude_mem_store::backups;

/// The agents to register with.
#[derive(Debug)]
pub(super) struct AgentSelection {
    pub(super) claude_code: bool,
    others: Vec<FoundAgent>,
    /// Agents on this machine that were not chosen.
    left_out: Vec<FoundAgent>,
}

fn env(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// Selects the agents, asking once if the user is to be asked. Nothing is changed.
pub(super) fn select(
    setting: &InstallContext<'_>,
    steps: &mut StepReporter<'_>,
) -> anyhow::Result<AgentSelection> {
    let found = agent_find::find_agents(&env);
    // Without any agent, Claude Code's hooks are registered all the same: it may be installed later.
    let has_claude_code = setting.client.is_some()
        || CLAUDE_CODE.program.home.resolve(env).is_some_and(|dir| dir.is_dir())
        || found.is_empty();
    let none = AgentSelection { claude_code: true, others: Vec::new(), left_out: Vec::new() };
    Ok(match &setting.wish.agents {
        AgentChoice::Registered => {
            let is_registered = |found: &FoundAgent| setting.manifest.agent(found.agent.name).is_some();
            AgentSelection {
                claude_code: setting.manifest.includes_claude_code(),
                others: found.into_iter().filter(is_registered).collect(),
                ..none
            }
        }
        _ if setting.wish.project.is_some() => none,
        AgentChoice::ClaudeCode => AgentSelection { left_out: found, ..none },
        AgentChoice::Found => AgentSelection { claude_code: has_claude_code, others: found, ..none },
        AgentChoice::Asked => {
            // Those that are registered already were agreed to.
            let is_new = |found: &FoundAgent| setting.manifest.agent(found.agent.name).is_none();
            if found.iter().any(is_new) {
                confirm(setting, has_claude_code, &found, steps)?;
            }
            AgentSelection { claude_code: has_claude_code, others: found, ..none }
        }
        AgentChoice::Named(agents) => {
            let is_named = |agent: &CodingAgent| agents.iter().any(|named| named.name == agent.name);
            let others = agents.iter().filter(|agent| agent.name != CLAUDE_CODE.name);
            let others = others.map(|agent| {
                let found = agent_find::find_agent(agent, &env);
                found.with_context(|| format!("{} was not found on this machine", agent.title))
            });
            AgentSelection {
                claude_code: is_named(&CLAUDE_CODE),
                others: others.collect::<anyhow::Result<_>>()?,
                left_out: Vec::new(),
            }
        }
    })
}

/// Shows what would be done for each agent and asks whether to do it.
fn confirm(
    setting: &InstallContext<'_>,
    has_claude_code: bool,
    found: &[FoundAgent],
    steps: &mut StepReporter<'_>,
) -> anyhow::Result<()> {
    steps.print_line("")?;
    let mut agents = Vec::new();
    if has_claude_code {
        let paths = [&setting.places.settings, &setting.places.state];
        agents.push((CLAUDE_CODE.title, paths.map(|path| path.display().to_string()).to_vec()));
    }
    agents.extend(found.iter().map(|one| (one.agent.title, paths_of(one.agent))));
    let home = env("HOME").unwrap_or_default();
    for line in agent_lines(&agents, &home.to_string_lossy()) {
        steps.print_line(&line)?;
    }
    let answer = ask::confirm(steps, "Register with all of them?")?;
    anyhow::ensure!(answer, "nothing was changed; `claude-mem install --agent NAME` chooses one");
    Ok(())
}

/// The planned changes for each agent, in lines of at most 60 columns if its paths are not longer.
fn agent_lines(agents: &[(&str, Vec<String>)], home: &str) -> Vec<String> {
    let mut lines = vec!["These agents are on this machine. Hooks and search tools".to_owned()];
    lines.push("would be written to:".to_owned());
    for (title, paths) in agents {
        lines.push(format!("  {title}"));
        lines.extend(paths.iter().map(|path| match path.strip_prefix(home) {
            Some(rest) if !home.is_empty() && rest.starts_with('/') => format!("    ~{rest}"),
            _ => format!("    {path}"),
        }));
    }
    lines
}

/// The files of an agent.
fn paths_of(agent: &'static CodingAgent) -> Vec<String> {
    let files = agent_plan::agent_files(agent, &env).unwrap_or_default();
    files.iter().map(|file| file.path.display().to_string()).collect()
}

/// Reads the files of all chosen agents before anything is changed.
pub(super) fn check(setting: &InstallContext<'_>, selection: &AgentSelection) -> anyhow::Result<()> {
    selection.others.iter().try_for_each(|found| plan(setting, found.agent).map(drop))
}

/// Registers with all chosen agents, and mentions the others.
pub(super) fn register(
    setting: &mut InstallContext<'_>,
    selection: &AgentSelection,
    steps: &mut StepReporter<'_>,
) -> anyhow::Result<()> {
    for found in &selection.others {
        let done =
            if setting.wish.dry_run { plan(setting, found.agent)? } else { write(setting, found.agent)? };
        let detail =
            format!("{}: hooks and search tools in {}", found.describe(), paths_of(found.agent).join(", "));
        if done.is_needed() {
            steps.report_change(found.agent.name, detail)?;
        } else {
            steps.report(found.agent.name, StepState::Ok, detail)?;
        }
        for path in &done.taken {
            let detail = format!("another program uses our name in {}; it was left alone", path.display());
            steps.report(found.agent.name, StepState::Note, detail)?;
        }
        if let Some(note) = found.agent.install_note.filter(|_| done.is_needed()) {
            steps.report(found.agent.name, StepState::Note, note)?;
        }
    }
    if !selection.left_out.is_empty() {
        let names: Vec<&str> = selection.left_out.iter().map(|found| found.agent.title).collect();
        let detail = format!(
            "also on this machine: {}; `claude-mem install --yes` registers with all, `--agent NAME` with one",
            names.join(", ")
        );
        steps.report("agents", StepState::Note, detail)?;
    }
    Ok(())
}

/// Registers again with the agents that are registered already, without printing.
pub(super) fn register_again(setting: &mut InstallContext<'_>) -> anyhow::Result<()> {
    let registered = setting.manifest.agents.iter().filter_map(|left| CodingAgent::by_name(&left.agent));
    for agent in registered.collect::<Vec<_>>() {
        write(setting, agent)?;
    }
    Ok(())
}

fn plan(setting: &InstallContext<'_>, agent: &'static CodingAgent) -> anyhow::Result<AgentPlan> {
    let files = agent_plan::agent_files(agent, &env).context("no home directory")?;
    let launch = AgentLaunch {
        agent,
        executable: &setting.launch.executable,
        data_dir: setting.launch.data_dir.as_deref(),
    };
    Ok(AgentPlan::install(&launch, &files, setting.manifest.agent(agent.name))?)
}

/// Writes the files and the manifest. A concurrent change is retried with a new plan.
fn write(setting: &mut InstallContext<'_>, agent: &'static CodingAgent) -> anyhow::Result<AgentPlan> {
    let mut tries = 1..=CLIENT_FILE_TRIES;
    loop {
        let plan = plan(setting, agent)?;
        let before = setting.manifest.clone();
        let stamp = backups::format_stamp(setting.app.now);
        setting.manifest.insert_agent(plan.record(&setting.app.data.client_backups(), &stamp)?);
        registration::save_manifest(setting)?;
        match plan::apply_all(&plan.changes) {
            Ok(()) => return Ok(plan),
            // A file that could not be rolled back holds our entries: keep them in the manifest.
            Err(error @ ClientFileError::PartlyApplied { .. }) => return Err(error.into()),
            Err(error) => {
                before.write(&setting.app.data.installed())?;
                setting.manifest = before;
                if !matches!(error, ClientFileError::ChangedMeanwhile(_)) || tries.next().is_none() {
                    return Err(error.into());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_fits_into_sixty_columns() {
        let home = "/home/somebody-with-a-rather-long-name/of-a-department";
        let at_home = |name: &str| {
            let home = Some(OsString::from(home));
            if name == "HOME" { home } else { None }
        };
        let agents: Vec<(&str, Vec<String>)> = claude_mem_core::agents::AGENTS
            .iter()
            .map(|agent| {
                let files = agent_plan::agent_files(agent, &at_home).unwrap_or_default();
                (agent.title, files.iter().map(|file| file.path.display().to_string()).collect())
            })
            .collect();
        let lines = agent_lines(&agents, home);
        assert!(lines.len() > agents.len() + 4, "{lines:#?}");
        assert!(lines.iter().all(|line| line.chars().count() <= 60), "{lines:#?}");
    }
}
