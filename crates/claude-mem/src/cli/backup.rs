//! `claude-mem backup`: creates or lists backups of the database.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use serde::Serialize;

use super::UsageError;
use super::app::App;
use crate::cli::format;
use crate::cli::output::Screen;
use claude_mem_core::clock::Millis;
use claude_mem_store::backups;

/// Create or list backups
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem backup                 into the data directory
  claude-mem backup memory.db       to this file
  claude-mem backup --list

The worker creates a backup every hour if anything changed. `claude-mem restore` restores one.")]
pub(super) struct Args {
    /// Backup file (default: a new one in the data directory's `backups`)
    #[arg(conflicts_with = "list")]
    file: Option<PathBuf>,
    /// List the backups
    #[arg(long)]
    list: bool,
}

#[derive(Serialize)]
struct BackupOutput {
    path: PathBuf,
    bytes: u64,
}

#[derive(Serialize)]
struct BackupList {
    backups: Vec<BackupListEntry>,
}

#[derive(Serialize)]
struct BackupListEntry {
    path: PathBuf,
    at: Millis,
    bytes: u64,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    if args.list {
        return list(app, screen);
    }
    if let Some(word) = args.file.as_ref().and_then(|file| file.to_str()).filter(|word| is_action(word)) {
        return Err(UsageError::error(format!(
            "`backup {word}` would write a file named {word}; to list backups use `claude-mem backup --list`, to \
             restore one `claude-mem restore`, and for a file of this name `claude-mem backup ./{word}`"
        )));
    }
    let Some(store) = app.store_if_any()? else {
        bail!("no memories yet in {}", app.data.root().display());
    };
    let made = match &args.file {
        Some(file) if file.exists() => bail!("{} already exists", file.display()),
        Some(file) => {
            let within = std::path::absolute(file)?;
            if let Some(within) = within.parent().filter(|within| !within.is_dir()) {
                bail!("no such directory: {}", within.display());
            }
            store.back_up(file)
        }
        None => backups::create(&app.data.db(), &app.data.backups(), app.now),
    }
    .context("failed to create the backup")?;
    let made = BackupOutput { path: made.path, bytes: made.bytes };
    screen.show(&made, |screen, made| {
        writeln!(screen, "{} ({})", made.path.display(), format::size(made.bytes))
    })
}

/// Whether an argument looks like what is to be done rather than like a file.
fn is_action(word: &str) -> bool {
    matches!(
        word,
        "list" | "ls" | "show" | "create" | "new" | "restore" | "delete" | "remove" | "prune" | "help"
    )
}

fn list(app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let backups = backups::list(&app.data.backups())?;
    let listed = BackupList {
        backups: backups
            .into_iter()
            .rev()
            .map(|backup| BackupListEntry { path: backup.path, at: backup.at, bytes: backup.bytes })
            .collect(),
    };
    screen.show(&listed, |screen, listed| {
        if listed.backups.is_empty() {
            return writeln!(screen, "no backups yet");
        }
        let row = |backup: &BackupListEntry| {
            [format::local_time(backup.at), format::size(backup.bytes), backup.path.display().to_string()]
        };
        let rows: Vec<_> = listed.backups.iter().map(row).collect();
        screen.table(["created", "size", "file"], &rows)
    })
}
