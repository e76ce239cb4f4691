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
/// back. `--undo` restores it, until the worker purges it. One that you shared with a team goes from everybody;
/// one that another member shared goes from this machine only.
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
    /// Remove memories of other members from everybody (administrators of a team)
    #[arg(long, conflicts_with_all = ["undo", "dry_run"])]
    for_all: bool,
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
    /// The member of the team who recorded it; absent for one's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    who: Option<String>,
    /// It is shared with a team.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    shared: bool,
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
        let who = match store.read().member_of_row(id)? {
            Some(member) => store.read().member(member)?.map(|member| member.label().to_owned()),
            None => None,
        };
        let shared = store.read().share_of_row(id)?.is_some_and(|share| share.rev > 0);
        rows.push(ForgottenRow { id, title: quote::line(title, 100), who, shared });
    }
    if args.for_all {
        drop(store);
        super::team::remove_for_all(app, &ids)?;
        store = app.store_to_change()?;
    }
    let done = match (args.undo, args.dry_run) {
        _ if args.for_all => "removed for everybody",
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
        rows.try_for_each(|row| {
            let reach = match (&row.who, row.shared) {
                (Some(who), _) if !args.for_all && !args.undo => {
                    format!("  (of {who}; from this machine only)")
                }
                (None, true) if !args.undo => "  (shared: from everybody)".to_owned(),
                _ => String::new(),
            };
            writeln!(screen, "{} {}  {}{QUIET}{reach}{QUIET:#}", done.done, row.id, row.title)
        })?;
        if args.undo || args.dry_run || args.for_all {
            return Ok(());
        }
        let ids: Vec<String> = done.rows.iter().map(|row| format!("'{}'", row.id)).collect();
        let ids = ids.join(" ");
        writeln!(screen, "{QUIET}undo: `claude-mem forget --undo {ids}`{QUIET:#}")
    })
}
