//! `claude-mem uninstall`: removes hooks and tools from the client's files, stops the worker, and with
//! `--purge` deletes the data.
//!
//! All changes are computed before the first file is written. Files of other programs in the data
//! directory are never deleted.

mod agent_files;

use crate::limits::CLIENT_FILE_TRIES;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Serialize;

use super::app::App;
use super::install::{LEGACY_BACKUP_PREFIX, StepReporter, StepState, parse_agent};
use super::{UsageError, worker};
use crate::cli::output::{Screen, question_text};
use claude_mem_core::agents::{AGENTS, CLAUDE_CODE, CodingAgent};
use claude_mem_core::paths::{DataDir, OPEN_PAGE_PREFIX, SOCKET_NAME, with_suffix};
use claude_mem_setup::install::file::ClientFileError;
use claude_mem_setup::install::manifest::{InstallManifest, InstallPart, InstalledFile};
use claude_mem_setup::install::plan;
use claude_mem_setup::install::plan::{ClientPaths, FileChange};
use claude_mem_store::{Store, StoreError};

/// Remove hooks and tools from all agents and stop the worker
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem uninstall              keeps the memories in ~/.claude-mem
  claude-mem uninstall --project    only what `install --project` did here
  claude-mem uninstall --agent codex    only from Codex
  claude-mem uninstall --purge      also deletes memories, settings and backups

Files unchanged since the installation are restored byte for byte; from others only our own entries
are removed.")]
pub(super) struct Args {
    /// Show what would be done and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
    /// Only what was installed for one project
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    project: Option<PathBuf>,
    /// Only from this agent; repeatable
    #[arg(long = "agent", value_name = "NAME", value_parser = parse_agent, conflicts_with_all = ["project", "purge"])]
    agents: Vec<&'static CodingAgent>,
    /// Also delete all memories, settings and backups
    #[arg(long, conflicts_with = "project")]
    purge: bool,
}

#[derive(Serialize)]
struct UninstallReport<'a> {
    ok: bool,
    dry_run: bool,
    purged: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    steps: &'a [super::install::InstallStep],
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let mut steps = StepReporter::new(screen, args.dry_run);
    let outcome = run_steps(args, app, &mut steps);
    let report = UninstallReport {
        ok: outcome.is_ok(),
        dry_run: args.dry_run,
        purged: args.purge && !args.dry_run && outcome.is_ok(),
        error: outcome.as_ref().err().map(|error| format!("{error:#}")),
        steps: &steps.steps(),
    };
    if steps.finish(&report)? && outcome.is_err() {
        return Err(super::AlreadyReported.into());
    }
    outcome
}

fn run_steps(args: &Args, app: &App, steps: &mut StepReporter<'_>) -> anyhow::Result<()> {
    if args.purge && !args.yes && !args.dry_run {
        if !super::install::can_ask(steps.is_json()) {
            let hint = "cannot ask for confirmation here; `--purge --yes` permanently deletes all memories";
            return Err(UsageError::error(hint));
        }
        let question = format!("Permanently delete everything in {}?", app.data.root().display());
        anyhow::ensure!(steps.prompt(&question_text(&question, "[y/N]"))? == "y", "nothing was changed");
    }
    let mut manifest = InstallManifest::read(&app.data.installed())?;
    let is_meant = |agent: &CodingAgent| {
        args.agents.is_empty() || args.agents.iter().any(|named| named.name == agent.name)
    };
    let files = if is_meant(&CLAUDE_CODE) { registered_files(args, &manifest)? } else { Vec::new() };
    let changes = write_changes(args, &files)?;
    for change in &changes {
        report_change(change, steps)?;
    }
    if args.project.is_none() {
        let others = AGENTS.iter().filter(|agent| agent.name != CLAUDE_CODE.name && is_meant(agent));
        for agent in others {
            agent_files::remove_from_agent(agent, args.dry_run, &mut manifest, steps)?;
        }
    }
    if files.iter().any(|left| !left.adopted.is_empty()) {
        let detail = format!(
            "its hooks and plugin are enabled again; its files are in {}, in a directory {LEGACY_BACKUP_PREFIX}…",
            app.data.backups().display()
        );
        steps.report_change("earlier", detail)?;
    }
    if manifest.plugin && args.project.is_none() && is_meant(&CLAUDE_CODE) {
        if !args.dry_run {
            super::install::uninstall_plugin(app, &mut manifest)?;
        }
        steps.report_change("plugin", "removed from Claude Code")?;
    }
    if args.project.is_none() && args.agents.is_empty() {
        end_worker(args, app, steps)?;
        remove_own_copy(args, app, steps)?;
    }
    if !args.dry_run {
        for left in &files {
            manifest.remove(left.part, &left.path, left.project.as_deref());
        }
        let path = app.data.installed();
        if path.exists() {
            manifest.write(&path).with_context(|| path.display().to_string())?;
        }
    }
    if args.purge {
        return purge(app, steps);
    }
    if args.project.is_none() && args.agents.is_empty() && app.data.root().is_dir() {
        let detail = format!("kept in {}; --purge deletes them", app.data.root().display());
        steps.report("memories", StepState::Ok, detail)?;
    }
    Ok(())
}

