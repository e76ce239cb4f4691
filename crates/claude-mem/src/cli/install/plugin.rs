//! The plugin, put in and taken out by the client itself.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;

use super::steps::Steps;
use super::{Setting, registration};
use crate::child::{self, Order};
use crate::cli::app::App;
use crate::install::file::FileError;
use crate::install::receipt::{Left, Receipt};
use crate::install::{MARKET, change, plugin, rival};
use crate::limits::CLIENT_PLUGIN_SECONDS_MAX;

/// Installs it. Hooks and tools that stand in the settings go: they would be started twice.
pub(super) fn install(setting: &mut Setting<'_>, steps: &mut Steps<'_>) -> anyhow::Result<()> {
    let client = setting.client.as_ref().map(|found| found.program.clone());
    let client = client.context(
        "the plugin is installed by Claude Code, which was not found; nothing was changed",
    )?;
    let dir = setting.app.data.plugin();
    let path = dir.display().to_string();
    let said = format!("{} from {path}", plugin::id());
    if setting.wish.dry_run {
        return steps.done("plugin", said);
    }
    steps.busy("plugin", "is being installed");
    plugin::write(&dir, &setting.launch).with_context(|| format!("cannot write {path}"))?;
    run(setting.app, &client, &["marketplace", "add", &path])?;
    run(setting.app, &client, &["install", &plugin::id()])?;
    let for_user = |left: &&Left| left.project.is_none();
    let files = setting.receipt.files.iter().filter(for_user);
    let changes: Vec<_> = files.map(change::to_uninstall).collect::<Result<_, _>>()?;
    change::write_all(&changes)?;
    setting.receipt.files.retain(|left| left.project.is_some());
    if setting.wish.adopt {
        switch_off_earlier(setting)?;
    }
    setting.receipt.plugin = true;
    registration::save(setting)?;
    steps.done("plugin", said)
}

fn switch_off_earlier(setting: &Setting<'_>) -> anyhow::Result<()> {
    let file = setting.places.read_settings()?;
    let Some(text) = &file.text else {
        return Ok(());
    };
    let off = rival::switched_off(text).map_err(|why| FileError::unreadable(&file.path, why))?;
    if off != *text {
        file.replace(Some(&off))?;
    }
    Ok(())
}

/// Takes it out again. A client that is gone has nothing to be taken out of.
pub(crate) fn uninstall(app: &App, receipt: &mut Receipt) -> anyhow::Result<()> {
    if let Some(found) = super::find_client(app) {
        run(app, &found.program, &["uninstall", &plugin::id()])?;
        run(app, &found.program, &["marketplace", "remove", MARKET])?;
    }
    plugin::remove(&app.data.plugin())?;
    receipt.plugin = false;
    Ok(())
}

/// `claude plugin …`, with its own words if it fails.
fn run(app: &App, client: &Path, args: &[&str]) -> anyhow::Result<()> {
    let said = || format!("`claude plugin {}`", args.join(" "));
    let mut all = vec![OsString::from("plugin")];
    all.extend(args.iter().map(OsString::from));
    let order = Order {
        program: client.into(),
        args: all,
        env: std::env::vars_os().collect(),
        directory: app.data.root().to_owned(),
    };
    let within = Duration::from_secs(CLIENT_PLUGIN_SECONDS_MAX);
    let spawner = super::spawner(app)?;
    let ended = child::run(&spawner, order, b"", within).with_context(said)?;
    let words = [ended.stdout, ended.stderr].concat();
    let words = String::from_utf8_lossy(&words);
    anyhow::ensure!(
        ended.status.success(),
        "{} failed: {}",
        said(),
        words.trim()
    );
    Ok(())
}
