//! `claude-mem mark`: records feedback on memories.

use std::io::Write as _;

use serde::Serialize;

use super::UsageError;
use super::app::App;
use crate::cli::output::Screen;
use crate::cli::query_args;
use claude_mem_recall::manual_edits;
use claude_mem_recall::manual_edits::{FeedbackSource, Judgement};
use claude_mem_store::RowId;

/// Mark memories as useful, useless or wrong
///
/// Useful memories are shown a little more often, useless ones a little less. A wrong one is never
/// shown again, until `claude-mem edit` corrects it or it is marked as useful; `claude-mem forget`
/// removes it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem mark useful '#12'
  claude-mem mark wrong 12 15")]
pub(super) struct Args {
    /// useful, useless or wrong
    #[arg(value_name = "WORTH", value_parser = parse_judgement)]
    worth: Judgement,
    /// Ids as `search` prints them: #12, S3; only memories (#12) can be wrong
    #[arg(value_name = "ID", required = true)]
    ids: Vec<RowId>,
}

#[derive(Serialize)]
struct MarkReport {
    marked: &'static str,
    ids: Vec<RowId>,
    no_longer_wrong: Vec<RowId>,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let mut store = app.store_to_change()?;
    let from = FeedbackSource { place: "cli", ..FeedbackSource::default() };
    // Look up all ids before marking the first: all or none.
    let ids = query_args::current_rows(&store.read(), &args.ids)?;
    for &handle in &ids {
        if !args.worth.applies_to(handle.kind) {
            return Err(UsageError::error(format!(
                "{handle} is a {}; only memories can be wrong. `claude-mem forget '{handle}'` removes it",
                handle.kind.as_str()
            )));
        }
        let row = store.read().document(handle)?;
        row.ok_or_else(|| query_args::row_not_found(handle))?;
    }
    let back = manual_edits::mark_all(&mut store, &ids, args.worth, &from, app.now)?;
    let done = MarkReport { marked: args.worth.signal().as_str(), ids, no_longer_wrong: back };
    screen.show(&done, |screen, done| {
        let mut ids = done.ids.iter();
        ids.try_for_each(|id| {
            let told = if done.no_longer_wrong.contains(id) { ", no longer wrong" } else { "" };
            writeln!(screen, "marked {id} as {}{told}", done.marked)
        })
    })
}

fn parse_judgement(name: &str) -> Result<Judgement, String> {
    match name {
        "useful" => Ok(Judgement::Useful),
        "useless" => Ok(Judgement::Useless),
        "wrong" => Ok(Judgement::Wrong),
        _ => Err("expected useful, useless or wrong".to_owned()),
    }
}
