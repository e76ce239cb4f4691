//! `claude-mem recent`: what happened last.

use std::io::Write as _;

use super::app::App;
use super::looking::{self, Which};
use super::screen::Screen;
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
    let mut results = Vec::new();
    if let Some(mut engine) = looking::engine(app)? {
        let ask = args.which.ask("", app, &engine.reads())?;
        let kinds = vec![RowKind::Observation, RowKind::Summary];
        results = engine.search(&Ask { kinds, ..ask })?.results;
    }
    screen.show(&results, |screen, results| {
        if results.is_empty() {
            return writeln!(screen, "nothing yet");
        }
        let mixed = results.iter().any(|item| item.project != results[0].project);
        looking::say_items(screen, results, mixed)
    })
}
