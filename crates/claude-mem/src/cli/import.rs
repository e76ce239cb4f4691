//! `claude-mem import`: what was learnt elsewhere, or before.

mod progress;
mod table;
mod transcripts;

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::app::App;
use super::screen::Screen;
use super::words;
use crate::hook::settings::HookSettings;
use crate::import::{self, Around, ImportError, Report, earlier, json};
use crate::store::{ImportRun, Store, StoreError};

/// Bring in what was learnt elsewhere, or before
///
/// Nothing is brought in twice, what was forgotten stays forgotten, private text and secrets are
/// taken out, and no model is asked. Each import is a run that can be taken back.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem import transcripts                    what the client wrote down of past sessions
  claude-mem import claude-mem-db                  from the earlier claude-mem
  claude-mem import claude-mem-db backup/claude-mem.db --dry-run
  claude-mem import json memory.json               from `claude-mem export` of another machine
  claude-mem import list                           what was imported, and when
  claude-mem import undo 3                         take run 3 back")]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Transcripts(transcripts::Args),
    /// A database of the earlier program of this name, of any of its versions
    #[command(after_help = "\
Examples:
  claude-mem import claude-mem-db
  claude-mem import claude-mem-db ~/old-laptop/.claude-mem/claude-mem.db
  claude-mem import claude-mem-db --dry-run --json

The file is only read. Running it again brings in what is new.")]
    ClaudeMemDb {
        /// The database (default: ~/.claude-mem/claude-mem.db)
        path: Option<PathBuf>,
        /// Say what would be imported and change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// What `claude-mem export` wrote, here or elsewhere, or the earlier program's JSON export
    #[command(after_help = "\
Examples:
  claude-mem import json memory.json
  claude-mem import json memory.json --dry-run

What is here already is known by its public id and left as it is.")]
    Json {
        file: PathBuf,
        /// Say what would be imported and change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Every import there was, the newest first
    #[command(after_help = "\
Example:
  claude-mem import list")]
    List,
    /// Take back everything that one import brought in
    #[command(after_help = "\
Examples:
  claude-mem import list
  claude-mem import undo 3

What was made of a session after its import stays. The import can be done again.")]
    Undo {
        /// Its number in `claude-mem import list`
        #[arg(value_parser = number)]
        run: i64,
    },
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    match &args.action {
        Action::Transcripts(args) => transcripts::run(args, app, screen),
        Action::ClaudeMemDb { path, dry_run } => {
            let path = earlier_path(app, path.as_deref())?;
            let report = bring(app, *dry_run, |store, around| {
                let (scratch, mut progress) = (app.data.importing(), progress::of_rows());
                Ok(earlier::run(
                    store,
                    around,
                    &path,
                    &scratch,
                    app.now,
                    &mut progress,
                )?)
            })?;
            table::show(screen, &report, *dry_run)
        }
        Action::Json { file, dry_run } => {
            let path = std::path::absolute(file)?;
            anyhow::ensure!(path.exists(), "there is no {}", path.display());
            let report = bring(app, *dry_run, |store, around| {
                Ok(json::run(
                    store,
                    around,
                    &path,
                    app.now,
                    &mut progress::of_rows(),
                )?)
            })?;
            table::show(screen, &report, *dry_run)
        }
        Action::List => list(app, screen),
        Action::Undo { run } => undo(app, screen, *run),
    }
}

/// Runs an import on the store, or on a copy of it that is thrown away.
fn bring(
    app: &App,
    dry_run: bool,
    act: impl FnOnce(&mut Store, Around<'_>) -> anyhow::Result<Report>,
) -> anyhow::Result<Report> {
    app.data
        .create()
        .with_context(|| format!("cannot make {}", app.data.root().display()))?;
    let _one = import::begin(&app.data)?;
    // What waits there comes later, and is known by its keys.
    let _ = app.take_in_spool();
    let settings = HookSettings::load_os(&app.data, |name| std::env::var_os(name));
    let home = std::env::var_os("HOME").unwrap_or_default();
    let client_dir = client_dir(&home)?;
    let home = home.to_string_lossy().into_owned();
    let around = Around {
        settings: &settings,
        home: &home,
        client_dir: &client_dir,
    };
    let mut store = opened(app)?;
    let brought = if dry_run {
        let scratch = rehearsal(app)?;
        let copy = scratch.0.join("store.db");
        store.back_up(&copy)?;
        act(&mut Store::open(&copy)?, around)
    } else {
        act(&mut store, around)
    };
    let mut report = brought.map_err(in_words)?;
    if dry_run {
        report.run = None;
    }
    Ok(report)
}

/// With what to do, where something can be done.
fn in_words(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref() {
        Some(ImportError::Store(StoreError::DiskFull)) => anyhow::anyhow!(
            "the disk is full; make room and run it again: what was stored so far is kept"
        ),
        _ => error,
    }
}

/// A directory for one rehearsal.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // The next import of any kind clears it away.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn rehearsal(app: &App) -> anyhow::Result<Scratch> {
    let dir = app.data.rehearsal();
    match std::fs::remove_dir_all(&dir) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e.into()),
        _ => {}
    }
    crate::paths::create_dir(&dir)?;
    Ok(Scratch(dir))
}

