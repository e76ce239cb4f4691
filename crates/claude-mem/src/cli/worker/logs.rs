//! `claude-mem worker logs`: the end of the log, and what is added to it.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use crate::cli::app::App;
use crate::cli::screen::Screen;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// How many lines
    #[arg(short = 'n', long, default_value_t = 50)]
    lines: usize,
    /// Go on with what is added, until Ctrl-C
    #[arg(short, long)]
    follow: bool,
}

#[derive(Serialize)]
struct Logs {
    lines: Vec<String>,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let files = files(&app.data.logs())?;
    let mut lines = Vec::new();
    for file in files.iter().rev() {
        let text = std::fs::read_to_string(file)?;
        let more = text.lines().rev().take(args.lines - lines.len());
        lines.extend(more.map(str::to_owned));
        if lines.len() >= args.lines {
            break;
        }
    }
    lines.reverse();
    screen.show(&Logs { lines }, |screen, logs| {
        let mut lines = logs.lines.iter();
        lines.try_for_each(|line| writeln!(screen, "{line}"))
    })?;
    if args.follow {
        follow(app, screen)?;
    }
    Ok(())
}

/// The worker's logs, oldest first. A part that was set aside is older than the day's own file.
fn files(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(dir) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found: Vec<(String, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let stem = name.strip_prefix("worker-")?.strip_suffix(".log")?;
            let part = stem.split_once('.').map_or("~", |(_, part)| part);
            let day = stem.split('.').next()?;
            Some((format!("{day}.{part}"), entry.path()))
        })
        .collect();
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

fn follow(app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let newest = || files(&app.data.logs()).map(|files| files.last().cloned());
    let mut current = newest()?;
    let mut at = current.as_deref().map_or(0, length);
    loop {
        screen.flush()?;
        std::thread::sleep(Duration::from_millis(300));
        let now = newest()?;
        if now != current {
            (current, at) = (now, 0);
        }
        let Some(path) = &current else {
            continue;
        };
        // A file that was set aside begins anew.
        at = at.min(length(path));
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(at))?;
        let mut text = String::new();
        at += file.read_to_string(&mut text)? as u64;
        write!(screen, "{text}")?;
    }
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |meta| meta.len())
}
