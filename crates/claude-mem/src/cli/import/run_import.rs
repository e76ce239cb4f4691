//! Runs one import on the store, or on a temporary copy of it ([`run_import`]).

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::cli::app::App;
use crate::cli::format;
use crate::cli::output::print_note;
use claude_mem_capture::settings::HookSettings;
use claude_mem_store::{Store, StoreError};
use claude_mem_transfer::import;
use claude_mem_transfer::import::{ImportContext, ImportError, ImportReport, SourceTrust};

/// Runs an import on the store, or for a dry run on a temporary copy of it.
pub(in crate::cli) fn run_import(
    app: &App,
    dry_run: bool,
    trust: SourceTrust,
    act: impl FnOnce(&mut Store, ImportContext<'_>) -> anyhow::Result<ImportReport>,
) -> anyhow::Result<ImportReport> {
    app.data.create().with_context(|| format!("cannot create {}", app.data.root().display()))?;
    let _one = import::acquire_import_lock(&app.data)?;
    // Events still in the spool are ingested later; their keys prevent duplicates.
    if let Err(error) = app.ingest_spool() {
        print_note(format!("the spool cannot be read ({error}); `claude-mem doctor` says more"))?;
    }
    let settings = HookSettings::load_os(&app.data, |name| std::env::var_os(name));
    let home = std::env::var_os("HOME").unwrap_or_default();
    let client_dir = client_dir(&home)?;
    let home = home.to_string_lossy().into_owned();
    let around = ImportContext { settings: &settings, home: &home, client_dir: &client_dir, trust };
    let mut store = open_store(app)?;
    let brought = if dry_run {
        let scratch = create_rehearsal_dir(app)?;
        let copy = scratch.0.join("store.db");
        store.back_up(&copy)?;
        act(&mut Store::open(&copy)?, around)
    } else {
        act(&mut store, around)
    };
    let mut report = brought.map_err(add_advice)?;
    if dry_run {
        report.run = None;
    } else {
        print_index_state(app, &store)?;
    }
    Ok(report)
}

/// Says how much of the store can be searched by meaning.
fn print_index_state(app: &App, store: &Store) -> anyhow::Result<()> {
    if !app.settings().settings.vectors {
        print_note("index: off; `claude-mem config set vectors on` adds search by meaning")?;
        return Ok(());
    }
    let coverage = store.read().index_coverage()?;
    let (rows, waiting) = (coverage.rows, coverage.waiting.min(coverage.rows));
    let state = format!("index: {} of {}", format::grouped(rows - waiting), format::count(rows, "row"));
    print_note(if waiting == 0 {
        state
    } else {
        format!(
            "{state}; the rest is found by words until the worker has indexed it \
             (`claude-mem status` shows the progress)"
        )
    })?;
    Ok(())
}

/// Adds advice to errors that the user can act on.
fn add_advice(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref() {
        Some(ImportError::Store(StoreError::DiskFull)) => anyhow::anyhow!(
            "the disk is full; free some space and run it again: what was stored so far is kept"
        ),
        _ => error,
    }
}

/// The directory of one dry run, removed on drop.
struct RehearsalDir(PathBuf);

impl Drop for RehearsalDir {
    fn drop(&mut self) {
        // The next import removes a leftover.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn create_rehearsal_dir(app: &App) -> anyhow::Result<RehearsalDir> {
    let dir = app.data.rehearsal();
    match std::fs::remove_dir_all(&dir) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e.into()),
        _ => {}
    }
    claude_mem_core::paths::create_dir(&dir)?;
    Ok(RehearsalDir(dir))
}

fn open_store(app: &App) -> anyhow::Result<Store> {
    let path = app.data.db();
    match Store::open(&path) {
        Err(StoreError::DiskFull) => {
            anyhow::bail!("the disk is full; free some space and run it again")
        }
        Err(StoreError::Foreign) => anyhow::bail!(
            "{} belongs to the earlier claude-mem: `claude-mem install --adopt` replaces and imports it, \
             --data-dir keeps both apart",
            path.display()
        ),
        opened => opened.with_context(|| path.display().to_string()),
    }
}

/// The client's own data directory.
pub(super) fn client_dir(home: &OsStr) -> anyhow::Result<PathBuf> {
    let given = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|dir| !dir.is_empty());
    anyhow::ensure!(given.is_some() || !home.is_empty(), "no home directory; set HOME or CLAUDE_CONFIG_DIR");
    Ok(given.map_or_else(|| Path::new(home).join(".claude"), PathBuf::from))
}
