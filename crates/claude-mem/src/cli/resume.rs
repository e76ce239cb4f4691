//! `claude-mem resume`: ends a pause.

use std::io::Write as _;

use anyhow::Context as _;

use super::app::App;
use super::status::PauseReport;
use crate::cli::output::Screen;
use claude_mem_core::pause;

/// Resume recording after a pause
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  claude-mem resume")]
pub(super) struct Args {}

pub(super) fn run(_args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let path = app.data.paused();
    let held = pause::active_pause(&path, app.now).is_some();
    pause::end(&path).with_context(|| format!("cannot remove {}", path.display()))?;
    screen.show(&PauseReport::to_json(None), |screen, _| {
        writeln!(screen, "{}", if held { "resumed" } else { "not paused" })
    })
}
