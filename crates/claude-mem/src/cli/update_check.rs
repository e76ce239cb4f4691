//! `claude-mem update-check`: checks offline that hooks, worker and client match this version.

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use super::{install, worker};
use crate::cli::output::{GOOD, QUIET, Screen, WARN};
use claude_mem_core::client_version::ClientVersion;
use claude_mem_setup::install::client::needs_new_hooks;
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
    let report = compare_versions(app);
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

fn compare_versions(app: &App) -> UpdateCheckReport {
    let version = env!("CARGO_PKG_VERSION");
    let mut todo = Vec::new();
    let receipt = InstallManifest::read(&app.data.installed()).map_err(|e| e.to_string());
    let worker = worker::probe(app).unwrap_or_else(|error| worker::WorkerStatusReport::unknown(&error));
    if let (false, Some(trouble)) = (worker.running, worker.trouble) {
        todo.push(format!("claude-mem doctor: the worker: {trouble}"));
    }
    let worker = worker.version;
    let unread = receipt.is_err();
    let receipt = receipt.unwrap_or_else(|why| {
        todo.push(format!("claude-mem doctor: {why}"));
        InstallManifest::default()
    });
    let client = install::find_client(app).and_then(|found| found.version);
    let hooks_for = receipt.client.as_deref().and_then(ClientVersion::find);
    let installed = (!receipt.version.is_empty()).then(|| receipt.version.clone());
    let registered = !receipt.files.is_empty() || receipt.plugin;
    if unread {
        // Already in `todo`.
    } else if !registered {
        todo.push("claude-mem install: no hooks are registered".to_owned());
    } else if !receipt.executable.is_file() {
        todo.push(format!("claude-mem install: {} does not exist", receipt.executable.display()));
    } else if needs_new_hooks(client, hooks_for) {
        todo.push("claude-mem repair: this client version needs other hooks".to_owned());
    }
    if worker.as_deref().is_some_and(|running| running != version) {
        todo.push("claude-mem worker restart: the worker is another version".to_owned());
    }
    UpdateCheckReport {
        version,
        installed,
        worker,
        client: client.map(|version| version.to_string()),
        hooks_for: receipt.client.filter(|_| registered),
        up_to_date: todo.is_empty(),
        todo,
    }
}
