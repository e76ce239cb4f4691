//! `claude-mem forget`: removes memories, or restores forgotten ones.

mod selection;

use std::io::Write as _;

use serde::Serialize;

use super::UsageError;
use super::app::App;
use crate::cli::format::count;
use crate::cli::output;
use crate::cli::output::{QUIET, Screen};
use crate::cli::query_args;
use claude_mem_recall::manual_edits;
use claude_mem_recall::quote;
use claude_mem_recall::siblings::find_siblings;
use claude_mem_store::{IndexedDocument, RowId, Store};
use selection::SelectionArgs;

/// Forget memories; this can be undone for a while
///
/// A forgotten memory disappears from search and from new sessions at once, and no import brings it
/// back. The same words may be stored elsewhere, for example in the prompt, the summary and the agent's
/// reply: these are listed, and `--siblings` forgets them too. `--undo` restores rows, until the worker
/// purges them. One that you shared with a team goes from everybody; one that another member shared goes from
/// this machine only.
///
/// With `--project`, `--session`, `--words`, `--since` or `--until` instead of ids, everything that fits all of
/// them is forgotten: memories, summaries, accounts, prompts and replies. Without `--yes` it is only listed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem forget --dry-run '#12' S3     show what would be forgotten
  claude-mem forget '#12' S3
  claude-mem forget --siblings '#12'       and every row that says the same
  claude-mem forget --undo '#12'
  claude-mem forget --words 'client acme' --project shop
  claude-mem forget --session A4 --yes     everything of one session
  claude-mem forget --undo-last            restore all that the last command has forgotten")]
#[allow(clippy::struct_excessive_bools, reason = "one per option")]
pub(super) struct Args {
    /// Ids as `search` prints them: #12, S3, P7, M9, A4
    #[arg(value_name = "ID")]
    ids: Vec<RowId>,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Forget the rows that repeat the same sentences as well
    #[arg(long, conflicts_with = "undo")]
    siblings: bool,
    /// Restore forgotten memories
    #[arg(long)]
    undo: bool,
    /// Restore everything that was forgotten last
    #[arg(long, conflicts_with_all = ["ids", "undo", "siblings", "dry_run"])]
    undo_last: bool,
    /// Show what would be forgotten and change nothing
    #[arg(long, conflicts_with = "undo")]
    dry_run: bool,
    /// Forget all that the options select, without listing it first
    #[arg(long)]
    yes: bool,
    /// Remove memories of other members from everybody (administrators of a team)
    #[arg(long, conflicts_with_all = ["undo", "undo_last", "dry_run"])]
    for_all: bool,
}

#[derive(Serialize)]
struct ForgetReport {
    done: &'static str,
    dry_run: bool,
    rows: Vec<ForgetReportRow>,
    /// Other rows that say the same and are still there.
    siblings: Vec<ForgetReportRow>,
}

#[derive(Serialize)]
struct ForgetReportRow {
    id: RowId,
    title: String,
    /// The member of the team who recorded it; absent for the user's own rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    who: Option<String>,
    /// It is shared with a team.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    shared: bool,
}

/// Report line for memories that an administrator retracted from all members.
const REMOVED_FOR_ALL: &str = "removed for everybody";
/// Rows of a selection that are listed.
const LISTED_ROWS_MAX: usize = 20;

impl ForgetReportRow {
    fn new(row: &IndexedDocument) -> Self {
        let title = if row.title.is_empty() { &row.body } else { &row.title };
        Self {
            id: RowId::new(row.kind, row.row_id),
            title: quote::line(title, 100),
            who: None,
            shared: false,
        }
    }

    fn load(store: &Store, id: RowId) -> anyhow::Result<Self> {
        let row = store.read().document(id)?;
        let row = Self::new(&row.ok_or_else(|| query_args::row_not_found(id))?);
        let who = match store.read().member_of_row(id)? {
            Some(member) => store.read().member(member)?.map(|member| member.label().to_owned()),
            None => None,
        };
        let shared = store.read().share_of_row(id)?.is_some_and(|share| share.rev > 0);
        Ok(Self { who, shared, ..row })
    }

    /// Where the row goes from, if it is part of a team's memory.
    fn reach(&self) -> String {
        match (&self.who, self.shared) {
            (Some(who), _) => format!("  (of {who}; from this machine only)"),
            (None, true) => "  (shared: from everybody)".to_owned(),
            _ => String::new(),
        }
    }
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    match (args.selection.is_empty(), args.ids.is_empty(), args.undo_last) {
        (true, true, false) => {
            return Err(UsageError::error(
                "name ids, or select memories with --project, --session, --words, --since or --until",
            ));
        }
        (false, false, _) => {
            return Err(UsageError::error(
                "give either ids or --project, --session, --words, --since and --until",
            ));
        }
        (false, _, _) if args.undo || args.undo_last => {
            return Err(UsageError::error(
                "a selection cannot be restored; use --undo with ids, or --undo-last",
            ));
        }
        _ => {}
    }
    let mut store = app.store_to_change()?;
    let report =
        if args.undo || args.undo_last { restore(args, &mut store)? } else { forget(args, app, &mut store)? };
    drop(store);
    if report.done == REMOVED_FOR_ALL {
        let ids: Vec<RowId> = report.rows.iter().map(|row| row.id).collect();
        super::team::remove_for_all(app, &ids)?;
    }
    screen.show(&report, |screen, report| print(args, screen, report))
}

