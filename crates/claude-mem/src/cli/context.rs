//! `claude-mem context`: what the next session would be told, for a person to see.

use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::app::App;
use super::project;
use super::screen::{QUIET, Screen};
use crate::context::{self, Ask, Parts};
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
    /// With this budget instead of the one in the settings
    #[arg(long)]
    tokens: Option<u32>,
}

#[derive(Serialize)]
struct Shown {
    text: String,
    tokens: u32,
    budget: u32,
    left_out: usize,
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
    let settings = app.settings().settings;
    let budget = args.tokens.unwrap_or(settings.context_tokens);
    let mut shown = Shown { text: String::new(), tokens: 0, budget, left_out: 0, items: Vec::new() };
    if let Some(store) = app.store_if_any()? {
        let reads = store.read();
        let here = std::env::current_dir().context("there is no current directory")?;
        let hint = crate::project::identify(&here);
        let found = match &args.project {
            Some(named) => Some(project::find(&reads, named)?.id),
            None => reads.project_by_keys(&hint.keys)?,
        };
        if let Some(id) = found {
            let project = reads.project(id)?;
            let ask = Ask {
                project: id,
                name: &project.name,
                root: Path::new(&project.root),
                branch: hint.branch.as_deref().filter(|_| args.project.is_none()),
                resumed: None,
                current: None,
                budget_tokens: budget,
                parts: Parts::of(&settings),
                zone: &TimeZone::system(),
                notices: &[],
            };
            let block = context::session_start(&reads, &ask)?;
            shown.items = block.chosen.items.iter().map(reason).collect();
            shown = Shown { text: block.text, tokens: block.tokens, left_out: block.chosen.left_out, ..shown };
        }
    }
    screen.show(&shown, |screen, shown| {
        if shown.text.is_empty() {
            return writeln!(screen, "a session in this project would be told nothing yet");
        }
        writeln!(screen, "{}", shown.text.trim_end())?;
        writeln!(screen, "\n{QUIET}{} of {} tokens; why these:{QUIET:#}", shown.tokens, shown.budget)?;
        shown.items.iter().try_for_each(|item| writeln!(screen, "{QUIET}{:>6}  {}{QUIET:#}", item.id, item.because.join(", ")))
    })
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
