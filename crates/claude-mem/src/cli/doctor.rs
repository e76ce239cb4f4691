//! `claude-mem doctor`: reports problems with a fix for each; `--fix` applies the safe ones.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use anyhow::Context as _;
use serde::Serialize;

use super::app::App;
use super::{install, worker};
use crate::cli::output::{BAD, GOOD, QUIET, Screen, WARN};
use claude_mem_core::agents::MANAGED_SETTINGS;
use claude_mem_search::index;
use claude_mem_setup::doctor;
use claude_mem_setup::doctor::{AutoFix, DoctorContext, DoctorFinding, FindingLevel, WorkerProbe};
use claude_mem_store::{Store, VectorStore};

/// Check the installation and suggest a fix for each problem
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem doctor
  claude-mem doctor --fix          apply the fixes that need no decision
  claude-mem doctor --json | jq '.findings[] | select(.level != \"ok\")'

Exits with 1 if there is a problem. Uses the network only if a remote model is configured.")]
pub(super) struct Args {
    /// Apply the safe fixes, then check again
    #[arg(long)]
    fix: bool,
}

#[derive(Serialize)]
struct DoctorReport {
    ok: bool,
    findings: Vec<DoctorFinding>,
    fixed: Vec<AppliedFix>,
}

#[derive(Serialize)]
struct AppliedFix {
    cure: AutoFix,
    what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let mut findings = examine(app)?;
    let mut fixed = Vec::new();
    if args.fix {
        fixed = apply_fixes(app, &findings);
        if !fixed.is_empty() {
            findings = examine(app)?;
        }
    }
    let problems = findings.iter().filter(|finding| finding.level == FindingLevel::Problem).count();
    let report = DoctorReport { ok: problems == 0, findings, fixed };
    screen.show(&report, print)?;
    screen.flush()?;
    match (report.ok, screen.json) {
        (true, _) => Ok(()),
        (false, true) => Err(super::AlreadyReported.into()),
        (false, false) => {
            anyhow::bail!("{}", crate::cli::format::count(problems as u64, "problem"))
        }
    }
}

fn examine(app: &App) -> anyhow::Result<Vec<DoctorFinding>> {
    examine_with(app, doctor::run_checks)
}

/// Runs some of the checks on this machine.
pub(super) fn examine_with(
    app: &App,
    checks: fn(&DoctorContext<'_>) -> Vec<DoctorFinding>,
) -> anyhow::Result<Vec<DoctorFinding>> {
    let settings = app.settings();
    let (setting, unread) = install::inspect(app)?;
    let seen = worker::probe(app).unwrap_or_else(|error| worker::WorkerStatusReport::unknown(&error));
    let port = seen.address.as_deref().and_then(|address| address.rsplit(':').next()?.parse().ok());
    let env = |name: &str| std::env::var_os(name);
    let context = DoctorContext {
        data: &app.data,
        now: app.now,
        settings: &settings,
        launch: setting.launch,
        client_paths: setting.places,
        client: setting.client,
        manifest: setting.manifest,
        manifest_error: unread,
        worker: WorkerProbe { running: seen.running, version: seen.version, port, trouble: seen.trouble },
        env: &env,
        managed_settings: MANAGED_SETTINGS.into(),
    };
    Ok(checks(&context))
}

/// Applies each cure once. The order of `Cure` puts prerequisites first.
fn apply_fixes(app: &App, findings: &[DoctorFinding]) -> Vec<AppliedFix> {
    let mut cures: Vec<AutoFix> = findings.iter().filter_map(|finding| finding.auto_fix).collect();
    cures.sort_unstable();
    cures.dedup();
    let what_of = |cure: AutoFix| {
        let found = findings.iter().find(|finding| finding.auto_fix == Some(cure));
        found.map_or_else(String::new, |finding| finding.what.clone())
    };
    cures
        .into_iter()
        .map(|cure| AppliedFix {
            cure,
            what: what_of(cure),
            error: apply_fix(app, cure).err().map(|error| format!("{error:#}")),
        })
        .collect()
}

fn apply_fix(app: &App, cure: AutoFix) -> anyhow::Result<()> {
    match cure {
        AutoFix::Directories => {
            app.data.create()?;
            Ok(claude_mem_core::paths::create_dir(&app.data.backups())?)
        }
        AutoFix::Privacy => restrict_permissions(app),
        AutoFix::Migration => Ok(Store::open(&app.data.db()).map(drop)?),
        AutoFix::Words => Ok(app.store_to_change()?.rebuild_fts()?),
        AutoFix::Vectors => build_vectors(app),
        AutoFix::Spool => {
            let mut store = app.store_to_change()?;
            let taken = claude_mem_capture::enqueue::drain_spool(&app.data, &mut store, app.now);
            Ok(taken.map(|_| ())?)
        }
        AutoFix::Registration => install::register(app),
        AutoFix::Worker => {
            worker::stop_worker(app)?;
            worker::ensure_running(app).map(|_| ())
        }
    }
}

fn restrict_permissions(app: &App) -> anyhow::Result<()> {
    for (path, mode) in doctor::private_paths(&app.data) {
        if path.exists() {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode))
                .with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}

/// Embeds the missing rows now, without the worker: it may be disabled.
fn build_vectors(app: &App) -> anyhow::Result<()> {
    let mut store = app.store_to_change()?;
    let model = embed::EmbeddingModel::built_in();
    let mut vectors = VectorStore::open(&app.data.vectors_db(), model.id())?;
    index::reconcile(&mut store, &vectors)?;
    index::catch_up(&mut store, &mut vectors, model, |_| false)?;
    Ok(vectors.checkpoint()?)
}

fn print(screen: &mut Screen, report: &DoctorReport) -> std::io::Result<()> {
    for fixed in &report.fixed {
        let (style, mark) = match fixed.error {
            None => (GOOD, "fixed"),
            Some(_) => (BAD, "failed"),
        };
        let why = fixed.error.as_ref().map_or_else(String::new, |error| format!(": {error}"));
        let margin = format!("{style}{mark:8}{style:#}");
        screen.wrap_beside(&margin, 8, &format!("{}{why}", fixed.what))?;
    }
    if !report.fixed.is_empty() {
        writeln!(screen)?;
    }
    for finding in &report.findings {
        let (style, mark) = match finding.level {
            FindingLevel::Ok => (GOOD, "ok"),
            FindingLevel::Note => (WARN, "note"),
            FindingLevel::Problem => (BAD, "problem"),
        };
        let margin = format!("{style}{mark:8}{style:#}{:11}", finding.check);
        screen.wrap_beside(&margin, 19, &finding.what)?;
        if let Some(fix) = &finding.fix {
            let margin = format!("{:19}{QUIET}fix:{QUIET:#} ", "");
            screen.wrap_beside(&margin, 24, fix)?;
        }
    }
    let curable = report.findings.iter().any(|finding| finding.auto_fix.is_some());
    if curable && report.fixed.is_empty() {
        writeln!(screen, "\nRun `claude-mem doctor --fix` to apply the fixes that need no decision.")?;
    }
    Ok(())
}
