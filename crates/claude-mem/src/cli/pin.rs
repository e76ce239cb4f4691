//! `claude-mem pin`: what every session should know.

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use super::screen::{self, Screen};
use super::{Usage, looking};
use crate::context::quote;
use crate::ids::ObservationId;
use crate::remember;
use crate::search::Handle;
use crate::store::{Observation, RowKind, Store, StoreError};

/// Keep memories in view: sessions are told of them first
///
/// A pinned memory is chosen before others at the start of a session, however old it is, and no
/// newer memory takes its place. `claude-mem unpin` lets it go.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem pin '#12'
  claude-mem pin 12 15
  claude-mem context            see what a session here is told")]
pub(super) struct Args {
    /// Ids as `search` prints them: #12
    #[arg(value_name = "ID", required = true)]
    ids: Vec<Handle>,
}

#[derive(Serialize)]
struct Done {
    pinned: bool,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    id: Handle,
    title: String,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    set(&args.ids, true, app, screen)
}

pub(super) fn set(
    handles: &[Handle],
    pinned: bool,
    app: &App,
    screen: &mut Screen,
) -> anyhow::Result<()> {
    let mut store = app.store_to_change()?;
    let mut rows = Vec::new();
    for handle in handles {
        let row = row(&store, *handle)?;
        if pinned && row.wrong {
            screen::remark(format!(
                "{handle} is marked as wrong and told to nobody; `claude-mem mark useful '{handle}'` takes that back"
            ))?;
        }
        rows.push(Row {
            id: *handle,
            title: quote::line(&row.title, 100),
        });
    }
    let ids: Vec<_> = handles
        .iter()
        .map(|handle| ObservationId(handle.row_id))
        .collect();
    remember::pin(&mut store, &ids, pinned, app.now)?;
    screen.show(&Done { pinned, rows }, |screen, done| {
        let verb = if done.pinned { "pinned" } else { "unpinned" };
        done.rows
            .iter()
            .try_for_each(|row| writeln!(screen, "{verb} {}  {}", row.id, row.title))
    })
}

/// The memory of this id, to be changed. Prompts, answers and accounts are what they are.
pub(super) fn row(store: &Store, handle: Handle) -> anyhow::Result<Observation> {
    if handle.kind != RowKind::Observation {
        return Err(Usage::error(format!(
            "{handle} is not a memory that can be changed; those look like #12"
        )));
    }
    match store.read().observation(ObservationId(handle.row_id)) {
        Err(StoreError::NoSuchRow { .. }) => Err(looking::no_such(handle)),
        row => Ok(row?),
    }
}
