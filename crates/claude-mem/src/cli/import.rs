//! `claude-mem import`: imports transcripts, JSON exports and databases of the earlier claude-mem.
//!
//! Every import is a numbered run that can be listed and undone. A dry run works on a temporary copy
//! of the store.

pub(super) mod progress;
pub(super) mod run_import;
mod table;
mod transcripts;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use run_import::run_import;

use super::app::App;
use crate::cli::format;
use crate::cli::output::{Screen, print_note};
use claude_mem_core::paths::DataDir;
use claude_mem_store::{ImportRun, Store};
use claude_mem_transfer::import;
use claude_mem_transfer::import::{SourceTrust, json, legacy, memory_files};

/// Import memories from transcripts, JSON or the earlier claude-mem
///
/// Nothing is imported twice, forgotten memories stay forgotten, private text and secrets are
/// removed, and no model is called. Each import is a run that can be undone.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem import transcripts                    past Claude Code sessions
  claude-mem import claude-mem-db                  the database of the earlier claude-mem
  claude-mem import claude-mem-db backup/claude-mem.db --dry-run
  claude-mem import memory-files                   the notes that Claude Code keeps for each project
  claude-mem import json memory.json               a file of somebody else
  claude-mem import json memory.json --trust       your own file from `claude-mem export`
  claude-mem import list                           list past imports
  claude-mem import undo 3                         undo run 3")]
pub(super) struct Args {
    #[command(subcommand)]
    action: ImportAction,
}

