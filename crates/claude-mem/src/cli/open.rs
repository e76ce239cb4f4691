//! `claude-mem open`: the viewer, in a browser.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::bail;
use serde::Serialize;

use super::app::App;
use super::screen::Screen;
use super::worker;
use crate::serve::client;

/// Open the viewer in your browser
///
/// Starts the worker if none runs. The link works once and for ten minutes; whoever has it can see
/// what is remembered, so do not pass it on.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem open
  claude-mem open --print      over ssh: forward the port, then open the link yourself")]
pub(super) struct Args {
    /// Print the link instead
    #[arg(long)]
    print: bool,
}

#[derive(Serialize)]
struct Opened {
    link: String,
    /// A browser has it.
    opened: bool,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    worker::ensure(app)?;
    let asked = client::ask(
        &worker::socket_of(app),
        "open",
        Some(Duration::from_secs(5)),
    )?;
    let link = match asked {
        Some(link) if link.starts_with("http://") => link,
        Some(why) => bail!("{why}"),
        None => bail!("the worker ended; try again"),
    };
    let may = !args.print && !screen.json && app.settings().settings.viewer_open;
    let opened = may && has_screen() && browse(&link);
    screen.show(&Opened { link, opened }, |screen, opened| {
        if opened.opened {
            writeln!(screen, "the viewer is opening in your browser")
        } else {
            writeln!(screen, "{}", opened.link)
        }
    })
}

/// Whether a browser would have somewhere to show itself.
fn has_screen() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"]
            .into_iter()
            .any(is_set)
}

/// True if something took the link.
#[allow(
    clippy::disallowed_methods,
    reason = "a browser must outlive the command that opens it"
)]
fn browse(link: &str) -> bool {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let ended = Command::new(opener)
        .arg(link)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    ended.is_ok_and(|status| status.success())
}
