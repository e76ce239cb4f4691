//! `claude-mem context`: previews the context of the next session.

use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use serde::Serialize;

use super::app::App;
use super::project;
use crate::cli::output::{QUIET, Screen};
use claude_mem_core::config;
use claude_mem_core::config::{LoadedSettings, RawSetting, SettingSource};
use claude_mem_recall::recall_request::RecallTarget;
use claude_mem_recall::{StartSource, StartingSession};
use claude_mem_setup::notices;
use claude_mem_store::RowId;

/// Preview the context of the next session in this project, and why it was chosen
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem context
  claude-mem context --project shop --tokens 800")]
pub(super) struct Args {
    /// Project name, id or directory (default: the current project)
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Token budget, 100 to 2400 (default: the context_tokens setting)
    #[arg(long, value_parser = parse_tokens)]
    tokens: Option<u32>,
}

#[derive(Serialize)]
struct ContextPreview {
    text: String,
    tokens: u32,
    budget: u32,
    left_out: usize,
    /// The `context` setting is off.
    off: bool,
    items: Vec<ContextPreviewItem>,
}

#[derive(Serialize)]
struct ContextPreviewItem {
    id: RowId,
    title: String,
    value: f64,
    tokens: u32,
    because: Vec<&'static str>,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let loaded = app.settings();
    let by_variable = overriding_variable(&loaded);
    let settings = loaded.settings;
    let budget = args.tokens.unwrap_or(settings.context_tokens);
    let mut shown = ContextPreview {
        text: String::new(),
        tokens: 0,
        budget,
        left_out: 0,
        off: !settings.context,
        items: Vec::new(),
    };
    if let Some(store) = app.store_if_any()? {
        let reads = store.read();
        let here = std::env::current_dir().context("cannot determine the current directory")?;
        let hint = claude_mem_core::project::identify(&here);
        let found = match &args.project {
            Some(named) => Some(project::find(&reads, named)?.id),
            None => reads.project_by_keys(&hint.keys)?,
        };
        // For a named project, its own directory.
        let known = found.map(|id| reads.project(id)).transpose()?;
        let root = known.as_ref().filter(|_| args.project.is_some()).map_or(&hint.root, |known| &known.root);
        let starting = StartingSession {
            recipient: &RecallTarget::default(),
            source: StartSource::Startup,
            project: found,
            name: &hint.name,
            root: Path::new(root),
            branch: hint.branch.as_deref().filter(|_| args.project.is_none()),
            settings: &settings,
            budget_tokens: budget,
            notices: &notices::session_start_notices(&reads, &app.data, &settings, app.now, None)?,
            zone: &claude_mem_core::clock::zone(),
        };
        let block = starting.block(&reads)?;
        shown.items = block.chosen.items.iter().map(preview_item).collect();
        shown = ContextPreview {
            text: block.text,
            tokens: block.tokens,
            left_out: block.chosen.left_out,
            ..shown
        };
    }
    screen.show(&shown, |screen, shown| {
        if shown.off {
            let turns_on = match &by_variable {
                Some(name) => format!("unset {name} in the environment"),
                None => "`claude-mem config set context on` turns it on".to_owned(),
            };
            return writeln!(screen, "context is off; {turns_on}");
        }
        if shown.text.is_empty() {
            return writeln!(screen, "no context for this project yet");
        }
        writeln!(screen, "{}", shown.text.trim_end())?;
        let why = if shown.items.is_empty() { "" } else { "; chosen because:" };
        writeln!(screen, "\n{QUIET}{} of {} tokens{why}{QUIET:#}", shown.tokens, shown.budget)?;
        shown.items.iter().try_for_each(|item| {
            writeln!(screen, "{QUIET}{:>6}  {}{QUIET:#}", item.id, item.because.join(", "))
        })
    })
}

/// Parses `--tokens` with the range of the `context_tokens` setting.
fn parse_tokens(text: &str) -> Result<u32, String> {
    let key = config::key("context_tokens").ok_or("unknown setting")?;
    match key.kind.read(&RawSetting::Text(text.to_owned())) {
        Ok(config::SettingValue::Number(tokens)) => u32::try_from(tokens).map_err(|e| e.to_string()),
        Ok(_) => Err("must be a number".to_owned()),
        Err(expected) => Err(format!("must be {expected}")),
    }
}

/// The environment variable that sets `context`, if one does: it overrides the settings file.
fn overriding_variable(loaded: &LoadedSettings) -> Option<String> {
    let key = config::key("context")?;
    (loaded.get(key).1 == SettingSource::Environment).then(|| key.variable())
}

fn preview_item(item: &claude_mem_recall::IndexItem) -> ContextPreviewItem {
    ContextPreviewItem {
        id: RowId::new(item.row.kind, item.row.row_id),
        title: item.row.title.clone(),
        value: item.value,
        tokens: item.tokens,
        because: item.reasons.clone(),
    }
}
