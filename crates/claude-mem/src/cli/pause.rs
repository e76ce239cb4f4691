//! `claude-mem pause`: stops recording, for a while or until `resume`.

use std::io::Write as _;

use anyhow::Context as _;

use super::app::App;
use crate::cli::format;
use crate::cli::output::Screen;
use claude_mem_core::pause;
use claude_mem_core::pause::CapturePause;

/// Stop recording, for a while or until `resume`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem pause          until `claude-mem resume`
  claude-mem pause 30m      for half an hour

To skip one session, start it with CLAUDE_MEM_DISABLED=1. To ignore a project, use
`claude-mem config set ignore_projects`. Sessions still get context while recording is paused.")]
pub(super) struct Args {
    /// Duration such as 30m, 2h or 1d (default: until `claude-mem resume`)
    #[arg(value_name = "DURATION", value_parser = format::duration_seconds)]
    seconds: Option<i64>,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let pause = CapturePause {
        since: Some(app.now),
        until: args.seconds.map(|seconds| app.now.plus_seconds(seconds)),
    };
    let path = app.data.paused();
    app.data
        .create()
        .and_then(|()| pause::begin(&path, pause))
        .with_context(|| format!("cannot write {}", path.display()))?;
    screen.show(&super::status::PauseReport::to_json(Some(pause)), |screen, _| match pause.until {
        Some(until) => writeln!(screen, "paused until {}", format::local_time(until)),
        None => writeln!(screen, "paused until `claude-mem resume`"),
    })
}
