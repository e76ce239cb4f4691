//! Installation steps for the data directory, the settings and the database.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use anyhow::Context as _;

use super::steps::{StepReporter, StepState};
use crate::cli::app::App;
use claude_mem_core::paths;
use claude_mem_store::{Store, StoreError};

/// Creates what is missing and checks the rest. Returns whether there is a usable database. Another
/// program's database is left alone; events then wait in the spool.
pub(super) fn prepare(app: &App, steps: &mut StepReporter<'_>) -> anyhow::Result<bool> {
    directory(app, steps)?;
    settings(app, steps)?;
    database(app, steps)
}

fn directory(app: &App, steps: &mut StepReporter<'_>) -> anyhow::Result<()> {
    let root = app.data.root();
    if steps.is_dry_run() && !root.exists() {
        return steps.report_change("directory", root.display().to_string());
    }
    if !steps.is_dry_run() {
        let make = || {
            app.data.create()?;
            for below in [app.data.logs(), app.data.backups(), app.data.spool()] {
                paths::create_dir(&below)?;
            }
            // It may hold a key, and another program may have written it.
            match std::fs::set_permissions(app.data.settings(), Permissions::from_mode(0o600)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            }
        };
        make().with_context(|| format!("cannot create {}", root.display()))?;
    }
    steps.report("directory", StepState::Ok, root.display().to_string())
}

fn settings(app: &App, steps: &mut StepReporter<'_>) -> anyhow::Result<()> {
    let loaded = app.settings();
    match &loaded.warnings[..] {
        [] => steps.report("settings", StepState::Ok, "all valid"),
        [first, ..] if loaded.file_unreadable => {
            anyhow::bail!("{first}; fix {} first", app.data.settings().display())
        }
        several => {
            let several: Vec<String> = several.iter().map(ToString::to_string).collect();
            steps.report("settings", StepState::Note, several.join("; "))
        }
    }
}

fn database(app: &App, steps: &mut StepReporter<'_>) -> anyhow::Result<bool> {
    let path = app.data.db();
    if steps.is_dry_run() && !path.exists() {
        steps.report_change("database", path.display().to_string())?;
        return Ok(true);
    }
    let opened = if steps.is_dry_run() { Store::open_read_only(&path) } else { Store::open(&path) };
    match opened {
        Ok(store) => {
            let found = store.integrity_problems()?;
            anyhow::ensure!(found.is_empty(), "{}: {}", path.display(), found.join("; "));
            steps.report("database", StepState::Ok, format!("{}, intact", path.display()))?;
            Ok(true)
        }
        Err(StoreError::Foreign) => {
            let detail = format!(
                "{} belongs to another program and was left alone; events wait in the spool. \
                 `claude-mem install --adopt` imports it; --data-dir uses another directory",
                path.display()
            );
            steps.report("database", StepState::Note, detail)?;
            Ok(false)
        }
        Err(error) => Err(error).with_context(|| path.display().to_string()),
    }
}
