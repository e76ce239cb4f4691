//! `claude-mem context`: what the next session would be told, for a person to see.

use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use serde::Serialize;

use super::app::App;
use super::project;
use super::screen::{QUIET, Screen};
use crate::config::{self, Loaded, Raw, Source};
use crate::context::moment::Listener;
use crate::context::{self, Starting};
use crate::findings;
use crate::search::Handle;

/// Show what the next session in this project would be told, and why
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem context
  claude-mem context --project shop --tokens 800")]
pub(super) struct Args {
    /// Of this project: a name, an id or a directory (default: the one we are in)
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// With this budget instead of the one in the settings: 100 to 2400
    #[arg(long, value_parser = tokens)]
    tokens: Option<u32>,
}

#[derive(Serialize)]
struct Shown {
    text: String,
    tokens: u32,
    budget: u32,
    left_out: usize,
    /// The settings say that sessions are told nothing.
    off: bool,
    items: Vec<Reason>,
}

#[derive(Serialize)]
struct Reason {
    id: Handle,
    title: String,
    value: f64,
    tokens: u32,
    because: Vec<&'static str>,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let loaded = app.settings();
    let by_variable = variable_that_switches_off(&loaded);
    let settings = loaded.settings;
    let budget = args.tokens.unwrap_or(settings.context_tokens);
    let mut shown = Shown {
        text: String::new(),
        tokens: 0,
        budget,
        left_out: 0,
        off: !settings.context,
        items: Vec::new(),
    };
    if let Some(store) = app.store_if_any()? {
        let reads = store.read();
        let here = std::env::current_dir().context("there is no current directory")?;
        let hint = crate::project::identify(&here);
        let found = match &args.project {
            Some(named) => Some(project::find(&reads, named)?.id),
            None => reads.project_by_keys(&hint.keys)?,
        };
        // Of a project that is only named, its own directory.
        let known = found.map(|id| reads.project(id)).transpose()?;
        let root = known
            .as_ref()
            .filter(|_| args.project.is_some())
            .map_or(&hint.root, |known| &known.root);
        let starting = Starting {
            listener: &Listener::default(),
            source: "startup",
            project: found,
            name: &hint.name,
            root: Path::new(root),
            branch: hint.branch.as_deref().filter(|_| args.project.is_none()),
            settings: &settings,
            budget_tokens: budget,
            notices: &findings::at_start(&reads, &app.data, &settings, app.now, None)?,
            zone: &crate::clock::zone(),
        };
        let block = starting.block(&reads)?;
        shown.items = block.chosen.items.iter().map(reason).collect();
        shown = Shown {
            text: block.text,
            tokens: block.tokens,
            left_out: block.chosen.left_out,
            ..shown
        };
    }
    screen.show(&shown, |screen, shown| {
        if shown.off {
            let turns_on = match &by_variable {
                Some(name) => format!("take {name} out of the environment"),
                None => "`claude-mem config set context on` turns it on".to_owned(),
            };
            return writeln!(screen, "a session would be told nothing: {turns_on}");
        }
        if shown.text.is_empty() {
            return writeln!(
                screen,
                "a session in this project would be told nothing yet"
            );
        }
        writeln!(screen, "{}", shown.text.trim_end())?;
        let why = if shown.items.is_empty() {
            ""
        } else {
            "; why these:"
        };
        writeln!(
            screen,
            "\n{QUIET}{} of {} tokens{why}{QUIET:#}",
            shown.tokens, shown.budget
        )?;
        shown.items.iter().try_for_each(|item| {
            writeln!(
                screen,
                "{QUIET}{:>6}  {}{QUIET:#}",
                item.id,
                item.because.join(", ")
            )
        })
    })
}

/// As the setting reads it.
fn tokens(text: &str) -> Result<u32, String> {
    let key = config::key("context_tokens").ok_or("there is no such setting")?;
    match key.kind.read(&Raw::Text(text.to_owned())) {
        Ok(config::Value::Number(tokens)) => u32::try_from(tokens).map_err(|e| e.to_string()),
        Ok(_) => Err("it must be a number".to_owned()),
        Err(expected) => Err(format!("it must be {expected}")),
    }
}

/// The setting in the file has no say where a variable speaks.
fn variable_that_switches_off(loaded: &Loaded) -> Option<String> {
    let key = config::key("context")?;
    (loaded.get(key).1 == Source::Environment).then(|| key.variable())
}

fn reason(item: &context::Item) -> Reason {
    Reason {
        id: Handle::from((item.row.kind, item.row.row_id)),
        title: item.row.title.clone(),
        value: item.value,
        tokens: item.tokens,
        because: item.reasons.clone(),
    }
}
