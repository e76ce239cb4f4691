//! `claude-mem version`: what runs, and what it reads and writes.

use std::io::Write as _;

use super::app::App;
use super::screen::Screen;
use crate::store::SCHEMA_VERSION;

/// Say which version this is
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  claude-mem version --json")]
pub(super) struct Args {}

#[derive(serde::Serialize)]
struct About {
    version: &'static str,
    schema: u32,
    sqlite: &'static str,
}

pub(super) fn run(_args: &Args, _app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let about = About {
        version: env!("CARGO_PKG_VERSION"),
        schema: SCHEMA_VERSION,
        sqlite: rusqlite::version(),
    };
    screen.show(&about, |screen, v| {
        writeln!(
            screen,
            "claude-mem {} (schema {}, SQLite {})",
            v.version, v.schema, v.sqlite
        )
    })
}
