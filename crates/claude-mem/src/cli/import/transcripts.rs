//! `claude-mem import transcripts`: past sessions.

use std::path::{Path, PathBuf};

use super::{bring, client_dir, progress, table};
use crate::cli::Usage;
use crate::cli::app::App;
use crate::cli::screen::{Screen, remark};
use crate::clock::Millis;
use crate::import::transcripts::{self, Learnt, Wanted, WantedProject};
use crate::search::dates;
use crate::serve::compressor;
use crate::vocabulary::Vocabulary;

/// What the client wrote down of past sessions
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem import transcripts                      everything below ~/.claude/projects
  claude-mem import transcripts --since 3mo --dry-run
  claude-mem import transcripts --project website
  claude-mem import transcripts backup/projects

It can be interrupted and run again at any time: it goes on where it was. Sessions that hooks
have kept are left out, and so is what is ignored, skipped or private.")]
pub(super) struct Args {
    /// A folder of transcripts, or one (default: where the client keeps them)
    path: Option<PathBuf>,
    /// Only sessions that went on after this: 2026-01-31, yesterday, 2w, 3mo
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Only this project: its name, or a directory of it
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Say what would be learnt and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let since = args
        .since
        .as_deref()
        .map(|text| moment(text, app))
        .transpose()?;
    // Before anything is made for it: where nothing is to be had, nothing is left behind.
    let home = std::env::var_os("HOME").unwrap_or_default();
    folder(args.path.as_deref(), &client_dir(&home)?)?;
    let vocabulary = vocabulary(app)?;
    let mut learnt = Learnt::default();
    let report = bring(app, args.dry_run, |store, around| {
        let wanted = Wanted {
            path: folder(args.path.as_deref(), around.client_dir)?,
            since,
            project: args.project.as_deref().map(project).transpose()?,
            data: &app.data,
            vocabulary: &vocabulary,
            now: app.now,
        };
        let (report, told) = transcripts::run(store, around, &wanted, &mut progress::of_bytes())?;
        learnt = told;
        Ok(report)
    })?;
    table::show_learnt(screen, &report, &learnt, args.dry_run)
}

fn moment(text: &str, app: &App) -> anyhow::Result<Millis> {
    dates::moment(text, app.now, &crate::clock::zone()).ok_or_else(|| {
        Usage::error(format!(
            "{text:?} is not a time; say 2026-01-31, yesterday, 2w or 3mo"
        ))
    })
}

fn folder(given: Option<&Path>, client_dir: &Path) -> anyhow::Result<PathBuf> {
    let path = match given {
        Some(path) => std::path::absolute(path)?,
        None => client_dir.join("projects"),
    };
    if path.exists() {
        Ok(path)
    } else {
        anyhow::bail!(
            "there are no transcripts in {}; say where they are: claude-mem import transcripts PATH",
            path.display()
        )
    }
}

/// A name, or a directory that exists.
fn project(named: &str) -> anyhow::Result<WantedProject> {
    let directory = std::path::absolute(named)?;
    if directory.is_dir() && (named.contains('/') || named.starts_with('.')) {
        let keys = crate::project::identify(&directory).keys;
        return Ok(WantedProject {
            name: String::new(),
            keys,
        });
    }
    Ok(WantedProject {
        name: named.to_owned(),
        keys: Vec::new(),
    })
}

fn vocabulary(app: &App) -> anyhow::Result<Vocabulary> {
    let settings = app.settings().settings;
    match compressor::vocabulary(app.data.root(), &settings) {
        Ok(vocabulary) => Ok(vocabulary),
        Err(why) => {
            remark(why)?;
            Ok(Vocabulary::default())
        }
    }
}
