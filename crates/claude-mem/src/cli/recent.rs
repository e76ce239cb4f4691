//! `claude-mem recent`: what happened last.

use std::io::Write as _;

use super::app::App;
use super::looking::{self, Which};
use super::screen::{QUIET, Screen};
use crate::search::Ask;
use crate::store::RowKind;

/// List the latest memories
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem recent
  claude-mem recent --all-projects --since yesterday
  claude-mem recent --type decision --limit 50")]
pub(super) struct Args {
    #[command(flatten)]
    which: Which,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let (mut results, mut has_more, mut here) = (Vec::new(), false, None);
    if let Some(mut engine) = looking::engine(app)? {
        let ask = args.which.ask("", app, &engine.reads())?;
        let kinds = vec![RowKind::Observation, RowKind::Summary];
        let found = engine.search(&Ask { kinds, ..ask })?;
        (results, has_more, here) = (found.results, found.has_more, found.scope.project);
    }
    screen.show(&results, |screen, results| {
        if results.is_empty() {
            let said = match args.which.offset {
                0 => "nothing yet",
                _ => "nothing further",
            };
            writeln!(screen, "{said}")?;
            return args.which.say_what_to_try(screen);
        }
        looking::say_items(screen, results, here.as_deref())?;
        if has_more {
            writeln!(screen, "{QUIET}there is more: --limit, --offset{QUIET:#}")?;
        }
        Ok(())
    })
}
