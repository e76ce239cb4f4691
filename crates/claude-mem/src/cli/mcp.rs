//! `claude-mem mcp`: memory as tools for an agent, over stdio.

use std::io;

use super::app::App;
use super::screen::Screen;
use crate::clock;
use crate::mcp::{self, memory::Memory};
use crate::project;

/// Serve memory to an agent as MCP tools, over stdin and stdout
///
/// A client starts this by itself; `claude-mem install` tells it how.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude mcp add --scope user claude-mem -- claude-mem mcp")]
pub(super) struct Args {}

pub(super) fn run(_args: &Args, app: &App, _screen: &mut Screen) -> anyhow::Result<()> {
    let here = std::env::var_os("CLAUDE_PROJECT_DIR").filter(|dir| !dir.is_empty());
    let here = here.map_or_else(std::env::current_dir, |dir| Ok(dir.into()))?;
    let mut memory = Memory {
        dir: app.data.clone(),
        project: Some(project::identify(&here)),
        session: std::env::var("CLAUDE_CODE_SESSION_ID").unwrap_or_default(),
        zone: clock::zone(),
        now: || clock::now().millis(),
        encoder: embed::Model::built_in(),
        vectors: &|| app.settings().settings.vectors,
        vocabulary: &|| app.vocabulary(),
    };
    Ok(mcp::serve(
        io::BufReader::new(io::stdin()),
        io::stdout(),
        &mut memory,
    )?)
}
