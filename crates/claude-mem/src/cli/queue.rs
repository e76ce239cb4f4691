//! `claude-mem queue`: lists queued events, and retries or drops dead ones.

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use crate::cli::format;
use crate::cli::output::Screen;
use claude_mem_core::ids::PendingId;
use claude_mem_core::limits::PAGE_ROWS_MAX;
use claude_mem_store::{PageRequest, QueueRow, RowPage, Store, StoreError, StoreWriter};

/// List queued events, and retry or drop dead ones
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem queue list --state dead     list dead events and their errors
  claude-mem queue retry 17 18           retry these
  claude-mem queue retry --all           retry all dead events
  claude-mem queue drop 17 --dry-run     show what would be dropped")]
pub(super) struct Args {
    #[command(subcommand)]
    action: QueueAction,
}

#[derive(Debug, clap::Subcommand)]
enum QueueAction {
    /// List events, newest first, without their content
    List {
        /// Only events in this state
        #[arg(long, value_parser = ["waiting", "leased", "done", "dead"])]
        state: Option<String>,
        /// Maximum number of events
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        /// Skip this many events
        #[arg(long, default_value_t = 0)]
        offset: u32,
    },
    /// Retry dead events
    Retry(DeadEventSelection),
    /// Delete dead events permanently
    Drop(DeadEventSelection),
}

#[derive(Debug, clap::Args)]
struct DeadEventSelection {
    /// Ids from `queue list`
    #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
    ids: Vec<i64>,
    /// All dead events
    #[arg(long)]
    all: bool,
    /// Show what would be done and change nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum QueueChange {
    Retried,
    Dropped,
}

impl QueueChange {
    fn apply(self, writes: &StoreWriter<'_>, id: PendingId) -> Result<bool, StoreError> {
        match self {
            Self::Retried => writes.retry_pending(id),
            Self::Dropped => writes.drop_pending(id),
        }
    }
}

/// The JSON output of `retry` and `drop`.
#[derive(Serialize)]
struct QueueChangeReport {
    action: QueueChange,
    dry_run: bool,
    ids: Vec<PendingId>,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    match &args.action {
        QueueAction::List { state, limit, offset } => {
            let page = PageRequest { offset: *offset, limit: *limit };
            list(app, screen, state.as_deref(), page)
        }
        QueueAction::Retry(chosen) => change(app, screen, chosen, QueueChange::Retried),
        QueueAction::Drop(chosen) => change(app, screen, chosen, QueueChange::Dropped),
    }
}

/// One page of the queue.
#[derive(Serialize)]
struct QueueList<'a> {
    items: &'a [QueueRow],
    has_more: bool,
}

fn list(app: &App, screen: &mut Screen, state: Option<&str>, page: PageRequest) -> anyhow::Result<()> {
    app.ingest_spool()?;
    let mut idle = Vec::new();
    let events = match app.store_if_any()? {
        Some(store) => {
            idle = store.read().waiting_for_prompt()?;
            store.read().pending(state, page)?
        }
        None => RowPage { items: Vec::new(), has_more: false },
    };
    let list = QueueList { items: &events.items, has_more: events.has_more };
    screen.show(&list, |screen, events| {
        if events.items.is_empty() {
            return match state {
                Some(state) => writeln!(screen, "no {state} events"),
                None => writeln!(screen, "the queue is empty"),
            };
        }
        let rows: Vec<_> = events.items.iter().map(|event| row(event, &idle, app)).collect();
        screen.table(["id", "state", "kind", "received", "session", "attempts", "reason"], &rows)?;
        if events.has_more {
            writeln!(screen, "more with --offset {}", page.offset + page.row_limit())?;
        }
        Ok(())
    })
}

fn row(event: &QueueRow, idle: &[PendingId], app: &App) -> [String; 7] {
    let waits = || {
        if idle.contains(&event.id) { "waiting for the session's prompt".to_owned() } else { String::new() }
    };
    [
        event.id.to_string(),
        event.state.clone(),
        event.kind.clone(),
        format::ago(event.accepted_at, app.now),
        // Enough to tell sessions apart; --json has the whole id.
        event.session.0.chars().take(8).collect(),
        event.attempts.to_string(),
        event.error.clone().unwrap_or_else(waits),
    ]
}

/// Retries or drops dead events in one transaction.
fn change(
    app: &App,
    screen: &mut Screen,
    chosen: &DeadEventSelection,
    action: QueueChange,
) -> anyhow::Result<()> {
    let mut store = app.store_to_change()?;
    let dead = dead_ids(&store)?;
    let ids: Vec<PendingId> = if chosen.all {
        dead
    } else {
        let ids: Vec<_> = chosen.ids.iter().copied().map(PendingId).collect();
        if let Some(id) = ids.iter().find(|id| !dead.contains(id)) {
            anyhow::bail!("{id} is not a dead event; see `claude-mem queue list --state dead`");
        }
        ids
    };
    if !chosen.dry_run {
        store.write(|writes| ids.iter().try_for_each(|id| action.apply(writes, *id).map(drop)))?;
    }
    let report = QueueChangeReport { action, dry_run: chosen.dry_run, ids };
    screen.show(&report, |screen, report| {
        let would = if report.dry_run { "would be " } else { "" };
        let events = format::count(report.ids.len() as u64, "event");
        let done = match report.action {
            QueueChange::Retried => "retried",
            QueueChange::Dropped => "dropped",
        };
        writeln!(screen, "{events} {would}{done}")
    })
}

fn dead_ids(store: &Store) -> Result<Vec<PendingId>, StoreError> {
    let mut ids = Vec::new();
    loop {
        let page = PageRequest { offset: ids.len() as u32, limit: PAGE_ROWS_MAX };
        let dead = store.read().pending(Some("dead"), page)?;
        ids.extend(dead.items.iter().map(|event| event.id));
        if !dead.has_more {
            return Ok(ids);
        }
    }
}
