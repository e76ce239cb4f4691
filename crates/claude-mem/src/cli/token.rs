//! `claude-mem token`: the path and rotation of the HTTP API token.

use std::io::Write as _;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::json;

use super::app::App;
use super::worker;
use crate::cli::output::Screen;
use claude_mem_capture::ipc::client;
use claude_mem_worker::{read_or_create_token, rotate_token_file};

/// Show the path of the HTTP API token, or rotate it
///
/// The token is in a file that only you can read. It is never printed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem token path
  claude-mem token rotate      the old token stops working at once; open pages keep working
  curl -H \"X-Claude-Mem-Token: $(cat ~/.claude-mem/token)\" http://127.0.0.1:37700/api/stats")]
pub(super) struct Args {
    #[command(subcommand)]
    action: TokenAction,
}

#[derive(Debug, clap::Subcommand)]
enum TokenAction {
    /// Print the path of the token file, creating it if needed
    Path,
    /// Replace the token
    Rotate,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let file = app.data.token();
    app.data.create()?;
    let rotated = matches!(args.action, TokenAction::Rotate);
    if rotated {
        let patience = Some(Duration::from_secs(5));
        // A running worker caches the token, so it creates the new one.
        match client::send_request(&worker::socket_path(app), "rotate", patience)? {
            Some(told) if told == "rotated" => {}
            Some(why) => bail!("{why}"),
            None => {
                rotate_token_file(&file).with_context(|| file.display().to_string())?;
            }
        }
    } else {
        read_or_create_token(&file).with_context(|| file.display().to_string())?;
    }
    screen.show(&json!({ "path": file, "rotated": rotated }), |screen, _| {
        if rotated {
            writeln!(screen, "new token in {}", file.display())
        } else {
            writeln!(screen, "{}", file.display())
        }
    })
}
