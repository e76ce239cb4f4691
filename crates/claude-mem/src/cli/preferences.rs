//! `claude-mem preferences`: how the person likes to work, in every project.

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use super::pin;
use super::screen::{QUIET, Screen};
use crate::context::quote;
use crate::search::Handle;
use crate::store::{Level, Observation, ObservationEdit, RowKind};
use crate::vocabulary::PREFERENCE;

/// See and confirm how you like to work, in every project
///
/// What you say about how to work ("always run the formatter") is kept for its project and
/// proposed here. Once confirmed it is offered to every session, whatever the project.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem preferences                     what holds, and what is proposed
  claude-mem preferences --confirm '#12'     let it hold everywhere
  claude-mem preferences --decline '#12'     keep it for its own project
  claude-mem save --global 'Run the formatter before every commit'")]
pub(super) struct Args {
    /// Let these hold in every project
    #[arg(long, value_name = "ID", num_args = 1..)]
    confirm: Vec<Handle>,
    /// Keep these for the project they were said in
    #[arg(long, value_name = "ID", num_args = 1.., conflicts_with = "confirm")]
    decline: Vec<Handle>,
}

#[derive(Serialize)]
struct Shown {
    hold: Vec<Row>,
    proposed: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    id: Handle,
    title: String,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    for &id in &args.confirm {
        set_level(app, id, Level::User)?;
    }
    for &id in &args.decline {
        set_level(app, id, Level::Project)?;
    }
    let changed = args
        .confirm
        .iter()
        .map(|id| (id, "now holds in every project"));
    let declined = args
        .decline
        .iter()
        .map(|id| (id, "stays in its own project"));
    let changed: Vec<_> = changed.chain(declined).collect();
    let mut shown = Shown {
        hold: Vec::new(),
        proposed: Vec::new(),
    };
    if let Some(store) = app.store_if_any()? {
        let reads = store.read();
        shown.hold = reads
            .observations_at(Level::User)?
            .iter()
            .map(row)
            .collect();
        shown.proposed = reads
            .observations_at(Level::Proposed)?
            .iter()
            .map(row)
            .collect();
    }
    screen.show(&shown, |screen, shown| {
        for (id, what) in &changed {
            writeln!(screen, "{id} {what}")?;
        }
        if !changed.is_empty() {
            writeln!(screen)?;
        }
        if shown.hold.is_empty() && shown.proposed.is_empty() {
            return writeln!(
                screen,
                "none yet; say how you like to work, or `claude-mem save --global`"
            );
        }
        list(screen, "in every project", &shown.hold)?;
        list(
            screen,
            "proposed, `claude-mem preferences --confirm ID` lets it hold",
            &shown.proposed,
        )
    })
}

fn list(screen: &mut Screen, head: &str, rows: &[Row]) -> std::io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(screen, "{QUIET}{head}{QUIET:#}")?;
    rows.iter()
        .try_for_each(|row| writeln!(screen, "{:>6}  {}", row.id.to_string(), row.title))
}

fn row(observation: &Observation) -> Row {
    Row {
        id: Handle {
            kind: RowKind::Observation,
            row_id: observation.id.0,
        },
        title: quote::line(&observation.title, 120),
    }
}

fn set_level(app: &App, id: Handle, level: Level) -> anyhow::Result<()> {
    let mut store = app.store_to_change()?;
    let known = pin::row(&store, id)?;
    if known.level == Level::Project && level == Level::Project {
        anyhow::bail!("{id} holds in its own project already");
    }
    let is_preference =
        known.level != Level::Project || known.concepts.iter().any(|c| c == PREFERENCE);
    if level == Level::User && !is_preference {
        anyhow::bail!(
            "{id} is not a preference; `claude-mem save --global` keeps something for every project"
        );
    }
    if level == Level::Project && known.project.is_none() {
        anyhow::bail!("{id} belongs to no project; `claude-mem forget '{id}'` removes it");
    }
    let edit = ObservationEdit {
        level: Some(level),
        ..ObservationEdit::default()
    };
    store.write(|tx| tx.edit_observation(known.id, &edit, app.now))?;
    Ok(())
}
