//! `claude-mem pin`: pins observations, and the shared code of `unpin`.

use std::io::Write as _;

use serde::Serialize;

use super::UsageError;
use super::app::App;
use crate::cli::output;
use crate::cli::output::Screen;
use crate::cli::query_args;
use claude_mem_core::ids::ObservationId;
use claude_mem_recall::manual_edits;
use claude_mem_recall::quote;
use claude_mem_store::{Observation, RowId, RowKind, Store, StoreError};

/// Pin memories, so that sessions get them first
///
/// A pinned memory is chosen first at the start of a session, however old it is, and no newer
/// one replaces it. `claude-mem unpin` undoes it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem pin '#12'
  claude-mem pin 12 15
  claude-mem context            preview the context of the next session")]
pub(super) struct Args {
    /// Ids as `search` prints them: #12
    #[arg(value_name = "ID", required = true)]
    ids: Vec<RowId>,
}

#[derive(Serialize)]
struct PinReport {
    pinned: bool,
    rows: Vec<PinnedRow>,
}

#[derive(Serialize)]
struct PinnedRow {
    id: RowId,
    title: String,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    set_pinned(&args.ids, true, app, screen)
}

/// Pins or unpins the observations and prints them.
pub(super) fn set_pinned(
    handles: &[RowId],
    pinned: bool,
    app: &App,
    screen: &mut Screen,
) -> anyhow::Result<()> {
    let mut store = app.store_to_change()?;
    let mut rows = Vec::new();
    let handles = &query_args::current_rows(&store.read(), handles)?;
    for handle in handles {
        let row = load_observation(&store, *handle)?;
        if pinned && row.wrong {
            output::print_note(format!("{handle} was marked as wrong; pinning it clears the mark"))?;
        }
        rows.push(PinnedRow { id: *handle, title: quote::line(&row.text.title, 100) });
    }
    let ids: Vec<_> = handles.iter().map(|handle| ObservationId(handle.row_id)).collect();
    manual_edits::pin(&mut store, &ids, pinned, app.now)?;
    screen.show(&PinReport { pinned, rows }, |screen, done| {
        let verb = if done.pinned { "pinned" } else { "unpinned" };
        done.rows.iter().try_for_each(|row| writeln!(screen, "{verb} {}  {}", row.id, row.title))
    })
}

/// Loads the observation to change. Prompts, messages and summaries cannot be changed.
pub(super) fn load_observation(store: &Store, handle: RowId) -> anyhow::Result<Observation> {
    if handle.kind != RowKind::Observation {
        return Err(UsageError::error(format!(
            "{handle} is not a memory; only memories (#12) can be changed"
        )));
    }
    match store.read().observation(ObservationId(handle.row_id)) {
        Err(StoreError::NoSuchRow { .. }) => Err(query_args::row_not_found(handle)),
        row => Ok(row?),
    }
}
