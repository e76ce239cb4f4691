//! `claude-mem repair`: put right what an update of the client or of us has left behind.

use super::app::App;
use super::install::{self, Wish};
use super::screen::Screen;

/// Write hooks and tools anew for the client that is here now, and check that all works
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem repair             after an update of Claude Code, or if memory stopped working
  claude-mem repair --dry-run

It asks nothing and changes no setting of yours. `claude-mem doctor` says what is wrong first.")]
pub(super) struct Args {
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    // The user's own place sorts first, and only that one may be a plugin.
    let places = install::registered(app)?;
    anyhow::ensure!(
        !places.is_empty(),
        "the projects that hooks were registered for are gone; `claude-mem install` registers them anew"
    );
    let mut places = places.into_iter();
    let wish = Wish {
        dry_run: args.dry_run,
        project: places.next().flatten(),
        also: places.collect(),
        keep_settings: true,
        ..Wish::default()
    };
    install::perform(wish, app, screen)
}
