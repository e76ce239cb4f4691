//! `claude-mem recent`: lists the latest observations and summaries.

use std::io::Write as _;

use super::app::App;
use crate::cli::output::{QUIET, Screen};
use crate::cli::query_args;
use crate::cli::query_args::QueryArgs;
use claude_mem_search::SearchRequest;
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

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let (mut results, mut has_more, mut here) = (Vec::new(), false, None);
    if let Some(mut engine) = query_args::open_engine(app)? {
        let ask = args.which.to_request("", app, &engine.reads())?;
        let kinds = vec![RowKind::Observation, RowKind::Summary];
        let found = engine.search(&SearchRequest { kinds, ..ask })?;
        (results, has_more, here) = (found.results, found.has_more, found.scope.project);
    }
    screen.show(&results, |screen, results| {
        if results.is_empty() {
            let said = match args.which.offset {
                0 => "nothing found",
                _ => "no more results",
            };
            writeln!(screen, "{said}")?;
            return args.which.print_hints(screen);
        }
        query_args::print_items(screen, results, here.as_deref())?;
        if has_more {
            writeln!(screen, "{QUIET}more results: use --limit or --offset{QUIET:#}")?;
        }
        Ok(())
    })
}
