//! `claude-mem preferences`: lists, confirms and declines preferences that apply to every project.

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use super::pin;
use crate::cli::output::{QUIET, Screen};
use crate::cli::query_args;
use claude_mem_core::vocabulary::PREFERENCE;
use claude_mem_recall::quote;
use claude_mem_store::{MemoryLevel, Observation, ObservationEdit, RowId, RowKind};

/// List, confirm or decline preferences for every project
///
/// What you say about how to work ("always run the formatter") is recorded for its project and
/// proposed here. Once confirmed, it is offered to every session of every project.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem preferences                     list confirmed and proposed ones
  claude-mem preferences --confirm '#12'     apply it to every project
  claude-mem preferences --decline '#12'     keep it in its own project
  claude-mem save --global 'Run the formatter before every commit'")]
pub(super) struct Args {
    /// Apply these to every project
    #[arg(long, value_name = "ID", num_args = 1..)]
    confirm: Vec<RowId>,
    /// Keep these in their own project
    #[arg(long, value_name = "ID", num_args = 1.., conflicts_with = "confirm")]
    decline: Vec<RowId>,
}

#[derive(Serialize)]
struct PreferenceList {
    hold: Vec<PreferenceRow>,
    proposed: Vec<PreferenceRow>,
}

#[derive(Serialize)]
struct PreferenceRow {
    id: RowId,
    title: String,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    for &id in &args.confirm {
        set_level(app, id, MemoryLevel::User)?;
    }
    for &id in &args.decline {
        set_level(app, id, MemoryLevel::Project)?;
    }
    let changed = args.confirm.iter().map(|id| (id, "now applies to every project"));
    let declined = args.decline.iter().map(|id| (id, "stays in its own project"));
    let changed: Vec<_> = changed.chain(declined).collect();
    let mut shown = PreferenceList { hold: Vec::new(), proposed: Vec::new() };
    if let Some(store) = app.store_if_any()? {
        let reads = store.read();
        shown.hold = reads.observations_at_level(MemoryLevel::User)?.iter().map(row).collect();
        shown.proposed = reads.observations_at_level(MemoryLevel::Proposed)?.iter().map(row).collect();
    }
    screen.show(&shown, |screen, shown| {
        for (id, what) in &changed {
            writeln!(screen, "{id} {what}")?;
        }
        if !changed.is_empty() {
            writeln!(screen)?;
        }
        if shown.hold.is_empty() && shown.proposed.is_empty() {
            return writeln!(screen, "no preferences yet; `claude-mem save --global` adds one");
        }
        list(screen, "in every project", &shown.hold)?;
        list(screen, "proposed; confirm with `claude-mem preferences --confirm ID`", &shown.proposed)
    })
}

fn list(screen: &mut Screen, head: &str, rows: &[PreferenceRow]) -> std::io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(screen, "{QUIET}{head}{QUIET:#}")?;
    rows.iter().try_for_each(|row| writeln!(screen, "{:>6}  {}", row.id.to_string(), row.title))
}

fn row(observation: &Observation) -> PreferenceRow {
    PreferenceRow {
        id: RowId::new(RowKind::Observation, observation.id.0),
        title: quote::line(&observation.text.title, 120),
    }
}

fn set_level(app: &App, id: RowId, level: MemoryLevel) -> anyhow::Result<()> {
    let mut store = app.store_to_change()?;
    let id = query_args::current_row(&store.read(), id)?;
    let known = pin::load_observation(&store, id)?;
    if known.level == MemoryLevel::Project && level == MemoryLevel::Project {
        anyhow::bail!("{id} already applies to its own project only");
    }
    let is_preference =
        known.level != MemoryLevel::Project || known.text.concepts.iter().any(|c| c == PREFERENCE);
    if level == MemoryLevel::User && !is_preference {
        anyhow::bail!("{id} is not a preference; `claude-mem save --global` saves one for every project");
    }
    if level == MemoryLevel::Project && known.project.is_none() {
        anyhow::bail!("{id} belongs to no project; `claude-mem forget '{id}'` removes it");
    }
    let edit = ObservationEdit { level: Some(level), ..ObservationEdit::default() };
    store.write(|tx| tx.edit_observation(known.id, &edit, app.now))?;
    Ok(())
}
