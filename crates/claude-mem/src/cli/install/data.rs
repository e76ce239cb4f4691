//! The data directory, its settings and its database.

use anyhow::Context as _;

use super::steps::{State, Steps};
use crate::cli::app::App;
use crate::paths;
use crate::store::{Store, StoreError};

/// Makes what is missing and looks whether all is sound. True if there is a database to work
/// with; somebody else's is left alone, and then events wait in the spool.
pub(super) fn prepare(app: &App, steps: &mut Steps<'_>) -> anyhow::Result<bool> {
    directory(app, steps)?;
    settings(app, steps)?;
    database(app, steps)
}

fn directory(app: &App, steps: &mut Steps<'_>) -> anyhow::Result<()> {
    let root = app.data.root();
    if steps.is_dry() && !root.exists() {
        return steps.done("directory", root.display().to_string());
    }
    if !steps.is_dry() {
        let make = || {
            app.data.create()?;
            for below in [app.data.logs(), app.data.backups(), app.data.spool()] {
                paths::create_dir(&below)?;
            }
            std::io::Result::Ok(())
        };
        make().with_context(|| format!("cannot make {}", root.display()))?;
    }
    steps.say("directory", State::Ok, root.display().to_string())
}

fn settings(app: &App, steps: &mut Steps<'_>) -> anyhow::Result<()> {
    let loaded = app.settings();
    match &loaded.warnings[..] {
        [] => steps.say("settings", State::Ok, "all readable"),
        [first, ..] if loaded.file_unreadable => {
            anyhow::bail!("{first}; mend {} first", app.data.settings().display())
        }
        several => {
            let several: Vec<String> = several.iter().map(ToString::to_string).collect();
            steps.say("settings", State::Note, several.join("; "))
        }
    }
}

fn database(app: &App, steps: &mut Steps<'_>) -> anyhow::Result<bool> {
    let path = app.data.db();
    if steps.is_dry() && !path.exists() {
        steps.done("database", path.display().to_string())?;
        return Ok(true);
    }
    let opened = if steps.is_dry() {
        Store::open_read_only(&path)
    } else {
        Store::open(&path)
    };
    match opened {
        Ok(store) => {
            let found = store.integrity()?;
            anyhow::ensure!(found.is_empty(), "{}: {}", path.display(), found.join("; "));
            steps.say("database", State::Ok, format!("{}, sound", path.display()))?;
            Ok(true)
        }
        Err(StoreError::Foreign) => {
            let detail = format!(
                "{} belongs to another program and was left alone; events wait beside it. \
                 `claude-mem install --adopt` takes over what it holds; --data-dir keeps ours elsewhere",
                path.display()
            );
            steps.say("database", State::Note, detail)?;
            Ok(false)
        }
        Err(error) => Err(error).with_context(|| path.display().to_string()),
    }
}
