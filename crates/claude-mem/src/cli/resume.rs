//! `claude-mem resume`: look again.

use std::io::Write as _;

use anyhow::Context as _;

use super::app::App;
use super::screen::Screen;
use super::status::Paused;
use crate::pause;

/// End a pause
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  claude-mem resume")]
pub(super) struct Args {}

pub(super) fn run(_args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let path = app.data.paused();
    let held = pause::in_force(&path, app.now).is_some();
    pause::end(&path).with_context(|| format!("cannot remove {}", path.display()))?;
    screen.show(&Paused::of(None), |screen, _| {
        writeln!(
            screen,
            "{}",
            if held { "resumed" } else { "it was not paused" }
        )
    })
}
