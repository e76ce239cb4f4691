//! `claude-mem recent`: lists the latest observations and summaries.

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use crate::cli::output::{QUIET, Screen};
use crate::cli::query_args;
use crate::cli::query_args::QueryArgs;
use claude_mem_search::{SearchItem, SearchRequest};
use claude_mem_store::RowKind;

/// List the latest memories
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem recent
  claude-mem recent --all-projects --since yesterday
  claude-mem recent --type decision --limit 50")]
pub(super) struct Args {
    #[command(flatten)]
    which: QueryArgs,
}

#[derive(Default, Serialize)]
struct RecentOutput {
    results: Vec<SearchItem>,
    has_more: bool,
    /// The current project, whose name is not repeated on each line.
    #[serde(skip)]
    here: Option<String>,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let mut recent = RecentOutput::default();
    if let Some(mut engine) = query_args::open_engine(app)? {
        let ask = args.which.to_request("", app, &engine.reads())?;
        let kinds = vec![RowKind::Observation, RowKind::Summary];
        let found = engine.search(&SearchRequest { kinds, ..ask })?;
        recent = RecentOutput { results: found.results, has_more: found.has_more, here: found.scope.project };
    } else {
        args.which.check(app, None)?;
    }
    screen.show(&recent, |screen, recent| {
        if recent.results.is_empty() {
            let said = match args.which.offset {
                0 => "nothing found",
                _ => "no more results",
            };
            writeln!(screen, "{said}")?;
            return args.which.print_hints(screen);
        }
        query_args::print_items(screen, &recent.results, recent.here.as_deref())?;
        if recent.has_more {
            writeln!(screen, "{QUIET}more results: use --limit or --offset{QUIET:#}")?;
        }
        Ok(())
    })
}
