//! `claude-mem install`: the data directory, the database, and a look whether both are sound.

use std::io::Write as _;

use anyhow::Context as _;
use serde::Serialize;

use super::app::App;
use super::screen::{BAD, GOOD, Screen};
use crate::paths;
use crate::store::{Store, StoreError};

/// Set up the data directory and check that it works
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem install
  claude-mem --data-dir /elsewhere install

It can be run again at any time: what is there already stays.")]
pub(super) struct Args {}

#[derive(Serialize)]
struct Report {
    data_dir: String,
    steps: Vec<Step>,
    ok: bool,
}

#[derive(Serialize)]
struct Step {
    name: &'static str,
    ok: bool,
    detail: String,
}

pub(super) fn run(_args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let mut steps = vec![directory(app), settings(app)];
    let (opened, store) = database(app);
    steps.push(opened);
    steps.extend(store.as_ref().map(soundness));
    let report = Report {
        data_dir: app.data.root().display().to_string(),
        ok: steps.iter().all(|step| step.ok),
        steps,
    };
    screen.show(&report, |screen, report| {
        for step in &report.steps {
            let (style, mark) = if step.ok { (GOOD, "ok") } else { (BAD, "failed") };
            writeln!(screen, "{style}{mark:6}{style:#} {:10} {}", step.name, step.detail)?;
        }
        Ok(())
    })?;
    if report.ok {
        Ok(())
    } else {
        anyhow::bail!("claude-mem is not set up")
    }
}

impl Step {
    fn of(name: &'static str, outcome: anyhow::Result<String>) -> Self {
        match outcome {
            Ok(detail) => Self {
                name,
                ok: true,
                detail,
            },
            Err(error) => Self {
                name,
                ok: false,
                detail: format!("{error:#}"),
            },
        }
    }
}

fn directory(app: &App) -> Step {
    let make = || {
        app.data.create()?;
        for below in [app.data.logs(), app.data.backups(), app.data.spool()] {
            paths::create_dir(&below)?;
        }
        std::io::Result::Ok(())
    };
    let root = app.data.root().display();
    let made = make()
        .map(|()| root.to_string())
        .with_context(|| format!("cannot make {root}"));
    Step::of("directory", made)
}

fn settings(app: &App) -> Step {
    let loaded = app.settings();
    let outcome = match &loaded.warnings[..] {
        [] => Ok("all readable".to_owned()),
        [first, ..] if loaded.file_unreadable => Err(anyhow::anyhow!("{first}")),
        several => Ok(several
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("; ")),
    };
    Step::of("settings", outcome)
}

fn database(app: &App) -> (Step, Option<Store>) {
    let path = app.data.db();
    match Store::open(&path) {
        Ok(store) => (Step::of("database", Ok(path.display().to_string())), Some(store)),
        Err(StoreError::Foreign) => {
            let error = anyhow::anyhow!(
                "{} belongs to another program and was left alone; use --data-dir or \
                 CLAUDE_MEM_DATA_DIR to keep ours elsewhere",
                path.display()
            );
            (Step::of("database", Err(error)), None)
        }
        Err(error) => (Step::of("database", Err(error.into())), None),
    }
}

fn soundness(store: &Store) -> Step {
    let outcome = match store.integrity() {
        Ok(found) if found.is_empty() => Ok("the database is sound".to_owned()),
        Ok(found) => Err(anyhow::anyhow!("{}", found.join("; "))),
        Err(error) => Err(error.into()),
    };
    Step::of("check", outcome)
}