fn restore(args: &Args, store: &mut Store) -> anyhow::Result<ForgetReport> {
    let ids = if args.undo_last {
        let ids = store.read().last_forgotten()?;
        anyhow::ensure!(!ids.is_empty(), "nothing was forgotten, or it was purged");
        ids
    } else {
        query_args::current_rows(&store.read(), &args.ids)?
    };
    let mut rows = Vec::new();
    for id in ids {
        if manual_edits::undo_forget(store, id)? {
            rows.push(ForgetReportRow::load(store, id)?);
        } else {
            anyhow::ensure!(args.undo_last, "cannot restore {id}: it was not forgotten, or it was purged");
            output::print_note(format!("cannot restore {id}: its project or its session is gone"))?;
        }
    }
    Ok(ForgetReport { done: "brought back", dry_run: false, rows, siblings: Vec::new() })
}

fn forget(args: &Args, app: &App, store: &mut Store) -> anyhow::Result<ForgetReport> {
    let mut ids = if args.selection.is_empty() {
        query_args::current_rows(&store.read(), &args.ids)?
    } else {
        args.selection.rows(app, &store.read())?
    };
    let mut rows =
        ids.iter().map(|id| ForgetReportRow::load(store, *id)).collect::<anyhow::Result<Vec<_>>>()?;
    // A selection by words contains them already; to compare all rows of a project would take long.
    let has_siblings = args.siblings || args.selection.is_empty();
    let mut siblings: Vec<ForgetReportRow> = if has_siblings {
        find_siblings(&store.read(), &ids)?.iter().map(ForgetReportRow::new).collect()
    } else {
        Vec::new()
    };
    if args.siblings {
        ids.extend(siblings.iter().map(|row| row.id));
        rows.append(&mut siblings);
    }
    let dry_run = args.dry_run || !(args.selection.is_empty() || args.yes);
    if dry_run {
        return Ok(ForgetReport { done: "would forget", dry_run, rows, siblings });
    }
    if args.for_all {
        return Ok(ForgetReport { done: REMOVED_FOR_ALL, dry_run, rows, siblings: Vec::new() });
    }
    if let Some(error) = manual_edits::forget(store, &app.data.vectors_db(), &ids, app.now)? {
        output::print_note(format!("the worker will delete the vectors later: {error}"))?;
    }
    Ok(ForgetReport { done: "forgot", dry_run, rows, siblings })
}

fn print(args: &Args, screen: &mut Screen, report: &ForgetReport) -> std::io::Result<()> {
    let is_bulk = !args.selection.is_empty() || args.undo_last;
    if is_bulk && report.rows.is_empty() {
        return writeln!(screen, "nothing fits");
    }
    let listed = if is_bulk { LISTED_ROWS_MAX } else { usize::MAX };
    for row in report.rows.iter().take(listed) {
        let reach =
            if matches!(report.done, "forgot" | "would forget") { row.reach() } else { String::new() };
        writeln!(screen, "{} {}  {}{QUIET}{reach}{QUIET:#}", report.done, row.id, row.title)?;
    }
    if let Some(more) = report.rows.len().checked_sub(listed).filter(|more| *more > 0) {
        let rows = count(report.rows.len() as u64, "row");
        writeln!(screen, "{QUIET}and {more} more: {} {rows} in all{QUIET:#}", report.done)?;
    }
    let quoted = |rows: &[ForgetReportRow]| {
        let ids: Vec<String> = rows.iter().map(|row| format!("'{}'", row.id)).collect();
        ids.join(" ")
    };
    if report.dry_run {
        let again = if is_bulk && !args.dry_run { "to forget it, add --yes" } else { "nothing was changed" };
        writeln!(screen, "{QUIET}{again}{QUIET:#}")?;
    } else if report.done == "forgot" {
        let undo =
            if is_bulk { "--undo-last".to_owned() } else { format!("--undo {}", quoted(&report.rows)) };
        writeln!(screen, "{QUIET}undo: `claude-mem forget {undo}`{QUIET:#}")?;
    }
    if report.siblings.is_empty() {
        return Ok(());
    }
    writeln!(screen, "the same is still said in:")?;
    for row in &report.siblings {
        writeln!(screen, "  {}  {}", row.id, row.title)?;
    }
    let ids = quoted(&report.siblings);
    writeln!(screen, "{QUIET}forget these too: `claude-mem forget {ids}`{QUIET:#}")
}
