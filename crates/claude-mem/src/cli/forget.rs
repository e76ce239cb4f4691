//! `claude-mem forget`: removes memories, or restores forgotten ones.

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use crate::cli::output;
use crate::cli::output::{QUIET, Screen};
use crate::cli::query_args;
use claude_mem_recall::manual_edits;
use claude_mem_recall::quote;
use claude_mem_store::RowId;

/// Forget memories; this can be undone for a while
///
/// A forgotten memory disappears from search and from new sessions at once, and no import brings it
/// back. `--undo` restores it, until the worker purges it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem forget --dry-run '#12' S3     show what would be forgotten
  claude-mem forget '#12' S3
  claude-mem forget --undo '#12'")]
pub(super) struct Args {
    /// Ids as `search` prints them: #12, S3, P7, M9, A4
    #[arg(value_name = "ID", required = true)]
    ids: Vec<RowId>,
    /// Restore forgotten memories
    #[arg(long)]
    undo: bool,
    /// Show what would be forgotten and change nothing
    #[arg(long, conflicts_with = "undo")]
    dry_run: bool,
}

#[derive(Serialize)]
struct ForgetReport {
    done: &'static str,
    dry_run: bool,
    rows: Vec<ForgottenRow>,
}

#[derive(Serialize)]
struct ForgottenRow {
    id: RowId,
    title: String,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let mut store = app.store_to_change()?;
    let mut rows = Vec::new();
    let ids = query_args::current_rows(&store.read(), &args.ids)?;
    for &id in &ids {
        if args.undo && !manual_edits::undo_forget(&mut store, id)? {
            anyhow::bail!("cannot restore {id}: it was not forgotten, or it was purged");
        }
        let row = store.read().document(id)?;
        let row = row.ok_or_else(|| query_args::row_not_found(id))?;
        let title = if row.title.is_empty() { &row.body } else { &row.title };
        rows.push(ForgottenRow { id, title: quote::line(title, 100) });
    }
    let done = match (args.undo, args.dry_run) {
        (true, _) => "brought back",
        (_, true) => "would forget",
        _ => {
            let left = manual_edits::forget(&mut store, &app.data.vectors_db(), &ids, app.now)?;
            if let Some(error) = left {
                output::print_note(format!("the worker will delete the vectors later: {error}"))?;
            }
            "forgot"
        }
    };
    let done = ForgetReport { done, dry_run: args.dry_run, rows };
    screen.show(&done, |screen, done| {
        let mut rows = done.rows.iter();
        rows.try_for_each(|row| writeln!(screen, "{} {}  {}", done.done, row.id, row.title))?;
        if args.undo || args.dry_run {
            return Ok(());
        }
        let ids: Vec<String> = done.rows.iter().map(|row| format!("'{}'", row.id)).collect();
        let ids = ids.join(" ");
        writeln!(screen, "{QUIET}undo: `claude-mem forget --undo {ids}`{QUIET:#}")
    })
}
