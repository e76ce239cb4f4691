//! `claude-mem uninstall`: out of the client's files again, without a trace.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Serialize;

use super::app::App;
use super::install::{EARLIER, State, Steps};
use super::screen::Screen;
use super::{Usage, worker};
use crate::install::change::{self, Change, Places};
use crate::install::file::FileError;
use crate::install::receipt::{Left, Part, Receipt};
use crate::limits::CLIENT_FILE_TRIES;
use crate::paths::{DataDir, OPENING};
use crate::store::{Store, StoreError};

/// Take our hooks and tools out of the client's files and end the worker
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem uninstall              memories stay in ~/.claude-mem
  claude-mem uninstall --project    only what `install --project` did here
  claude-mem uninstall --purge      memories, settings and backups go too

Files that nobody changed since are given back byte for byte; from others only our own entries
are taken.")]
pub(super) struct Args {
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Ask nothing
    #[arg(long, short)]
    yes: bool,
    /// Only what was installed for one project
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    project: Option<PathBuf>,
    /// Delete everything that was ever remembered, too
    #[arg(long, conflicts_with = "project")]
    purge: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    dry_run: bool,
    purged: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    steps: &'a [super::install::Step],
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let mut steps = Steps::new(screen, args.dry_run);
    let outcome = go_through(args, app, &mut steps);
    let report = Report {
        ok: outcome.is_ok(),
        dry_run: args.dry_run,
        purged: args.purge && !args.dry_run && outcome.is_ok(),
        error: outcome.as_ref().err().map(|error| format!("{error:#}")),
        steps: &steps.all(),
    };
    if steps.close(&report)? && outcome.is_err() {
        return Err(super::Told.into());
    }
    outcome
}

fn go_through(args: &Args, app: &App, steps: &mut Steps<'_>) -> anyhow::Result<()> {
    if args.purge && !args.yes && !args.dry_run {
        if !super::install::can_ask(steps.is_json()) {
            let hint = "there is nobody here to ask; `--purge --yes` deletes every memory for good";
            return Err(Usage::error(hint));
        }
        let question = format!(
            "Delete everything in {} for good?",
            app.data.root().display()
        );
        anyhow::ensure!(
            steps.ask(&format!("{question} [y/N]"))? == "y",
            "nothing was changed"
        );
    }
    let mut receipt = Receipt::read(&app.data.installed())?;
    let files = files(args, &receipt)?;
    let changes = write(args, &files)?;
    for change in &changes {
        say(change, steps)?;
    }
    if receipt.plugin && args.project.is_none() {
        if !args.dry_run {
            super::install::uninstall_plugin(app, &mut receipt)?;
        }
        steps.done("plugin", "taken out of Claude Code")?;
    }
    if args.project.is_none() {
        end_worker(args, app, steps)?;
    }
    if !args.dry_run {
        for left in &files {
            receipt.take(left.part, &left.path, left.project.as_deref());
        }
        let path = app.data.installed();
        if path.exists() {
            receipt
                .write(&path)
                .with_context(|| path.display().to_string())?;
        }
    }
    if args.purge {
        return purge(app, steps);
    }
    if args.project.is_none() && app.data.root().is_dir() {
        let detail = format!(
            "kept in {}; --purge deletes them",
            app.data.root().display()
        );
        steps.say("memories", State::Ok, detail)?;
    }
    Ok(())
}

/// Everything is understood before anything is changed. What a client that runs has changed since
/// is read again.
fn write(args: &Args, files: &[Left]) -> anyhow::Result<Vec<Change>> {
    let mut tries = 1..=CLIENT_FILE_TRIES;
    loop {
        let changes = files.iter().map(change::to_uninstall);
        let changes: Vec<Change> = changes.collect::<Result<_, _>>()?;
        if args.dry_run {
            return Ok(changes);
        }
        match (change::write_all(&changes), tries.next()) {
            (Ok(()), _) => return Ok(changes),
            (Err(FileError::Changing(_)), Some(_)) => {}
            (Err(error), _) => return Err(error.into()),
        }
    }
}

/// What the receipt knows, and the usual places even if it knows nothing.
fn files(args: &Args, receipt: &Receipt) -> anyhow::Result<Vec<Left>> {
    let project = match &args.project {
        Some(dir) => Some(
            dir.canonicalize()
                .with_context(|| dir.display().to_string())?,
        ),
        None => None,
    };
    let places = Places::find(|name| std::env::var_os(name), project.clone())
        .context("there is no home directory")?;
    let mut files: Vec<Left> = receipt
        .files
        .iter()
        .filter(|left| project.is_none() || left.project == project)
        .cloned()
        .collect();
    for (part, path) in [
        (Part::Hooks, &places.settings),
        (Part::Server, &places.state),
    ] {
        if receipt.of(part, path, project.as_deref()).is_none() {
            files.push(Left::unknown(part, path.clone(), project.clone()));
        }
    }
    Ok(files)
}

