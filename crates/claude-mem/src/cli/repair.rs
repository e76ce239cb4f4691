//! `claude-mem repair`: rewrites hooks and tools after an update of the client or of claude-mem.

use super::app::App;
use super::install::{self, InstallOptions};
use crate::cli::output::Screen;

/// Rewrite hooks and tools of all registered agents for their installed versions, and check that they work
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem repair             after an update of an agent, or if memory stopped working
  claude-mem repair --dry-run

It asks nothing and changes no settings. `claude-mem doctor` shows what is wrong.")]
pub(super) struct Args {
    /// Show what would be done and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    // `None`, the user, sorts first: only a user-wide installation can be a plugin.
    let places = install::registered_places(app)?;
    anyhow::ensure!(
        !places.is_empty(),
        "the projects with registered hooks no longer exist; run `claude-mem install`"
    );
    let mut places = places.into_iter();
    let wish = InstallOptions {
        dry_run: args.dry_run,
        project: places.next().flatten(),
        other_places: places.collect(),
        keep_settings: true,
        ..InstallOptions::default()
    };
    install::perform(wish, app, screen)
}