/// Computes all changes, then writes them. A file that a running client changes meanwhile is read and
/// edited again.
fn write_changes(args: &Args, files: &[InstalledFile]) -> anyhow::Result<Vec<FileChange>> {
    let mut tries = 1..=CLIENT_FILE_TRIES;
    loop {
        let changes: Vec<FileChange> = files.iter().map(plan::plan_uninstall).collect::<Result<_, _>>()?;
        if args.dry_run {
            return Ok(changes);
        }
        match (plan::apply_all(&changes), tries.next()) {
            (Ok(()), _) => return Ok(changes),
            (Err(ClientFileError::ChangedMeanwhile(_)), Some(_)) => {}
            (Err(error), _) => return Err(error.into()),
        }
    }
}

/// The files in the manifest, and the default files even if the manifest does not list them.
fn registered_files(args: &Args, manifest: &InstallManifest) -> anyhow::Result<Vec<InstalledFile>> {
    let project = match &args.project {
        Some(dir) => Some(dir.canonicalize().with_context(|| dir.display().to_string())?),
        None => None,
    };
    let places =
        ClientPaths::find(|name| std::env::var_os(name), project.clone()).context("no home directory")?;
    let mut files: Vec<InstalledFile> =
        manifest.files.iter().filter(|left| project.is_none() || left.project == project).cloned().collect();
    for (part, path) in [(InstallPart::Hooks, &places.settings), (InstallPart::Server, &places.state)] {
        if manifest.find(part, path, project.as_deref()).is_none() {
            files.push(InstalledFile::unrecorded(part, path.clone(), project.clone()));
        }
    }
    Ok(files)
}

fn report_change(change: &FileChange, steps: &mut StepReporter<'_>) -> anyhow::Result<()> {
    let name = match change.part {
        InstallPart::Hooks => "hooks",
        InstallPart::Server => "tools",
    };
    let path = change.file.path.display();
    if let (true, Some(lost)) = (change.is_needed(), &change.unreadable_backup) {
        steps.report("copy", StepState::Note, super::install::lost_copy_note(lost))?;
    }
    match (&change.after, change.is_needed()) {
        (_, false) => steps.report(name, StepState::Ok, format!("no entries of ours in {path}")),
        (None, true) => steps.report_change(name, format!("removed {path}: it held only our entries")),
        (Some(_), true) => steps.report_change(name, format!("removed from {path}")),
    }
}

fn end_worker(args: &Args, app: &App, steps: &mut StepReporter<'_>) -> anyhow::Result<()> {
    if args.dry_run {
        return steps.report_change("worker", "stop it, if running");
    }
    if worker::stop_worker(app)? {
        steps.report_change("worker", "stopped")
    } else {
        steps.report("worker", StepState::Ok, "not running")
    }
}

/// Deletes the copy of the executable that `install` made, if it made one.
fn remove_own_copy(args: &Args, app: &App, steps: &mut StepReporter<'_>) -> anyhow::Result<()> {
    let copy = app.data.own_executable();
    let Some(directory) = copy.parent().filter(|_| copy.exists()) else {
        return Ok(());
    };
    if !args.dry_run {
        std::fs::remove_dir_all(directory)
            .with_context(|| format!("cannot delete {}", directory.display()))?;
    }
    steps.report_change("executable", format!("deleted the copy in {}", directory.display()))
}

