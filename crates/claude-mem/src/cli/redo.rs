//! `claude-mem redo`: makes the memories of past sessions anew, by the rules of this version.

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use super::import::run_import::run_import;
use super::{UsageError, import, project};
use crate::cli::format;
use crate::cli::output::{QUIET, Screen};
use claude_mem_core::ids::ClientSessionId;
use claude_mem_transfer::import::ImportReport;
use claude_mem_transfer::import::SourceTrust;
use claude_mem_transfer::import::transcripts::{RedoRequest, RedoSummary, redo_sessions};

/// Make the memories of past sessions anew, from their transcripts
///
/// Sessions whose transcripts are still there are distilled again. What you edited, pinned or marked stays,
/// what you forgot does not return, and old numbers lead to the new memories. It can be interrupted and run
/// again; `claude-mem import undo RUN` restores the memories as they were.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem redo --local --dry-run            show what would change
  claude-mem redo --local --project website
  claude-mem redo --local --session 0d5c0ab2-6c5e-4f0a-9d53-6a1e2b7f4c11
  claude-mem import list                       list runs, to undo one")]
pub(super) struct Args {
    /// Without a model
    #[arg(long)]
    local: bool,
    /// Only this project: name, id or directory
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Only this session, by its client's id
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Show what would change and change nothing
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
    if !args.local {
        return Err(UsageError::error("say how: --local makes memories without a model"));
    }
    let vocabulary = app.vocabulary();
    let mut summary = RedoSummary::default();
    let report = run_import(app, args.dry_run, SourceTrust::Own, |store, around| {
        let reads = store.read();
        let project = args.project.as_deref().map(|named| project::find(&reads, named)).transpose()?;
        let wanted = RedoRequest {
            project: project.map(|project| project.id),
            session: args.session.clone().map(ClientSessionId),
            data: &app.data,
            vocabulary: &vocabulary,
            now: app.now,
        };
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
        for (_, tally) in &shown.report.kinds {
            for (why, count) in &tally.skipped {
                writeln!(screen, "{QUIET}left as they are: {count} ({}){QUIET:#}", why.description())?;
            }
        }
        match shown.report.run {
            Some(run) => writeln!(screen, "{QUIET}undo: `claude-mem import undo {run}`{QUIET:#}"),
            None => Ok(()),
        }
    })
}
