//! `claude-mem forget`: remove a memory, or bring it back.

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use super::looking;
use super::screen::{self, QUIET, Screen};
use crate::context::quote;
use crate::remember;
use crate::search::Handle;

/// Remove memories; for a while they can be brought back
///
/// What is forgotten is gone from search and from every session at once, and no import brings it
/// back. `--undo` does, until the worker clears it away.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem forget --dry-run '#12' S3     see what would go
  claude-mem forget '#12' S3
  claude-mem forget --undo '#12'")]
pub(super) struct Args {
    /// Ids as `search` prints them: #12, S3, P7, M9
    #[arg(value_name = "ID", required = true)]
    ids: Vec<Handle>,
    /// Bring them back
    #[arg(long)]
    undo: bool,
    /// Only say what would go
    #[arg(long, conflicts_with = "undo")]
    dry_run: bool,
}

#[derive(Serialize)]
struct Report {
    done: &'static str,
    dry_run: bool,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    id: Handle,
    title: String,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let mut store = app.store_to_change()?;
    let mut rows = Vec::new();
    for &id in &args.ids {
        if args.undo && !store.write(|tx| tx.undo_forget(id.kind, id.row_id))? {
            anyhow::bail!("{id} cannot be brought back: it was not forgotten, or too long ago");
        }
        let row = store.read().document(id.kind, id.row_id)?;
        let row = row.ok_or_else(|| looking::no_such(id))?;
        let title = if row.title.is_empty() {
            &row.body
        } else {
            &row.title
        };
        rows.push(Row {
            id,
            title: quote::line(title, 100),
        });
    }
    let done = match (args.undo, args.dry_run) {
        (true, _) => "brought back",
        (_, true) => "would forget",
        _ => {
            let keys: Vec<_> = args.ids.iter().map(|id| id.key()).collect();
            let left = remember::forget(&mut store, &app.data.vectors_db(), &keys, app.now)?;
            if let Some(error) = left {
                screen::remark(format!("its vectors go when the worker next runs: {error}"))?;
            }
            "forgot"
        }
    };
    let done = Report {
        done,
        dry_run: args.dry_run,
        rows,
    };
    screen.show(&done, |screen, done| {
        let mut rows = done.rows.iter();
        rows.try_for_each(|row| writeln!(screen, "{} {}  {}", done.done, row.id, row.title))?;
        if args.undo || args.dry_run {
            return Ok(());
        }
        let ids: Vec<String> = done
            .rows
            .iter()
            .map(|row| format!("'{}'", row.id))
            .collect();
        let ids = ids.join(" ");
        writeln!(
            screen,
            "{QUIET}`claude-mem forget --undo {ids}` brings it back{QUIET:#}"
        )
    })
}
