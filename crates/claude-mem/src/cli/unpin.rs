//! `claude-mem unpin`: the other half of `pin`.

use super::app::App;
use super::pin;
use super::screen::Screen;
use crate::search::Handle;

/// Let pinned memories go
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  claude-mem unpin '#12'")]
pub(super) struct Args {
    /// Ids as `search` prints them: #12
    #[arg(value_name = "ID", required = true)]
    ids: Vec<Handle>,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    pin::set(&args.ids, false, app, screen)
}