/// Deletes our own files. Other files in the data directory stay, and then so does the directory.
fn purge(app: &App, steps: &mut StepReporter<'_>) -> anyhow::Result<()> {
    let data = &app.data;
    if steps.is_dry_run() {
        return steps.report_change("memories", format!("delete all our files in {}", data.root().display()));
    }
    let foreign = is_foreign(data)?;
    for path in owned_paths(data, foreign)? {
        let removed = if path.is_dir() && !path.is_symlink() {
            std::fs::remove_dir_all(&path)
        } else {
            std::fs::remove_file(&path)
        };
        match removed {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(e).with_context(|| format!("cannot delete {}", path.display()));
            }
            _ => {}
        }
    }
    // Fails if other files are left in it.
    let _ = std::fs::remove_dir(data.backups());
    let gone = std::fs::remove_dir(data.root()).is_ok() || !data.root().exists();
    let detail = if gone {
        format!("deleted {}", data.root().display())
    } else {
        format!("deleted; other files in {} were left", data.root().display())
    };
    steps.report_change("memories", detail)
}

/// Whether the database belongs to another program. Fails if that cannot be determined: then nothing
/// may be deleted.
fn is_foreign(data: &DataDir) -> anyhow::Result<bool> {
    match Store::open_read_only(&data.db()) {
        Err(StoreError::Foreign) => Ok(true),
        // A database replacement of ours is pending: only we create the `.swap` file.
        Err(StoreError::Busy) if with_suffix(&data.db(), ".swap").exists() => Ok(false),
        Ok(_)
        | Err(
            StoreError::Missing | StoreError::Corrupt | StoreError::Older { .. } | StoreError::Newer { .. },
        ) => Ok(false),
        Err(error) => Err(error).with_context(|| {
            let path = data.db();
            format!("cannot open {}; nothing was deleted", path.display())
        }),
    }
}

/// Every path in the data directory that we create.
fn owned_paths(data: &DataDir, foreign: bool) -> anyhow::Result<Vec<PathBuf>> {
    let mut paths = vec![
        data.spool(),
        data.muted(),
        data.compressor(),
        data.children(),
        data.plugin(),
        data.import_lock(),
        data.import_scratch(),
        data.rehearsal(),
        data.recovering(),
        data.installed(),
        data.paused(),
        data.settings_lock(),
        data.token(),
        data.page_tokens(),
        data.worker_port(),
        data.worker_pid(),
        data.worker_lock(),
        data.worker_started(),
        data.root().join(SOCKET_NAME),
    ];
    for database in [data.vectors_db(), data.db()] {
        if foreign && database == data.db() {
            continue;
        }
        for suffix in ["", "-wal", "-shm", ".gate", ".swap"] {
            paths.push(with_suffix(&database, suffix));
        }
    }
    let replaced = [
        data.settings(),
        data.paused(),
        data.token(),
        data.page_tokens(),
        data.worker_pid(),
        data.worker_port(),
        with_suffix(&data.db(), ".swap"),
    ];
    let unfinished = replaced.iter().map(|path| with_suffix(path, ".unfinished-"));
    let temporary: Vec<PathBuf> = unfinished.chain([with_suffix(&data.db(), ".new-")]).collect();
    // Prefixes of temporary files, and of the copy from before a migration.
    let mut made = vec!["edit-", OPEN_PAGE_PREFIX, "claude-mem.before-migration-"];
    made.extend(temporary.iter().filter_map(|path| path.file_name()?.to_str()));
    paths.extend(matching_entries(data.root(), |name| made.iter().any(|begin| name.starts_with(begin)))?);
    if !foreign {
        // Keep the files of the earlier claude-mem that were moved there when it was adopted.
        paths.extend(matching_entries(&data.backups(), |name| !name.starts_with(LEGACY_BACKUP_PREFIX))?);
        paths.extend([data.logs(), data.settings()]);
    }
    Ok(paths)
}

fn matching_entries(folder: &Path, is_ours: impl Fn(&str) -> bool) -> anyhow::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.and_then(Iterator::collect::<std::io::Result<Vec<_>>>),
    };
    let entries = entries.with_context(|| format!("cannot list {}", folder.display()))?;
    Ok(entries
        .iter()
        .filter(|entry| is_ours(&entry.file_name().to_string_lossy()))
        .map(std::fs::DirEntry::path)
        .collect())
}
