//! `claude-mem backup`: a copy of everything, now.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use serde::Serialize;

use super::app::App;
use super::screen::Screen;
use super::words;
use crate::clock::Millis;
use crate::serve::backups;

/// Make a backup now, or list those there are
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem backup                 beside the hourly ones
  claude-mem backup memory.db       to a file of your own
  claude-mem backup --list

The worker makes one every hour in which something changed. `claude-mem restore` takes one back.")]
pub(super) struct Args {
    /// Where to; without it, into the data directory's `backups`
    #[arg(conflicts_with = "list")]
    file: Option<PathBuf>,
    /// List the backups
    #[arg(long)]
    list: bool,
}

#[derive(Serialize)]
struct Made {
    path: PathBuf,
    bytes: u64,
}

#[derive(Serialize)]
struct Listed {
    backups: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    path: PathBuf,
    at: Millis,
    bytes: u64,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    if args.list {
        return list(app, screen);
    }
    let Some(store) = app.store_if_any()? else {
        bail!("nothing is remembered yet in {}", app.data.root().display());
    };
    let made = match &args.file {
        Some(file) if file.exists() => bail!("{} exists already", file.display()),
        Some(file) => {
            let within = std::path::absolute(file)?;
            if let Some(within) = within.parent().filter(|within| !within.is_dir()) {
                bail!("there is no directory {}", within.display());
            }
            store.back_up(file)
        }
        None => backups::make(&app.data.db(), &app.data.backups(), app.now),
    }
    .context("the backup could not be made")?;
    let made = Made {
        path: made.path,
        bytes: made.bytes,
    };
    screen.show(&made, |screen, made| {
        writeln!(
            screen,
            "{} ({})",
            made.path.display(),
            words::size(made.bytes)
        )
    })
}

fn list(app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let backups = backups::list(&app.data.backups())?;
    let listed = Listed {
        backups: backups
            .into_iter()
            .rev()
            .map(|backup| Entry {
                path: backup.path,
                at: backup.at,
                bytes: backup.bytes,
            })
            .collect(),
    };
    screen.show(&listed, |screen, listed| {
        if listed.backups.is_empty() {
            return writeln!(screen, "there is no backup yet");
        }
        let row = |backup: &Entry| {
            [
                words::local(backup.at),
                words::size(backup.bytes),
                backup.path.display().to_string(),
            ]
        };
        let rows: Vec<_> = listed.backups.iter().map(row).collect();
        screen.table(["made", "size", "file"], &rows)
    })
}
