//! `claude-mem import transcripts`: imports past sessions from the client's transcripts.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::run_import::run_import;
use super::{progress, table};
use crate::cli::UsageError;
use crate::cli::app::App;
use crate::cli::output::{Screen, print_note};
use claude_mem_core::agents::{AGENTS, CLAUDE_CODE, CodingAgent};
use claude_mem_core::clock::Millis;
use claude_mem_core::vocabulary::Vocabulary;
use claude_mem_ingest::compressor_config;
use claude_mem_search::date_arg;
use claude_mem_transfer::import::SourceTrust;
use claude_mem_transfer::import::transcripts;
use claude_mem_transfer::import::transcripts::{ImportProjectFilter, ImportSummary, TranscriptImportRequest};

/// Import past sessions from the transcripts of an agent
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem import transcripts                      everything in ~/.claude/projects
  claude-mem import transcripts --since 3mo --dry-run
  claude-mem import transcripts --project website
  claude-mem import transcripts --agent codex        everything in ~/.codex/sessions
  claude-mem import transcripts --agent opencode     its database in ~/.local/share/opencode
  claude-mem import transcripts backup/projects

It can be interrupted and run again at any time: it resumes where it stopped. Sessions that hooks
recorded are skipped, and so is everything that is ignored, skipped by a setting or private.")]
pub(super) struct Args {
    /// Transcript file or directory (default: where the agent keeps them)
    path: Option<PathBuf>,
    #[arg(long, value_name = "NAME", help = format!("The agent that wrote them: {}", readable_agents()))]
    agent: Option<String>,
    /// Only sessions active after this time: 2026-01-31, yesterday, 2w, 3mo
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Only this project: a name or a directory
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Show what would be imported and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let since = args.since.as_deref().map(|text| parse_since(text, app)).transpose()?;
    // Check the path before the data directory is created: a failed import leaves nothing behind.
    let given = args.path.as_deref().map(std::path::absolute).transpose()?;
    let agent = choose_agent(args.agent.as_deref(), given.as_deref())?;
    let path = transcript_path(agent, given)?;
    let vocabulary = vocabulary(app)?;
    let mut learnt = ImportSummary::default();
    let report = run_import(app, args.dry_run, SourceTrust::Own, |store, around| {
        let wanted = TranscriptImportRequest {
            agent,
            path,
            since,
            project: args.project.as_deref().map(resolve_project).transpose()?,
            data: &app.data,
            vocabulary: &vocabulary,
            now: app.now,
        };
        let (report, told) = transcripts::run(store, around, &wanted, &mut progress::for_bytes())?;
        learnt = told;
        Ok(report)
    })?;
    table::show_transcripts(screen, &report, &learnt, args.dry_run)
}

fn parse_since(text: &str, app: &App) -> anyhow::Result<Millis> {
    date_arg::parse_time(text, app.now, &claude_mem_core::clock::zone()).ok_or_else(|| {
        UsageError::error(format!("{text:?} is not a time; use 2026-01-31, yesterday, 2w or 3mo"))
    })
}

/// The agent whose transcripts are meant: by name, by the path, else the first one that has any.
fn choose_agent(name: Option<&str>, path: Option<&Path>) -> anyhow::Result<&'static CodingAgent> {
    if let Some(name) = name {
        let found = CodingAgent::by_name(name).filter(|agent| agent.transcripts.is_some());
        return found.ok_or_else(|| {
            UsageError::error(format!("no transcripts of {name:?} can be read; use {}", readable_agents()))
        });
    }
    let is_meant = |folder: PathBuf| match path {
        Some(path) => path.starts_with(folder),
        None => folder.is_dir(),
    };
    let found = AGENTS.iter().find(|agent| transcript_folder(agent).is_some_and(is_meant));
    Ok(found.copied().unwrap_or(&CLAUDE_CODE))
}

/// The names of the agents whose transcripts can be read.
fn readable_agents() -> String {
    let readable = AGENTS.iter().filter(|agent| agent.transcripts.is_some());
    let names: Vec<&str> = readable.map(|agent| agent.name).collect();
    names.join(", ")
}

fn transcript_folder(agent: &CodingAgent) -> Option<PathBuf> {
    agent.transcripts?.folder.resolve(|name| std::env::var_os(name))
}

fn transcript_path(agent: &CodingAgent, given: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    let path = match given {
        Some(path) => path,
        None => transcript_folder(agent).context("no home directory; set HOME or pass a path")?,
    };
    if path.exists() {
        Ok(path)
    } else {
        anyhow::bail!(
            "no transcripts in {}; pass their path: claude-mem import transcripts PATH",
            path.display()
        )
    }
}

/// The project filter: an existing directory if `named` looks like a path, else a name.
fn resolve_project(named: &str) -> anyhow::Result<ImportProjectFilter> {
    let directory = std::path::absolute(named)?;
    if directory.is_dir() && (named.contains('/') || named.starts_with('.')) {
        let keys = claude_mem_core::project::identify(&directory).keys;
        return Ok(ImportProjectFilter { name: String::new(), keys });
    }
    Ok(ImportProjectFilter { name: named.to_owned(), keys: Vec::new() })
}

fn vocabulary(app: &App) -> anyhow::Result<Vocabulary> {
    let settings = app.settings().settings;
    match compressor_config::load_vocabulary(app.data.root(), &settings) {
        Ok(vocabulary) => Ok(vocabulary),
        Err(why) => {
            print_note(why)?;
            Ok(Vocabulary::default())
        }
    }
}
