//! `claude-mem team`: memory that several machines and people share.

mod serve;

use super::app::App;
use super::output::Screen;

/// Share memory between machines and people, through your own server
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem team serve --trial          try the server with a PostgreSQL of this machine
  claude-mem team serve --database postgres://claude_mem@db/claude_mem \\
      --listen 0.0.0.0:7700 --cert c.pem --key k.pem --public-url https://mem.acme.dev:7700")]
pub(super) struct Args {
    #[command(subcommand)]
    action: TeamAction,
}

#[derive(Debug, clap::Subcommand)]
enum TeamAction {
    /// Run the server of a team, in front of PostgreSQL
    Serve(serve::Args),
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    match &args.action {
        TeamAction::Serve(args) => serve::run(args, app, screen),
    }
}
