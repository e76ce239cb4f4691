//! Adopting the earlier claude-mem: always detected, replaced only on request.
//!
//! Its files are moved, never deleted: they go to `backups/`, into a directory named with the date.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::ask;
use super::command_hints::CommandHints;
use super::context::InstallContext;
use super::steps::{StepReporter, StepState};
use claude_mem_core::paths;
use claude_mem_core::paths::DataDir;
use claude_mem_setup::install::legacy;
use claude_mem_setup::install::legacy::LegacyRegistration;
use claude_mem_setup::install::legacy_worker;
use claude_mem_store::backups;
use claude_mem_store::{Store, StoreError};

/// Traces of the earlier claude-mem on this machine.
#[derive(Debug, Default)]
pub(super) struct LegacyInstall {
    pub(super) settings: LegacyRegistration,
    /// Its database has the path of ours.
    pub(super) database: bool,
}

impl LegacyInstall {
    pub(super) fn can_be_adopted(&self) -> bool {
        self.settings.is_present() || (self.database && ask::has_command(&IMPORT))
    }

    fn describe(&self) -> String {
        let mut parts = Vec::new();
        if !self.settings.plugins.is_empty() {
            parts.push(format!("its plugin {}", self.settings.plugins.join(", ")));
        }
        if !self.settings.events.is_empty() {
            parts.push(format!("its hooks for {}", self.settings.events.join(", ")));
        }
        if self.database {
            parts.push("its database".to_owned());
        }
        parts.join(", ")
    }
}

/// Prefix of the directories in `backups/` that hold its files.
pub(crate) const LEGACY_BACKUP_PREFIX: &str = "earlier-program-";

const IMPORT: [&str; 2] = ["import", "claude-mem-db"];

pub(super) fn detect(setting: &InstallContext<'_>) -> anyhow::Result<LegacyInstall> {
    let file = setting.places.read_settings()?;
    let text = file.text.as_deref().unwrap_or_default();
    let settings = legacy::find_legacy(text)
        .map_err(|reason| claude_mem_setup::install::file::ClientFileError::unreadable(&file.path, reason))?;
    let opened = Store::open_read_only(&setting.app.data.db());
    let database = matches!(opened, Err(StoreError::Foreign));
    Ok(LegacyInstall { settings, database })
}

pub(super) fn ask(found: &LegacyInstall, steps: &mut StepReporter<'_>) -> anyhow::Result<bool> {
    steps.print_line("")?;
    steps.print_line(&format!("The earlier claude-mem is installed: {}.", found.describe()))?;
    steps.print_line("Adopting disables it, moves its files to backups/ and imports its memories.")?;
    ask::confirm(steps, "Adopt it?")
}

/// Notes that the earlier claude-mem is still enabled and was not adopted.
pub(super) fn report_unadopted(
    setting: &InstallContext<'_>,
    found: &LegacyInstall,
    steps: &mut StepReporter<'_>,
) -> anyhow::Result<()> {
    if !found.settings.is_present() {
        return Ok(());
    }
    let detail = format!(
        "the earlier claude-mem is still enabled ({}), so sessions get context twice; `{}` disables it",
        found.describe(),
        CommandHints::new(setting).adopt(),
    );
    steps.report("earlier", StepState::Note, detail)
}

/// Refuses to share a data directory with the earlier program: its settings and logs have the names of
/// ours. Nothing has been changed yet.
pub(super) fn ensure_directory_is_ours(
    setting: &InstallContext<'_>,
    found: &LegacyInstall,
) -> anyhow::Result<()> {
    if !found.database || setting.wish.adopt {
        return Ok(());
    }
    let data = setting.app.data.root();
    let hints = CommandHints::new(setting);
    anyhow::bail!(
        "{} belongs to another program, most likely the earlier claude-mem; nothing was changed.\n\
         Replace it and import its memories:\n  {}\n\
         Use both, with another directory for this one:\n  {}",
        data.display(),
        hints.adopt(),
        hints.elsewhere(),
    )
}

