//! `claude-mem doctor`: what is wrong and the command that mends it; with `--fix`, mended.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use anyhow::Context as _;
use serde::Serialize;

use super::app::App;
use super::screen::{BAD, GOOD, QUIET, Screen, WARN};
use super::{install, worker};
use crate::doctor::{self, Cure, Finding, Level, Patient, WorkerSeen};
use crate::search::index;
use crate::store::{Store, VectorStore};

/// Look for what is wrong, and name the command that mends it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem doctor
  claude-mem doctor --fix          mend what can be mended without asking anybody
  claude-mem doctor --json | jq '.findings[] | select(.level != \"ok\")'

It ends with 1 if there is a problem. Nothing is asked of the network, unless a model is set that
is elsewhere.")]
pub(super) struct Args {
    /// Mend what is safe to mend, and look again
    #[arg(long)]
    fix: bool,
}

#[derive(Serialize)]
struct Report {
    ok: bool,
    findings: Vec<Finding>,
    fixed: Vec<Fixed>,
}

#[derive(Serialize)]
struct Fixed {
    cure: Cure,
    what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let mut findings = examine(app)?;
    let mut fixed = Vec::new();
    if args.fix {
        fixed = mend(app, &findings);
        if !fixed.is_empty() {
            findings = examine(app)?;
        }
    }
    let problems = findings
        .iter()
        .filter(|finding| finding.level == Level::Problem)
        .count();
    let report = Report {
        ok: problems == 0,
        findings,
        fixed,
    };
    screen.show(&report, print)?;
    screen.flush()?;
    match (report.ok, screen.json) {
        (true, _) => Ok(()),
        (false, true) => Err(super::Told.into()),
        (false, false) => anyhow::bail!("{}", super::words::count(problems as u64, "problem")),
    }
}

fn examine(app: &App) -> anyhow::Result<Vec<Finding>> {
    let settings = app.settings();
    let (setting, unread) = install::of_process(app)?;
    let seen = worker::look(app).unwrap_or_else(|error| worker::Report::unknown(&error));
    let port = seen
        .address
        .as_deref()
        .and_then(|address| address.rsplit(':').next()?.parse().ok());
    let env = |name: &str| std::env::var_os(name);
    let patient = Patient {
        data: &app.data,
        now: app.now,
        settings: &settings,
        launch: setting.launch,
        places: setting.places,
        client: setting.client,
        receipt: setting.receipt,
        receipt_unread: unread,
        worker: WorkerSeen {
            running: seen.running,
            version: seen.version,
            port,
            trouble: seen.trouble,
        },
        env: &env,
        managed_settings: "/etc/claude-code/managed-settings.json".into(),
    };
    Ok(doctor::examine(&patient))
}

/// Each cure once, in the order in which one builds on the other.
fn mend(app: &App, findings: &[Finding]) -> Vec<Fixed> {
    let mut cures: Vec<Cure> = findings.iter().filter_map(|finding| finding.cure).collect();
    cures.sort_unstable();
    cures.dedup();
    let what_of = |cure: Cure| {
        let found = findings.iter().find(|finding| finding.cure == Some(cure));
        found.map_or_else(String::new, |finding| finding.what.clone())
    };
    cures
        .into_iter()
        .map(|cure| Fixed {
            cure,
            what: what_of(cure),
            error: apply(app, cure).err().map(|error| format!("{error:#}")),
        })
        .collect()
}

fn apply(app: &App, cure: Cure) -> anyhow::Result<()> {
    match cure {
        Cure::Directories => {
            app.data.create()?;
            Ok(crate::paths::create_dir(&app.data.backups())?)
        }
        Cure::Privacy => make_private(app),
        Cure::Migration => Ok(Store::open(&app.data.db()).map(drop)?),
        Cure::Words => Ok(app.store_to_change()?.rebuild_words()?),
        Cure::Vectors => build_vectors(app),
        Cure::Spool => {
            let mut store = app.store_to_change()?;
            let taken = crate::hook::deliver::take_in(&app.data, &mut store, app.now);
            Ok(taken.map(|_| ())?)
        }
        Cure::Registration => install::register(app),
        Cure::Worker => {
            worker::end(app)?;
            worker::ensure(app).map(|_| ())
        }
    }
}

fn make_private(app: &App) -> anyhow::Result<()> {
    for (path, mode) in doctor::private_paths(&app.data) {
        if path.exists() {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode))
                .with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}

/// Owes what is missing and makes it now: the worker may be switched off.
fn build_vectors(app: &App) -> anyhow::Result<()> {
    let mut store = app.store_to_change()?;
    let model = embed::Model::built_in();
    let mut vectors = VectorStore::open(&app.data.vectors_db(), model.id())?;
    index::reconcile(&mut store, &vectors)?;
    index::catch_up(&mut store, &mut vectors, model, |_| false)?;
    Ok(vectors.checkpoint()?)
}

fn print(screen: &mut Screen, report: &Report) -> std::io::Result<()> {
    for fixed in &report.fixed {
        let (style, mark) = match fixed.error {
            None => (GOOD, "fixed"),
            Some(_) => (BAD, "failed"),
        };
        let why = fixed
            .error
            .as_ref()
            .map_or_else(String::new, |error| format!(": {error}"));
        let margin = format!("{style}{mark:8}{style:#}");
        screen.beside(&margin, 8, &format!("{}{why}", fixed.what))?;
    }
    if !report.fixed.is_empty() {
        writeln!(screen)?;
    }
    for finding in &report.findings {
        let (style, mark) = match finding.level {
            Level::Ok => (GOOD, "ok"),
            Level::Note => (WARN, "note"),
            Level::Problem => (BAD, "problem"),
        };
        let margin = format!("{style}{mark:8}{style:#}{:11}", finding.check);
        screen.beside(&margin, 19, &finding.what)?;
        if let Some(fix) = &finding.fix {
            let margin = format!("{:19}{QUIET}fix:{QUIET:#} ", "");
            screen.beside(&margin, 24, fix)?;
        }
    }
    let curable = report.findings.iter().any(|finding| finding.cure.is_some());
    if curable && report.fixed.is_empty() {
        writeln!(
            screen,
            "\n`claude-mem doctor --fix` mends what needs no decision."
        )?;
    }
    Ok(())
}
