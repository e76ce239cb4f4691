//! `claude-mem worker logs`: prints the end of the worker's log and follows it.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use crate::cli::app::App;
use crate::cli::output::Screen;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Number of lines
    #[arg(short = 'n', long, default_value_t = 50)]
    lines: usize,
    /// Print new lines as they are written, until Ctrl-C
    #[arg(short, long)]
    follow: bool,
}

#[derive(Serialize)]
struct WorkerLogLines {
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
    screen.show(&WorkerLogLines { lines }, |screen, logs| {
        let mut lines = logs.lines.iter();
        lines.try_for_each(|line| writeln!(screen, "{line}"))
    })?;
    if args.follow {
        follow(app, screen)?;
    }
    Ok(())
}

/// The worker's log files, oldest first. A rotated part is older than the current file of its day.
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
        // After a rotation the file starts again.
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
