//! `claude-mem update-check`: whether everything is of one version, without asking the network.

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use super::screen::{GOOD, QUIET, Screen, WARN};
use super::{install, worker};
use crate::install::client::wants_other_hooks;
use crate::install::receipt::Receipt;
use crate::install::version::Version;

/// Check that hooks, worker and client fit this version (offline)
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem update-check
  claude-mem update-check --json | jq .up_to_date

Nothing is asked of the network: it compares what is on this machine. To update, take the new
sources and run `cargo xtask install` again.")]
pub(super) struct Args {}

#[derive(Serialize)]
struct Report {
    version: &'static str,
    /// What was installed last.
    installed: Option<String>,
    worker: Option<String>,
    client: Option<String>,
    /// The client's version that hooks were written for.
    hooks_for: Option<String>,
    up_to_date: bool,
    /// What to do, in order.
    todo: Vec<String>,
}

pub(super) fn run(_: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let report = look(app);
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
            return screen.fact(GOOD, "ok", "everything fits");
        }
        for todo in &report.todo {
            screen.fact(WARN, "do", todo)?;
        }
        Ok(())
    })
}

fn look(app: &App) -> Report {
    let version = env!("CARGO_PKG_VERSION");
    let mut todo = Vec::new();
    let receipt = Receipt::read(&app.data.installed()).map_err(|e| e.to_string());
    let worker = worker::look(app).unwrap_or_else(|error| worker::Report::unknown(&error));
    if let (false, Some(trouble)) = (worker.running, worker.trouble) {
        todo.push(format!("claude-mem doctor: the worker: {trouble}"));
    }
    let worker = worker.version;
    let unread = receipt.is_err();
    let receipt = receipt.unwrap_or_else(|why| {
        todo.push(format!("claude-mem doctor: {why}"));
        Receipt::default()
    });
    let client = install::find_client(app).and_then(|found| found.version);
    let hooks_for = receipt.client.as_deref().and_then(Version::find);
    let installed = (!receipt.version.is_empty()).then(|| receipt.version.clone());
    let registered = !receipt.files.is_empty() || receipt.plugin;
    if unread {
        // Said already.
    } else if !registered {
        todo.push("claude-mem install: no hooks are registered".to_owned());
    } else if !receipt.executable.is_file() {
        todo.push(format!(
            "claude-mem install: {} is gone",
            receipt.executable.display()
        ));
    } else if wants_other_hooks(client, hooks_for) {
        todo.push(
            "claude-mem repair: the client knows other hooks than those that are registered"
                .to_owned(),
        );
    }
    if worker.as_deref().is_some_and(|running| running != version) {
        todo.push("claude-mem worker restart: it is of another version".to_owned());
    }
    Report {
        version,
        installed,
        worker,
        client: client.map(|version| version.to_string()),
        hooks_for: receipt.client.filter(|_| registered),
        up_to_date: todo.is_empty(),
        todo,
    }
}