#[derive(Debug, clap::Subcommand)]
enum ImportAction {
    Transcripts(transcripts::Args),
    /// Import the memory files that Claude Code itself keeps for each project
    ///
    /// Every section of `~/.claude/projects/*/memory/*.md` becomes one memory of that project, marked as imported.
    /// The files are only read. Running it again imports what is new or changed.
    MemoryFiles {
        /// Show what would be imported and change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Import a database of the earlier claude-mem, any version
    #[command(after_help = "\
Examples:
  claude-mem import claude-mem-db
  claude-mem import claude-mem-db ~/old-laptop/.claude-mem/claude-mem.db
  claude-mem import claude-mem-db --dry-run --json

The file is only read. Running it again imports what is new.")]
    ClaudeMemDb {
        /// The database (default: ~/.claude-mem/claude-mem.db)
        path: Option<PathBuf>,
        /// It is your own: keep what you said and saved as yours
        #[arg(long)]
        trust: bool,
        /// Show what would be imported and change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Import JSON from `claude-mem export` or from the earlier claude-mem
    #[command(after_help = "\
Examples:
  claude-mem import json memory.json
  claude-mem import json memory.json --dry-run
  claude-mem import json memory.json --trust    your own export, unchanged

Rows whose public id already exists are left unchanged. Without --trust every row is marked as imported:
the file brings no words of yours, no preferences, no pins and no deletions.")]
    Json {
        file: PathBuf,
        /// It is your own export: keep your words, preferences, pins and deletions
        #[arg(long)]
        trust: bool,
        /// Show what would be imported and change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// List past imports, newest first
    #[command(after_help = "\
Example:
  claude-mem import list")]
    List,
    /// Undo an import: remove everything it added
    #[command(after_help = "\
Examples:
  claude-mem import list
  claude-mem import undo 3

Memories created after the import stay. The import can be repeated.")]
    Undo {
        /// Run number from `claude-mem import list`
        #[arg(value_parser = parse_run_id)]
        run: i64,
    },
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    match &args.action {
        ImportAction::Transcripts(args) => transcripts::run(args, app, screen),
        ImportAction::ClaudeMemDb { path, trust, dry_run } => {
            let path = legacy_db_path(app, path.as_deref())?;
            let report = run_import(app, *dry_run, source_trust(*trust), |store, around| {
                let (scratch, mut progress) = (app.data.import_scratch(), progress::for_rows());
                Ok(legacy::run(store, around, &path, &scratch, app.now, &mut progress)?)
            })?;
            table::show(screen, &report, *dry_run)
        }
        ImportAction::Json { file, trust, dry_run } => {
            let path = std::path::absolute(file)?;
            anyhow::ensure!(path.exists(), "no such file: {}", path.display());
            let report = run_import(app, *dry_run, source_trust(*trust), |store, around| {
                Ok(json::run(store, around, &path, app.now, &mut progress::for_rows())?)
            })?;
            if !trust && report.imported() > 0 {
                print_note(
                    "the rows are marked as imported; undo and repeat with --trust if the file is yours",
                )?;
            }
            table::show(screen, &report, *dry_run)
        }
        ImportAction::MemoryFiles { dry_run } => {
            let report = run_import(app, *dry_run, SourceTrust::Own, |store, around| {
                Ok(memory_files::run(store, around, app.now, &mut progress::for_rows())?)
            })?;
            table::show(screen, &report, *dry_run)
        }
        ImportAction::List => list(app, screen),
        ImportAction::Undo { run } => undo(app, screen, *run),
    }
}

const fn source_trust(own: bool) -> SourceTrust {
    if own { SourceTrust::Own } else { SourceTrust::Foreign }
}

fn legacy_db_path(app: &App, given: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(path) = given {
        let path = std::path::absolute(path)?;
        anyhow::ensure!(path.exists(), "no such file: {}", path.display());
        anyhow::ensure!(
            Store::open_read_only(&path).is_err(),
            "{} is a database of this claude-mem: `claude-mem restore` replaces the current one with it, \
             `claude-mem export` and `claude-mem import json` copy memories between them",
            path.display()
        );
        return Ok(path);
    }
    // The earlier program knows no setting for its directory.
    let usual = DataDir::find(|name| std::env::var_os(name).filter(|_| name == "HOME"))
        .context("no home directory; pass the path of the database")?
        .db();
    let what = match app.store_if_any() {
        // Our own database is there, not the earlier one.
        Ok(Some(_)) if usual == app.data.db() => "belongs to this claude-mem",
        _ if !usual.exists() => "does not exist",
        _ => return Ok(usual),
    };
    anyhow::bail!(
        "{} {what}; pass the path of the earlier database: claude-mem import claude-mem-db PATH",
        usual.display()
    )
}

fn list(app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let runs = match app.store_if_any()? {
        Some(store) => store.read().import_runs()?,
        None => Vec::new(),
    };
    screen.show(&runs, |screen, runs| {
        if runs.is_empty() {
            return writeln!(screen, "no imports yet");
        }
        let rows: Vec<_> = runs.iter().map(|run| row(run, app)).collect();
        screen.table(["run", "kind", "when", "rows", "from"], &rows)
    })
}

fn row(run: &ImportRun, app: &App) -> [String; 5] {
    let rows = if run.finished_at.is_some() {
        format::grouped(run.rows)
    } else {
        format!("{}, unfinished", format::grouped(run.rows))
    };
    [run.id.to_string(), run.kind.clone(), format::ago(run.started_at, app.now), rows, run.source.clone()]
}

fn parse_run_id(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| "expected a number from `claude-mem import list`".to_owned())
}

fn undo(app: &App, screen: &mut Screen, run: i64) -> anyhow::Result<()> {
    let mut store = app.store_to_change()?;
    let _one = import::acquire_import_lock(&app.data)?;
    let known = store.read().import_runs()?;
    let Some(run) = known.iter().find(|known| known.id == run) else {
        anyhow::bail!("no import run {run}; see `claude-mem import list`");
    };
    let rows = import::undo_run(&mut store, run.id)?;
    let answer = serde_json::json!({ "run": run.id, "kind": run.kind, "rows": rows });
    screen.show(&answer, |screen, _| {
        let rows = format::count(rows as u64, "row");
        writeln!(screen, "undid run {}: removed {rows} ({} from {})", run.id, run.kind, run.source)
    })
}