/// Stops its worker and moves its files out of the way.
pub(super) fn take_over_files(
    setting: &InstallContext<'_>,
    found: &LegacyInstall,
    steps: &mut StepReporter<'_>,
) -> anyhow::Result<()> {
    if !found.database {
        return Ok(());
    }
    anyhow::ensure!(
        ask::has_command(&IMPORT),
        "cannot import the earlier database; use --data-dir for another directory, nothing was changed"
    );
    let to = backup_dir(setting);
    if setting.wish.dry_run {
        return steps.report_change("earlier", format!("move its files to {}", to.display()));
    }
    end_worker(setting, steps)?;
    // Before anything is moved or imported: the directory stood open to others.
    restrict_root(setting.app.data.root())
        .with_context(|| format!("cannot restrict {}", setting.app.data.root().display()))?;
    paths::create_dir(&to)?;
    let moved = move_files(&setting.app.data, &to)
        .with_context(|| format!("cannot move its files to {}", to.display()))?;
    steps.report_change("earlier", format!("moved {moved} files and directories to {}", to.display()))
}

/// Reports that it is disabled, stops its worker and imports its database.
pub(super) fn import(
    setting: &InstallContext<'_>,
    found: &LegacyInstall,
    steps: &mut StepReporter<'_>,
) -> anyhow::Result<()> {
    if found.settings.is_present() {
        let what = LegacyInstall { settings: found.settings.clone(), database: false };
        steps.report_change("earlier", format!("disabled {}", what.describe()))?;
    }
    if setting.wish.dry_run {
        return Ok(());
    }
    // An open session still has its hooks and may have restarted it.
    end_worker(setting, steps)?;
    if found.settings.is_present() {
        let detail = "restart open Claude Code sessions: they still have the old hooks and would \
                      start the earlier claude-mem again";
        steps.report("earlier", StepState::Note, detail)?;
    }
    if !found.database {
        return Ok(());
    }
    let path = DataDir::new(backup_dir(setting)).db();
    let database = path.display().to_string();
    let [import, kind] = IMPORT;
    // The database was in the user's own data directory.
    ask::run_subcommand(setting, steps, &[import, kind, &database, "--trust"])
}

fn end_worker(setting: &InstallContext<'_>, steps: &mut StepReporter<'_>) -> anyhow::Result<()> {
    match legacy_worker::stop_all(&setting.app.data)? {
        0 => Ok(()),
        _ => steps.report_change("earlier", "stopped its worker"),
    }
}

fn backup_dir(setting: &InstallContext<'_>) -> PathBuf {
    let stamp = backups::format_stamp(setting.app.now);
    setting.app.data.backups().join(format!("{LEGACY_BACKUP_PREFIX}{stamp}"))
}

/// Whether a path stays in place: our own files, and the settings, which both programs share.
fn is_kept_in_place(data: &DataDir, path: &Path) -> bool {
    let ours = [
        data.spool(),
        data.muted(),
        data.backups(),
        data.settings(),
        data.installed(),
        data.children(),
        data.paused(),
    ];
    ours.iter().any(|place| place == path)
}

/// Moves all files but ours, its logs among them: our log retention must not delete them. The shared
/// settings are copied as they were.
fn move_files(data: &DataDir, to: &Path) -> std::io::Result<usize> {
    let mut moved = 0;
    if data.settings().is_file() {
        let copy = to.join(paths::SETTINGS_NAME);
        std::fs::copy(data.settings(), &copy)?;
        std::fs::set_permissions(data.settings(), Permissions::from_mode(0o600))?;
    }
    for entry in std::fs::read_dir(data.root())? {
        let path = entry?.path();
        if is_kept_in_place(data, &path) {
            continue;
        }
        std::fs::rename(&path, to.join(path.file_name().unwrap_or_default()))?;
        moved += 1;
    }
    restrict_tree(to)?;
    Ok(moved)
}

fn restrict_root(root: &Path) -> std::io::Result<()> {
    std::fs::set_permissions(root, Permissions::from_mode(0o700))
}

/// Removes the access of others from a directory and everything in it. Links are not followed.
fn restrict_tree(dir: &Path) -> std::io::Result<()> {
    std::fs::set_permissions(dir, Permissions::from_mode(0o700))?;
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            restrict_tree(&entry.path())?;
        } else if kind.is_file() {
            std::fs::set_permissions(entry.path(), Permissions::from_mode(0o600))?;
        }
    }
    Ok(())
}