fn say(change: &Change, steps: &mut Steps<'_>) -> anyhow::Result<()> {
    let name = match change.part {
        Part::Hooks => "hooks",
        Part::Server => "tools",
    };
    let path = change.file.path.display();
    if let (true, Some(lost)) = (change.is_needed(), &change.lost_copy) {
        steps.say("copy", State::Note, super::install::lost_copy(lost))?;
    }
    match (&change.after, change.is_needed()) {
        (_, false) => steps.say(name, State::Ok, format!("none of ours in {path}")),
        (None, true) => steps.done(name, format!("{path} removed: it was ours alone")),
        (Some(_), true) => steps.done(name, format!("taken out of {path}")),
    }
}

fn end_worker(args: &Args, app: &App, steps: &mut Steps<'_>) -> anyhow::Result<()> {
    if args.dry_run {
        return steps.done("worker", "ended, if it runs");
    }
    if worker::end(app)? {
        steps.done("worker", "ended")
    } else {
        steps.say("worker", State::Ok, "was not running")
    }
}

/// Deletes what we know as ours. Somebody else's files in the same directory stay, and so does
/// the directory then.
fn purge(app: &App, steps: &mut Steps<'_>) -> anyhow::Result<()> {
    let data = &app.data;
    if steps.is_dry() {
        return steps.done(
            "memories",
            format!("everything of ours in {} deleted", data.root().display()),
        );
    }
    let foreign = is_foreign(data)?;
    for path in ours(data, foreign)? {
        let removed = if path.is_dir() && !path.is_symlink() {
            std::fs::remove_dir_all(&path)
        } else {
            std::fs::remove_file(&path)
        };
        match removed {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(e).with_context(|| format!("cannot delete {}", path.display()));
            }
            _ => {}
        }
    }
    // Not empty means that somebody else lives there.
    let _ = std::fs::remove_dir(data.backups());
    let gone = std::fs::remove_dir(data.root()).is_ok() || !data.root().exists();
    let detail = if gone {
        format!("{} deleted", data.root().display())
    } else {
        format!(
            "deleted; what else is in {} was left",
            data.root().display()
        )
    };
    steps.done("memories", detail)
}

/// Whether the database is somebody else's. What could not be looked at is nobody's to delete.
fn is_foreign(data: &DataDir) -> anyhow::Result<bool> {
    match Store::open_read_only(&data.db()) {
        Err(StoreError::Foreign) => Ok(true),
        // It is about to be replaced by another of ours: nobody else leaves such a note.
        Err(StoreError::Busy) if beside(&data.db(), ".swap").exists() => Ok(false),
        Ok(_)
        | Err(
            StoreError::Missing
            | StoreError::Damaged
            | StoreError::Older { .. }
            | StoreError::Newer { .. },
        ) => Ok(false),
        Err(error) => Err(error).with_context(|| {
            let path = data.db();
            format!(
                "{} cannot be looked at, so nothing was deleted",
                path.display()
            )
        }),
    }
}

fn ours(data: &DataDir, foreign: bool) -> anyhow::Result<Vec<PathBuf>> {
    let mut paths = vec![
        data.spool(),
        data.muted(),
        data.compressor(),
        data.children(),
        data.plugin(),
        data.import_lock(),
        data.importing(),
        data.rehearsal(),
        data.recovering(),
        data.installed(),
        data.paused(),
        data.settings_lock(),
        data.token(),
        data.worker_pid(),
        data.worker_lock(),
        data.worker_started(),
        data.root().join("worker.sock"),
    ];
    for database in [data.vectors_db(), data.db()] {
        if foreign && database == data.db() {
            continue;
        }
        for suffix in ["", "-wal", "-shm", ".gate", ".swap"] {
            paths.push(beside(&database, suffix));
        }
    }
    // What only we make: half-written notes and databases, and the copy from before a migration.
    let made = [
        "edit-",
        OPENING,
        "settings.json.unfinished-",
        "paused.unfinished-",
        "token.unfinished-",
        "claude-mem.before-migration-",
        "claude-mem.db.new-",
    ];
    paths.extend(below(data.root(), |name| {
        made.iter().any(|begin| name.starts_with(begin))
    })?);
    if !foreign {
        // What was moved there when the earlier program was taken over is not ours to delete.
        paths.extend(below(&data.backups(), |name| !name.starts_with(EARLIER))?);
        paths.extend([data.logs(), data.settings()]);
    }
    Ok(paths)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn below(folder: &Path, is_ours: impl Fn(&str) -> bool) -> anyhow::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.and_then(Iterator::collect::<std::io::Result<Vec<_>>>),
    };
    let entries = entries.with_context(|| format!("cannot list {}", folder.display()))?;
    Ok(entries
        .iter()
        .filter(|entry| is_ours(&entry.file_name().to_string_lossy()))
        .map(std::fs::DirEntry::path)
        .collect())
}
