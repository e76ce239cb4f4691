//! Installation step that writes hooks and MCP tools to the client's files and records them in the
//! manifest.

use crate::limits::CLIENT_FILE_TRIES;
use std::path::PathBuf;

use anyhow::Context as _;

use super::context::InstallContext;
use super::steps::{StepReporter, StepState};
use claude_mem_setup::install::NAME;
use claude_mem_setup::install::client::HookForm;
use claude_mem_setup::install::file::ClientFileError;
use claude_mem_setup::install::manifest::InstallPart;
use claude_mem_setup::install::plan;
use claude_mem_setup::install::plan::{ChangePlan, ChangeReport, PlanRemark};
use claude_mem_store::backups;

pub(super) fn plan(setting: &InstallContext<'_>) -> anyhow::Result<ChangePlan> {
    let InstallContext { places, launch, manifest, .. } = setting;
    Ok(plan::plan_install(places, launch, manifest, setting.wish.adopt)?)
}

pub(super) fn apply(
    setting: &mut InstallContext<'_>,
    plan: &ChangePlan,
    steps: &mut StepReporter<'_>,
) -> anyhow::Result<()> {
    if setting.wish.dry_run {
        for change in &plan.changes {
            let path = change.file.path.display().to_string();
            report_change(setting, steps, change.part, &path, change.is_needed(), None)?;
        }
    } else {
        for one in write(setting)? {
            let path = one.path.display().to_string();
            report_change(setting, steps, one.part, &path, one.changed, one.backup)?;
        }
    }
    for lost in plan.changes.iter().filter_map(|change| change.unreadable_backup.as_ref()) {
        steps.report("copy", StepState::Note, lost_copy_note(lost))?;
    }
    for remark in &plan.remarks {
        let PlanRemark::NameTaken = remark;
        let detail = format!(
            "another MCP server is named {NAME} in {}; it was left alone, and the agent gets no memory tools",
            setting.places.state.display()
        );
        steps.report("tools", StepState::Note, detail)?;
    }
    Ok(())
}

/// Writes the files and the manifest without printing. A running client rewrites its state file all
/// the time, so a concurrent change is retried with a new plan.
pub(super) fn write(setting: &mut InstallContext<'_>) -> anyhow::Result<Vec<ChangeReport>> {
    let mut tries = 1..=CLIENT_FILE_TRIES;
    loop {
        let plan = plan(setting)?;
        match (write_planned(setting, &plan), tries.next()) {
            (Err(error), Some(_)) if is_concurrent_change(&error) => {}
            (outcome, _) => return outcome,
        }
    }
}

fn is_concurrent_change(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(ClientFileError::ChangedMeanwhile(_)))
}

fn write_planned(setting: &mut InstallContext<'_>, plan: &ChangePlan) -> anyhow::Result<Vec<ChangeReport>> {
    let data = &setting.app.data;
    let path = data.installed();
    let before = setting.manifest.clone();
    let stamp = backups::format_stamp(setting.app.now);
    let done = plan::record_plan(plan, &mut setting.manifest, &data.client_backups(), &stamp)?;
    save_manifest(setting)?;
    if let Err(error) = plan::apply_all(&plan.changes) {
        // A file that could not be rolled back holds our entries: keep them in the manifest.
        if matches!(error, ClientFileError::PartlyApplied { .. }) {
            return Err(error.into());
        }
        before.write(&path)?;
        setting.manifest = before;
        return Err(error.into());
    }
    Ok(done)
}

/// Writes the manifest, with our version, our path and the client version.
pub(super) fn save_manifest(setting: &mut InstallContext<'_>) -> anyhow::Result<()> {
    let InstallContext { manifest, launch, client, .. } = setting;
    env!("CARGO_PKG_VERSION").clone_into(&mut manifest.version);
    manifest.executable.clone_from(&launch.executable);
    manifest.client = client.as_ref().and_then(|found| Some(found.version?.to_string()));
    if let Some(found) = client {
        manifest.client_program = Some(found.program.clone());
    }
    let given = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    manifest.home = given("HOME");
    manifest.client_dir = given("CLAUDE_CONFIG_DIR");
    let path = setting.app.data.installed();
    let written = setting.manifest.write(&path);
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// The note that a client file cannot be restored from its copy.
pub(in crate::cli) fn lost_copy_note(lost: &str) -> String {
    format!("the original copy cannot be read ({lost}); uninstall removes our entries and leaves the rest")
}

fn report_change(
    setting: &InstallContext<'_>,
    steps: &mut StepReporter<'_>,
    part: InstallPart,
    path: &str,
    changed: bool,
    backup: Option<std::path::PathBuf>,
) -> anyhow::Result<()> {
    let (name, what) = match part {
        InstallPart::Hooks => ("hooks", describe_hooks(setting)),
        InstallPart::Server => ("tools", "the agent's search tools".to_owned()),
    };
    if changed {
        steps.report_file_change(name, format!("{what} in {path}"), backup)
    } else {
        steps.report(name, StepState::Ok, format!("{what} already in {path}"))
    }
}

fn describe_hooks(setting: &InstallContext<'_>) -> String {
    let abilities = setting.launch.capabilities;
    let form = match abilities.form() {
        HookForm::Exec => "started directly",
        HookForm::Shell => "through a shell",
    };
    format!("{} events, {form},", abilities.events().len())
}
