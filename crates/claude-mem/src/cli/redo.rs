//! `claude-mem redo`: makes the memories of past sessions anew, by the rules of this version.

mod selection;
mod with_model;

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use super::import::run_import::run_import;
use super::{UsageError, import};
use crate::cli::format;
use crate::cli::output::{QUIET, Screen};
use claude_mem_transfer::import::ImportReport;
use claude_mem_transfer::import::SourceTrust;
use claude_mem_transfer::import::transcripts::{RedoSummary, redo_sessions};
use selection::{SessionSelection, print_skipped};
use with_model::ModelArgs;

/// Make the memories of past sessions anew, from their transcripts
///
/// Sessions whose transcripts are still there are distilled again, with `--local` by the rules of this version,
/// with `--provider` by a model. What you edited, pinned or marked stays, what you forgot does not return, and old
/// numbers lead to the new memories. It can be interrupted and run again; `claude-mem import undo RUN` restores
/// the memories as they were.
///
/// A model costs tokens: the expected cost is shown first, and nothing is spent without your consent or beyond
/// the settings budget_tokens_per_day and budget_tokens_per_session. When the budget of the day is used up, the
/// same command goes on the next day where it stopped. Sessions that a model has written are left as they are.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem redo --local --dry-run            show what would change
  claude-mem redo --local --project website
  claude-mem redo --local --session 0d5c0ab2-6c5e-4f0a-9d53-6a1e2b7f4c11
  claude-mem redo --provider claude --dry-run  show what a model would cost
  claude-mem redo --provider openai --model gpt-5-mini --project website --yes
  claude-mem import list                       list runs, to undo one")]
pub(super) struct Args {
    /// Without a model
    #[arg(long, conflicts_with = "provider")]
    local: bool,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    selection: SessionSelection,
    /// Show what would change, or what a model would cost, and change nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct RedoReport<'r> {
    dry_run: bool,
    #[serde(flatten)]
    summary: &'r RedoSummary,
    report: &'r ImportReport,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    if let Some(provider) = &args.model.provider {
        return with_model::run(&args.model, provider, &args.selection, args.dry_run, app, screen);
    }
    if !args.local {
        return Err(UsageError::error(
            "say how: --local makes memories without a model, --provider NAME with one",
        ));
    }
    let vocabulary = app.vocabulary();
    let mut summary = RedoSummary::default();
    let report = run_import(app, args.dry_run, SourceTrust::Own, |store, around| {
        let wanted = args.selection.request(store, app, &vocabulary)?;
        let (report, done) = redo_sessions(store, around, &wanted, &mut import::progress::for_rows())?;
        summary = done;
        Ok(report)
    })?;
    let shown = RedoReport { dry_run: args.dry_run, summary: &summary, report: &report };
    screen.show(&shown, |screen, shown| {
        let verb = if shown.dry_run { "would distil" } else { "distilled" };
        let sessions = format::count(shown.summary.sessions, "session");
        let (before, after) = (shown.summary.observations_before, shown.summary.observations_after);
        writeln!(screen, "{verb} {sessions} anew: {before} memories before, {after} after")?;
        writeln!(screen, "{} with an account", format::count(shown.summary.accounts, "session"))?;
        print_skipped(screen, shown.report)?;
        match shown.report.run {
            Some(run) => writeln!(screen, "{QUIET}undo: `claude-mem import undo {run}`{QUIET:#}"),
            None => Ok(()),
        }
    })
}
