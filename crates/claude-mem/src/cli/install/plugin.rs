//! Installs and removes the plugin through the `claude plugin` command of the client.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;

use super::client_process::{find_client, spawner};
use super::context::InstallContext;
use super::registration;
use super::steps::StepReporter;
use crate::cli::app::App;
use claude_mem_core::child;
use claude_mem_core::child::SpawnRequest;
use claude_mem_setup::install::file::ClientFileError;
use claude_mem_setup::install::manifest::{InstallManifest, InstalledFile};
use claude_mem_setup::install::{MARKET, legacy, plan, plugin};

/// Maximum seconds that a client may take to install or remove a plugin.
const CLIENT_PLUGIN_SECONDS_MAX: u64 = 60;

/// Installs the plugin and removes our hooks and tools from the user's settings: both would run.
pub(super) fn install(setting: &mut InstallContext<'_>, steps: &mut StepReporter<'_>) -> anyhow::Result<()> {
    let found = setting.client.as_ref().map(|found| found.program.clone());
    let client =
        found.context("Claude Code not found; it is needed to install the plugin, nothing was changed")?;
    let dir = setting.app.data.plugin();
    let path = dir.display().to_string();
    let said = format!("{} from {path}", plugin::id());
    if setting.wish.dry_run {
        return steps.report_change("plugin", said);
    }
    steps.start_spinner("plugin", "installing");
    plugin::write(&dir, &setting.launch).with_context(|| format!("cannot write {path}"))?;
    run(setting.app, &client, &["marketplace", "add", &path])?;
    run(setting.app, &client, &["install", &plugin::id()])?;
    let for_user = |left: &&InstalledFile| left.project.is_none();
    let files = setting.manifest.files.iter().filter(for_user);
    let changes: Vec<_> = files.map(plan::plan_uninstall).collect::<Result<_, _>>()?;
    plan::apply_all(&changes)?;
    setting.manifest.files.retain(|left| left.project.is_some());
    if setting.wish.adopt {
        disable_legacy(setting)?;
    }
    setting.manifest.plugin = true;
    registration::save_manifest(setting)?;
    steps.report_change("plugin", said)
}

fn disable_legacy(setting: &InstallContext<'_>) -> anyhow::Result<()> {
    let file = setting.places.read_settings()?;
    let Some(text) = &file.text else {
        return Ok(());
    };
    let off = legacy::disable_legacy(text).map_err(|why| ClientFileError::unreadable(&file.path, why))?;
    if off != *text {
        file.replace(Some(&off))?;
    }
    Ok(())
}

/// Removes the plugin. Without a client, only our own files are removed.
pub(crate) fn uninstall(app: &App, manifest: &mut InstallManifest) -> anyhow::Result<()> {
    if let Some(found) = find_client(app) {
        run(app, &found.program, &["uninstall", &plugin::id()])?;
        run(app, &found.program, &["marketplace", "remove", MARKET])?;
    }
    plugin::remove(&app.data.plugin())?;
    manifest.plugin = false;
    Ok(())
}

/// Runs `claude plugin ARGS`. The error contains its output.
fn run(app: &App, client: &Path, args: &[&str]) -> anyhow::Result<()> {
    let said = || format!("`claude plugin {}`", args.join(" "));
    let mut all = vec![OsString::from("plugin")];
    all.extend(args.iter().map(OsString::from));
    let order = SpawnRequest {
        program: client.into(),
        args: all,
        env: std::env::vars_os().collect(),
        directory: app.data.root().to_owned(),
    };
    let within = Duration::from_secs(CLIENT_PLUGIN_SECONDS_MAX);
    let spawner = spawner(app)?;
    let ended = child::run(&spawner, order, b"", within).with_context(said)?;
    let output = [ended.stdout, ended.stderr].concat();
    let words = String::from_utf8_lossy(&output);
    anyhow::ensure!(ended.status.success(), "{} failed: {}", said(), words.trim());
    Ok(())
}
