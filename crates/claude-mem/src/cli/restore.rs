//! `claude-mem restore`: back to a backup.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde::Serialize;

use super::app::App;
use super::screen::Screen;
use crate::limits::GATE_SECONDS;
use crate::serve::{backups, lock, recover};

/// Put a backup in place of what is remembered now
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem restore                the newest backup
  claude-mem restore memory.db      this one
  claude-mem restore --dry-run      say which, and check it

What is remembered now is not lost: it is moved to the data directory's `backups` first. Stop the
worker before: `claude-mem worker stop`.")]
pub(super) struct Args {
    /// The backup; without it, the newest
    file: Option<PathBuf>,
    /// Check it and say what would be done
    #[arg(long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct Restored {
    from: PathBuf,
    dry_run: bool,
    /// Where what was remembered lies now.
    #[serde(skip_serializing_if = "Option::is_none")]
    set_aside: Option<PathBuf>,
}

/// Whether it begins as every database does.
fn is_database(path: &Path) -> anyhow::Result<bool> {
    let mut start = [0; 16];
    let file = crate::paths::open_file(path).with_context(|| path.display().to_string())?;
    let read = file.take(16).read(&mut start);
    Ok(read.with_context(|| path.display().to_string())? == 16 && start == *b"SQLite format 3\0")
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let from = match &args.file {
        Some(file) => file.clone(),
        None => match backups::list(&app.data.backups())?.pop() {
            Some(backup) => backup.path,
            None => bail!("there is no backup in {}", app.data.backups().display()),
        },
    };
    anyhow::ensure!(from.exists(), "there is no {}", from.display());
    anyhow::ensure!(
        is_database(&from)?,
        "{} is not a backup of claude-mem; `claude-mem backup --list` lists those there are",
        from.display()
    );
    crate::store::Store::open_read_only(&from)
        .and_then(|backup| backup.quick_check())
        .with_context(|| format!("{} cannot be restored", from.display()))?;
    let set_aside = if args.dry_run {
        None
    } else {
        app.data.create()?;
        let Some(_lock) = lock::acquire(&app.data.worker_lock())? else {
            bail!("the worker runs; `claude-mem worker stop` first");
        };
        let within = Duration::from_secs(GATE_SECONDS);
        recover::replace(&app.data, &from, app.now, within)
            .context("the backup could not be restored")?
    };
    let restored = Restored {
        from,
        dry_run: args.dry_run,
        set_aside,
    };
    screen.show(&restored, |screen, restored| {
        let would = if restored.dry_run { "would be " } else { "" };
        writeln!(screen, "{} {would}restored", restored.from.display())?;
        match &restored.set_aside {
            Some(path) => writeln!(screen, "what was there is {}", path.display()),
            None => Ok(()),
        }
    })
}