fn opened(app: &App) -> anyhow::Result<Store> {
    let path = app.data.db();
    match Store::open(&path) {
        Err(StoreError::DiskFull) => anyhow::bail!("the disk is full; make room and run it again"),
        Err(StoreError::Foreign) => anyhow::bail!(
            "{} is the earlier program's own database, so there is no store of ours to import into: \
             `claude-mem install` takes its place and imports it, --data-dir keeps both apart",
            path.display()
        ),
        opened => opened.with_context(|| path.display().to_string()),
    }
}

fn client_dir(home: &OsStr) -> anyhow::Result<PathBuf> {
    let given = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|dir| !dir.is_empty());
    anyhow::ensure!(
        given.is_some() || !home.is_empty(),
        "there is no home directory; set HOME or CLAUDE_CONFIG_DIR"
    );
    Ok(given.map_or_else(|| Path::new(home).join(".claude"), PathBuf::from))
}

fn earlier_path(app: &App, given: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(path) = given {
        let path = std::path::absolute(path)?;
        anyhow::ensure!(path.exists(), "there is no {}", path.display());
        anyhow::ensure!(
            Store::open_read_only(&path).is_err(),
            "{} is a database of this claude-mem: `claude-mem restore` takes it whole, `claude-mem export` \
             and `claude-mem import json` take memories from one to another",
            path.display()
        );
        return Ok(path);
    }
    let home = std::env::var_os("HOME")
        .context("there is no home directory; say where the database is")?;
    let usual = Path::new(&home).join(".claude-mem/claude-mem.db");
    let what = match app.store_if_any() {
        // Where ours is, theirs is not.
        Ok(Some(_)) if usual == app.data.db() => "is ours",
        _ if !usual.exists() => "is not there",
        _ => return Ok(usual),
    };
    anyhow::bail!(
        "{} {what}; say where the earlier program's database is: claude-mem import claude-mem-db PATH",
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
            return writeln!(screen, "nothing was imported yet");
        }
        let rows: Vec<_> = runs.iter().map(|run| row(run, app)).collect();
        screen.table(["run", "kind", "when", "rows", "from"], &rows)
    })
}

fn row(run: &ImportRun, app: &App) -> [String; 5] {
    let rows = if run.finished_at.is_some() {
        words::grouped(run.rows)
    } else {
        format!("{}, unfinished", words::grouped(run.rows))
    };
    [
        run.id.to_string(),
        run.kind.clone(),
        words::ago(run.started_at, app.now),
        rows,
        run.source.clone(),
    ]
}

fn number(text: &str) -> Result<i64, String> {
    text.parse()
        .map_err(|_| "a number from `claude-mem import list`".to_owned())
}

fn undo(app: &App, screen: &mut Screen, run: i64) -> anyhow::Result<()> {
    let mut store = app.store_to_change()?;
    let _one = import::begin(&app.data)?;
    let known = store.read().import_runs()?;
    let Some(run) = known.iter().find(|known| known.id == run) else {
        anyhow::bail!("there is no import {run}; `claude-mem import list` lists them");
    };
    let rows = import::undo(&mut store, run.id)?;
    let answer = serde_json::json!({ "run": run.id, "kind": run.kind, "rows": rows });
    screen.show(&answer, |screen, _| {
        let rows = words::count(rows as u64, "row");
        writeln!(
            screen,
            "took back run {}: {rows} of {} from {}",
            run.id, run.kind, run.source
        )
    })
}
