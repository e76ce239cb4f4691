//! `claude-mem open-items`: lists remaining work, and closes or reopens it by hand.

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use crate::cli::output::{QUIET, Screen};
use crate::cli::query_args::ProjectArgs;
use crate::cli::{format, query_args};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::OpenItemId;
use claude_mem_core::limits::PAGE_ROWS_MAX;
use claude_mem_recall::open_item_edits;
use claude_mem_store::{ItemCloser, OpenItemFilter, OpenItemRow, PageRequest, StoreError, StoreReader};

/// List remaining work, and close or reopen it
///
/// Sessions name work that is left; later work closes it. What you close or reopen by hand stays as you
/// leave it.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  claude-mem open-items                          what is open in this project
  claude-mem open-items --all                    closed items too
  claude-mem open-items close 12 --reason 'no longer needed'
  claude-mem open-items reopen 12")]
pub(super) struct Args {
    #[command(subcommand)]
    action: Option<ItemAction>,
    #[command(flatten)]
    whose: ProjectArgs,
    /// Include closed items
    #[arg(long)]
    all: bool,
}

#[derive(Debug, clap::Subcommand)]
enum ItemAction {
    /// Close items
    Close {
        /// Ids from `open-items`
        #[arg(value_name = "ID", required = true)]
        ids: Vec<i64>,
        /// Why they are closed
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Reopen items
    Reopen {
        /// Ids from `open-items --all`
        #[arg(value_name = "ID", required = true)]
        ids: Vec<i64>,
    },
}

#[derive(Serialize)]
struct OpenItemLine {
    id: OpenItemId,
    text: String,
    project: Option<String>,
    branch: Option<String>,
    opened_at: Millis,
    closed_at: Option<Millis>,
    closed_by: Option<ItemCloser>,
    reason: String,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    match &args.action {
        None => list(args, app, screen),
        Some(ItemAction::Close { ids, reason }) => {
            change(ids, app, screen, "closed", |store, id| open_item_edits::close(store, id, reason, app.now))
        }
        Some(ItemAction::Reopen { ids }) => change(ids, app, screen, "reopened", open_item_edits::reopen),
    }
}

fn list(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let mut items = Vec::new();
    if let Some(store) = app.store_if_any()? {
        let reads = store.read();
        let filter = OpenItemFilter {
            project: args.whose.resolve(&reads)?,
            with_closed: args.all,
            ..OpenItemFilter::default()
        };
        let found = reads.list_open_items(&filter, PageRequest::first(PAGE_ROWS_MAX))?;
        items = found.items.into_iter().map(|row| line(&reads, row)).collect::<Result<_, _>>()?;
    }
    screen.show(&items, |screen, items| {
        if items.is_empty() {
            return writeln!(screen, "no open items");
        }
        let rows: Vec<[String; 4]> = items
            .iter()
            .map(|item| {
                let state = match (item.closed_at, item.closed_by) {
                    (None, _) => "open",
                    (Some(_), Some(ItemCloser::Hand)) => "closed by hand",
                    (Some(_), _) => "done",
                };
                [
                    item.id.to_string(),
                    state.to_owned(),
                    format::local_time(item.opened_at),
                    query_args::sanitized(&item.text),
                ]
            })
            .collect();
        screen.table(["id", "state", "since", "what"], &rows)?;
        writeln!(screen, "{QUIET}close one: `claude-mem open-items close ID`{QUIET:#}")
    })
}

fn change(
    ids: &[i64],
    app: &App,
    screen: &mut Screen,
    verb: &str,
    act: impl Fn(&mut claude_mem_store::Store, OpenItemId) -> Result<bool, StoreError>,
) -> anyhow::Result<()> {
    let mut store = app.store_to_change()?;
    // Look up all ids before changing the first: all or none.
    for &id in ids {
        match store.read().open_item(OpenItemId(id)) {
            Err(StoreError::NoSuchRow { .. }) => {
                anyhow::bail!("no open item {id}; see `claude-mem open-items --all`")
            }
            found => drop(found?),
        }
    }
    let mut done = Vec::new();
    for &id in ids {
        let changed = act(&mut store, OpenItemId(id))?;
        let row = store.read().open_item(OpenItemId(id))?;
        done.push((changed, line(&store.read(), row)?));
    }
    let items: Vec<&OpenItemLine> = done.iter().map(|(_, item)| item).collect();
    screen.show(&items, |screen, _| {
        done.iter().try_for_each(|(changed, item)| {
            let told = if *changed { verb.to_owned() } else { format!("already {verb}:") };
            writeln!(screen, "{told} {}  {}", item.id, query_args::sanitized(&item.text))
        })
    })
}

fn line(reads: &StoreReader<'_>, row: OpenItemRow) -> Result<OpenItemLine, StoreError> {
    Ok(OpenItemLine {
        id: row.id,
        text: row.text,
        project: row.project.map(|id| reads.project_name(id)).transpose()?.flatten(),
        branch: row.branch,
        opened_at: row.opened_at,
        closed_at: row.closed_at,
        closed_by: row.closed_by,
        reason: row.reason,
    })
}
