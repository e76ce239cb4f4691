//! `claude-mem restore`: replaces the database with a backup.
//!
//! The backup is checked first, the worker must not be running, and the current database is kept in
//! `backups/`.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde::Serialize;

use super::app::App;
use crate::cli::output::Screen;
use claude_mem_capture::ipc::lock;
use claude_mem_core::limits::GATE_SECONDS;
use claude_mem_store::{backups, recovery};

/// Replace the database with a backup
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem restore                the newest backup
  claude-mem restore memory.db      this one
  claude-mem restore --dry-run      check the newest backup

The current database is moved to the data directory's `backups` first. Stop the worker before:
`claude-mem worker stop`.")]
pub(super) struct Args {
    /// Backup file (default: the newest backup)
    file: Option<PathBuf>,
    /// Check the backup and change nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct RestoreReport {
    from: PathBuf,
    dry_run: bool,
    /// The new path of the previous database.
    #[serde(skip_serializing_if = "Option::is_none")]
    set_aside: Option<PathBuf>,
}

/// Whether the file starts with the SQLite header.
fn is_sqlite_file(path: &Path) -> anyhow::Result<bool> {
    let mut start = [0; 16];
    let file = claude_mem_core::paths::open_file(path).with_context(|| path.display().to_string())?;
    let read = file.take(16).read(&mut start);
    Ok(read.with_context(|| path.display().to_string())? == 16 && start == *b"SQLite format 3\0")
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let from = match &args.file {
        Some(file) => file.clone(),
        None => match backups::list(&app.data.backups())?.pop() {
            Some(backup) => backup.path,
            None => bail!("no backups in {}", app.data.backups().display()),
        },
    };
    anyhow::ensure!(from.exists(), "no such file: {}", from.display());
    anyhow::ensure!(
        is_sqlite_file(&from)?,
        "{} is not a claude-mem backup; see `claude-mem backup --list`",
        from.display()
    );
    claude_mem_store::Store::open_read_only(&from)
        .and_then(|backup| backup.quick_check())
        .with_context(|| format!("{} cannot be restored", from.display()))?;
    let set_aside = if args.dry_run {
        None
    } else {
        app.data.create()?;
        let Some(_lock) = lock::acquire(&app.data.worker_lock())? else {
            bail!("the worker is running; stop it first: `claude-mem worker stop`");
        };
        let within = Duration::from_secs(GATE_SECONDS);
        recovery::restore_backup(&app.data, &from, app.now, within).context("failed to restore the backup")?
    };
    let restored = RestoreReport { from, dry_run: args.dry_run, set_aside };
    screen.show(&restored, |screen, restored| {
        let verb = if restored.dry_run { "would restore" } else { "restored" };
        writeln!(screen, "{verb} {}", restored.from.display())?;
        match &restored.set_aside {
            Some(path) => writeln!(screen, "the previous database is now {}", path.display()),
            None => Ok(()),
        }
    })
}
