//! `claude-mem token`: what programs show to the HTTP API.

use std::io::Write as _;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::json;

use super::app::App;
use super::screen::Screen;
use super::worker;
use crate::serve::client;
use crate::serve::http::keys;

/// Find or renew the token that programs show to the HTTP API
///
/// It lies in a file that only you can read. It is never printed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem token path
  claude-mem token rotate      the old one is void at once; open pages stay open
  curl -H \"X-Claude-Mem-Token: $(cat ~/.claude-mem/token)\" http://127.0.0.1:37700/api/stats")]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Where the file is; one is made if there is none
    Path,
    /// Make a new one
    Rotate,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let file = app.data.token();
    app.data.create()?;
    let rotated = matches!(args.action, Action::Rotate);
    if rotated {
        let patience = Some(Duration::from_secs(5));
        // A running worker has the old one in memory: it makes the new one.
        match client::ask(&worker::socket_of(app), "rotate", patience)? {
            Some(told) if told == "rotated" => {}
            Some(why) => bail!("{why}"),
            None => {
                keys::rotate_file(&file).with_context(|| file.display().to_string())?;
            }
        }
    } else {
        keys::read_or_make(&file).with_context(|| file.display().to_string())?;
    }
    screen.show(&json!({ "path": file, "rotated": rotated }), |screen, _| {
        if rotated {
            writeln!(screen, "a new token is in {}", file.display())
        } else {
            writeln!(screen, "{}", file.display())
        }
    })
}
