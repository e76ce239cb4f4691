//! `claude-mem agents`: lists the supported agents and what works with each.

use std::io::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use super::app::App;
use crate::cli::output::{QUIET, Screen};
use claude_mem_core::agents::{AGENTS, CLAUDE_CODE, CodingAgent, FeatureSupport};
use claude_mem_setup::install::agent_find;
use claude_mem_setup::install::manifest::InstallManifest;

/// List the supported agents and what works with each
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem agents
  claude-mem agents --json | jq '.[] | select(.found)'

`claude-mem install --agent NAME` registers with one of them.")]
pub(super) struct Args {}

#[derive(Serialize)]
struct AgentReport {
    name: &'static str,
    title: &'static str,
    /// Whether it is on this machine.
    found: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    registered: bool,
    tested_versions: &'static [&'static str],
    features: Vec<FeatureReport>,
}

#[derive(Serialize)]
struct FeatureReport {
    name: &'static str,
    support: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

pub(super) fn run(_: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let manifest = InstallManifest::read(&app.data.installed())?;
    let reports: Vec<AgentReport> = AGENTS.iter().map(|agent| report(agent, &manifest)).collect();
    screen.show(&reports, |screen, reports| {
        for (at, agent) in reports.iter().enumerate() {
            if at > 0 {
                writeln!(screen)?;
            }
            print(screen, agent)?;
        }
        Ok(())
    })
}

fn report(agent: &'static CodingAgent, manifest: &InstallManifest) -> AgentReport {
    let found = agent_find::find_agent(agent, &|name| std::env::var_os(name));
    let registered = if agent.name == CLAUDE_CODE.name {
        manifest.plugin || !manifest.files.is_empty()
    } else {
        manifest.agent(agent.name).is_some()
    };
    let feature = |(name, support): (&'static str, FeatureSupport)| FeatureReport {
        name,
        support: support.word(),
        reason: support.reason(),
    };
    AgentReport {
        name: agent.name,
        title: agent.title,
        found: found.is_some(),
        version: found.as_ref().and_then(|found| Some(found.version?.to_string())),
        program: found.and_then(|found| found.program),
        registered,
        tested_versions: agent.tested_versions,
        features: agent.features.all().map(feature).into_iter().collect(),
    }
}

fn print(screen: &mut Screen, agent: &AgentReport) -> std::io::Result<()> {
    let here = match (&agent.version, agent.found) {
        (Some(version), _) => format!("{version} is here"),
        (None, true) => "is here".to_owned(),
        (None, false) => "not found".to_owned(),
    };
    let state = if agent.registered { "registered" } else { "not registered" };
    writeln!(
        screen,
        "{} {QUIET}({}){QUIET:#}: {here}, {state}; tested with {}",
        agent.title,
        agent.name,
        agent.tested_versions.join(", ")
    )?;
    for feature in &agent.features {
        let margin = format!("  {:15}", feature.name);
        let text = match feature.reason {
            Some(why) => format!("{}: {why}", feature.support),
            None => feature.support.to_owned(),
        };
        screen.wrap_beside(&margin, 17, &text)?;
    }
    Ok(())
}
