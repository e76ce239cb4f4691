//! `claude-mem version`: prints the versions of the program, the schema and SQLite.

use std::io::Write as _;

use super::app::App;
use crate::cli::output::Screen;
use claude_mem_store::{SCHEMA_VERSION, sqlite_version};

/// Show the version
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  claude-mem version --json")]
pub(super) struct Args {}

#[derive(serde::Serialize)]
struct VersionInfo {
    version: &'static str,
    schema: u32,
    sqlite: &'static str,
}

pub(super) fn run(_args: &Args, _app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let about =
        VersionInfo { version: env!("CARGO_PKG_VERSION"), schema: SCHEMA_VERSION, sqlite: sqlite_version() };
    screen.show(&about, |screen, v| {
        writeln!(screen, "claude-mem {} (schema {}, SQLite {})", v.version, v.schema, v.sqlite)
    })
}
