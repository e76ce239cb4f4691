//! `claude-mem mcp`: runs the MCP server on stdio.

use std::io;

use super::app::App;
use crate::cli::output::Screen;
use crate::mcp;
use crate::mcp::caller::McpCaller;
use crate::mcp::memory::MemoryTools;
use claude_mem_core::agents::CLAUDE_CODE;
use claude_mem_core::clock;
use claude_mem_core::project;

/// Run the MCP server on stdin and stdout
///
/// The client starts it; `claude-mem install` registers it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude mcp add --scope user claude-mem -- claude-mem mcp")]
pub(super) struct Args {}

pub(super) fn run(_args: &Args, app: &App, _screen: &mut Screen) -> anyhow::Result<()> {
    let here = std::env::var_os(CLAUDE_CODE.project_variable).filter(|dir| !dir.is_empty());
    let here = here.map_or_else(std::env::current_dir, |dir| Ok(dir.into()))?;
    let mut memory = MemoryTools {
        dir: app.data.clone(),
        project: Some(project::identify(&here)),
        caller: McpCaller::from_environment(|name| std::env::var(name).ok()),
        zone: clock::zone(),
        now: || clock::now().millis(),
        encoder: embed::EmbeddingModel::built_in(),
        vectors: &|| app.settings().settings.vectors,
        agent_notes: &|| app.settings().settings.agent_notes,
        vocabulary: &|| app.vocabulary(),
    };
    Ok(mcp::serve(io::BufReader::new(io::stdin()), io::stdout(), &mut memory)?)
}
