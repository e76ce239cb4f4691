//! `claude-mem update-check`: checks offline that hooks, worker and client match this version.

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use super::{doctor, install, worker};
use crate::cli::output::{GOOD, QUIET, Screen, WARN};
use claude_mem_setup::doctor::{DoctorFinding, run_update_checks};
use claude_mem_setup::install::manifest::InstallManifest;

/// Check that hooks, worker and client match this version (offline)
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem update-check
  claude-mem update-check --json | jq .up_to_date

It compares what is on this machine and does not use the network. To update, use the package manager
that you installed it with, or get the new sources and run `cargo xtask install` again. Running sessions
continue: their next hook uses the new version.")]
pub(super) struct Args {}

#[derive(Serialize)]
struct UpdateCheckReport {
    version: &'static str,
    /// The version that was installed last.
    installed: Option<String>,
    worker: Option<String>,
    client: Option<String>,
    /// The client version that the hooks were written for.
    hooks_for: Option<String>,
    up_to_date: bool,
    /// Commands to run, in order, each with its reason.
    todo: Vec<String>,
}

pub(super) fn run(_: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let report = compare_versions(app)?;
    screen.show(&report, |screen, report| {
        writeln!(screen, "claude-mem {}", report.version)?;
        let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
        screen.fact(QUIET, "worker", &or_none(&report.worker))?;
        screen.fact(QUIET, "client", &or_none(&report.client))?;
        let hooks = match &report.hooks_for {
            Some(client) => format!("written for {client}"),
            None => "none".to_owned(),
        };
        screen.fact(QUIET, "hooks", &hooks)?;
        if report.up_to_date {
            return screen.fact(GOOD, "ok", "everything is up to date");
        }
        for todo in &report.todo {
            screen.fact(WARN, "run", todo)?;
        }
        Ok(())
    })
}

/// Compares versions. What is to be done is what `claude-mem doctor` finds, so that both agree.
fn compare_versions(app: &App) -> anyhow::Result<UpdateCheckReport> {
    let findings = doctor::examine_with(app, run_update_checks)?;
    // `doctor` reports a manifest or a worker that cannot be read.
    let manifest = InstallManifest::read(&app.data.installed()).unwrap_or_default();
    let worker = worker::probe(app).ok().and_then(|worker| worker.version);
    let client = install::find_client(app).and_then(|found| found.version);
    let is_registered = !manifest.files.is_empty() || manifest.plugin;
    let mut todo: Vec<String> = findings.iter().map(todo_line).collect();
    todo.dedup();
    Ok(UpdateCheckReport {
        version: env!("CARGO_PKG_VERSION"),
        installed: (!manifest.version.is_empty()).then(|| manifest.version.clone()),
        worker,
        client: client.map(|version| version.to_string()),
        hooks_for: manifest.client.filter(|_| is_registered),
        up_to_date: todo.is_empty(),
        todo,
    })
}

/// A command and its reason.
fn todo_line(finding: &DoctorFinding) -> String {
    let DoctorFinding { check, what, fix, .. } = finding;
    let fix = fix.as_deref().unwrap_or("claude-mem doctor");
    format!("{fix}: {check}: {what}")
}
