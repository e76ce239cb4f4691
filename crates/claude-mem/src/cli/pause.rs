//! `claude-mem pause`: look away for a while.

use std::io::Write as _;

use anyhow::Context as _;

use super::app::App;
use super::screen::Screen;
use super::words;
use crate::pause::{self, Pause};

/// Keep nothing until `resume`, or for a while
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem pause          until `claude-mem resume`
  claude-mem pause 30m      for half an hour

For one session only, start it with CLAUDE_MEM_DISABLED=1; for one project for good, see
`claude-mem config set ignore_projects`. Memory is still given to sessions while it is paused.")]
pub(super) struct Args {
    /// How long, as 30m, 2h or 1d; without it, until `claude-mem resume`
    #[arg(value_name = "DURATION", value_parser = words::duration_seconds)]
    seconds: Option<i64>,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let pause = Pause {
        since: Some(app.now),
        until: args.seconds.map(|seconds| app.now.plus_seconds(seconds)),
    };
    let path = app.data.paused();
    app.data
        .create()
        .and_then(|()| pause::begin(&path, pause))
        .with_context(|| format!("cannot write {}", path.display()))?;
    screen.show(
        &super::status::Paused::of(Some(pause)),
        |screen, _| match pause.until {
            Some(until) => writeln!(screen, "paused until {}", words::local(until)),
            None => writeln!(screen, "paused until `claude-mem resume`"),
        },
    )
}
