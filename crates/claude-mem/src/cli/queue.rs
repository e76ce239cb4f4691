//! `claude-mem queue`: events on their way to become memories, and those that got stuck.

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use super::screen::Screen;
use super::words;
use crate::ids::PendingId;
use crate::limits::PAGE_ROWS_MAX;
use crate::store::{Page, Paged, Pending, Store, StoreError, Writes};

/// Look at events on their way to memory, and retry or drop those that got stuck
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem queue list --state dead     what got stuck, and why
  claude-mem queue retry 17 18           try these again
  claude-mem queue retry --all           try all of them again
  claude-mem queue drop 17 --dry-run     what would be thrown away")]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List events, newest first; never their content
    List {
        /// Only those in this state
        #[arg(long, value_parser = ["waiting", "leased", "done", "dead"])]
        state: Option<String>,
        /// At most so many
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        #[arg(long, default_value_t = 0)]
        offset: u32,
    },
    /// Let dead events wait again
    Retry(Chosen),
    /// Throw dead events away for good
    Drop(Chosen),
}

#[derive(Debug, clap::Args)]
struct Chosen {
    /// Ids from `queue list`
    #[arg(
        value_name = "ID",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    ids: Vec<i64>,
    /// Every dead event
    #[arg(long)]
    all: bool,
    /// Say what would be done and do nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Change {
    Retried,
    Dropped,
}

impl Change {
    fn apply(self, writes: &Writes<'_>, id: PendingId) -> Result<bool, StoreError> {
        match self {
            Self::Retried => writes.retry_pending(id),
            Self::Dropped => writes.drop_pending(id),
        }
    }
}

/// What was done to which events.
#[derive(Serialize)]
struct Report {
    action: Change,
    dry_run: bool,
    ids: Vec<PendingId>,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    match &args.action {
        Action::List {
            state,
            limit,
            offset,
        } => {
            let page = Page {
                offset: *offset,
                limit: *limit,
            };
            list(app, screen, state.as_deref(), page)
        }
        Action::Retry(chosen) => change(app, screen, chosen, Change::Retried),
        Action::Drop(chosen) => change(app, screen, chosen, Change::Dropped),
    }
}

fn list(app: &App, screen: &mut Screen, state: Option<&str>, page: Page) -> anyhow::Result<()> {
    app.take_in_spool()?;
    let mut idle = Vec::new();
    let events = match app.store_if_any()? {
        Some(store) => {
            idle = store.read().waiting_for_prompt()?;
            store.read().pending(state, page)?
        }
        None => Paged {
            items: Vec::new(),
            has_more: false,
        },
    };
    screen.show(&events, |screen, events| {
        if events.items.is_empty() {
            return match state {
                Some(state) => writeln!(screen, "no {state} events"),
                None => writeln!(screen, "the queue is empty"),
            };
        }
        let rows: Vec<_> = events
            .items
            .iter()
            .map(|event| row(event, &idle, app))
            .collect();
        screen.table(
            ["id", "state", "kind", "came", "session", "tries", "why"],
            &rows,
        )?;
        if events.has_more {
            writeln!(screen, "more with --offset {}", page.offset + page.rows())?;
        }
        Ok(())
    })
}

fn row(event: &Pending, idle: &[PendingId], app: &App) -> [String; 7] {
    let waits = || {
        if idle.contains(&event.id) {
            "waits for the session's prompt".to_owned()
        } else {
            String::new()
        }
    };
    [
        event.id.to_string(),
        event.state.clone(),
        event.kind.clone(),
        words::ago(event.accepted_at, app.now),
        // Enough to tell sessions apart; the whole id is in --json.
        event.session.0.chars().take(8).collect(),
        event.attempts.to_string(),
        event.error.clone().unwrap_or_else(waits),
    ]
}

/// All of it or none: one transaction.
fn change(app: &App, screen: &mut Screen, chosen: &Chosen, action: Change) -> anyhow::Result<()> {
    let mut store = app.store_to_change()?;
    let dead = dead_ids(&store)?;
    let ids: Vec<PendingId> = if chosen.all {
        dead
    } else {
        let ids: Vec<_> = chosen.ids.iter().copied().map(PendingId).collect();
        if let Some(id) = ids.iter().find(|id| !dead.contains(id)) {
            anyhow::bail!(
                "{id} is not a dead event; `claude-mem queue list --state dead` lists them"
            );
        }
        ids
    };
    if !chosen.dry_run {
        store.write(|writes| {
            ids.iter()
                .try_for_each(|id| action.apply(writes, *id).map(drop))
        })?;
    }
    let report = Report {
        action,
        dry_run: chosen.dry_run,
        ids,
    };
    screen.show(&report, |screen, report| {
        let would = if report.dry_run { "would be " } else { "" };
        let events = words::count(report.ids.len() as u64, "event");
        let done = match report.action {
            Change::Retried => "retried",
            Change::Dropped => "dropped",
        };
        writeln!(screen, "{events} {would}{done}")
    })
}

fn dead_ids(store: &Store) -> Result<Vec<PendingId>, StoreError> {
    let mut ids = Vec::new();
    loop {
        let page = Page {
            offset: ids.len() as u32,
            limit: PAGE_ROWS_MAX,
        };
        let dead = store.read().pending(Some("dead"), page)?;
        ids.extend(dead.items.iter().map(|event| event.id));
        if !dead.has_more {
            return Ok(ids);
        }
    }
}
