//! `claude-mem team serve`: starts the team server, which is an executable of its own.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use super::super::app::App;
use super::super::output::Screen;
use claude_mem_core::paths::find_on_path;

/// The executable of the team server.
const SERVER_PROGRAM: &str = "claude-mem-team";

/// Run the server of a team, in front of PostgreSQL 13 or newer
///
/// Starts `claude-mem-team serve`, which is a program of its own, with these arguments. See docs/team.md.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(super) struct ServeArgs {
    /// Arguments of the server; --help shows them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    rest: Vec<OsString>,
}

/// Becomes the server's process. Returns only on failure.
pub(super) fn run(args: &ServeArgs, app: &App, screen: &Screen) -> anyhow::Result<()> {
    let own = std::env::current_exe().context("cannot determine the path of this executable")?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let program = find_server(&own, &path).with_context(|| {
        format!(
            "{SERVER_PROGRAM} is not installed: looked beside {} and on the PATH. The server is a package of its \
             own, claude-mem-native-team; from a checkout, `cargo xtask install --team` installs it",
            own.display()
        )
    })?;
    #[allow(clippy::disallowed_methods, reason = "it replaces this process and is no child")]
    let mut command = Command::new(&program);
    command.arg("serve").arg("--data-dir").arg(app.data.root());
    if screen.json {
        command.arg("--json");
    }
    // Of an option that is repeated, the server takes the last.
    let error = command.args(&args.rest).exec();
    Err(error).with_context(|| format!("cannot start {}", program.display()))
}

/// The server beside this executable, or the first in these directories.
fn find_server(own: &Path, search_path: &OsStr) -> Option<PathBuf> {
    let beside = own.with_file_name(SERVER_PROGRAM);
    if beside.is_file() { Some(beside) } else { find_on_path(search_path, SERVER_PROGRAM) }
}
