//! `claude-mem unpin`: unpins observations.

use super::app::App;
use super::pin;
use crate::cli::output::Screen;
use claude_mem_store::RowId;

/// Unpin memories
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  claude-mem unpin '#12'")]
pub(super) struct Args {
    /// Ids as `search` prints them: #12
    #[arg(value_name = "ID", required = true)]
    ids: Vec<RowId>,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    pin::set_pinned(&args.ids, false, app, screen)
}
