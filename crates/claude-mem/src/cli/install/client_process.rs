//! Finds the client, and starts short-lived processes of it ([`OneOffSpawner`]).

use std::ffi::OsString;
use std::path::PathBuf;

use crate::cli::app::App;
use claude_mem_core::child::{ChildRegistry, ChildSpawner};
use claude_mem_core::platform;
use claude_mem_setup::install::find;
use claude_mem_setup::install::find::InstalledClient;

/// Finds the client and its version, by running it if the files do not tell.
pub(in crate::cli) fn find_client(app: &App) -> Option<InstalledClient> {
    let program = find::find_program(|name| std::env::var_os(name))?;
    let version = find::version_on_disk(&program).or_else(|| {
        let env: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        let spawner = spawner(app).ok()?;
        find::version_from_program(&program, env, &spawner)
    });
    Some(InstalledClient { program, version })
}

/// A spawner for short-lived child processes. Without a data directory, the child register goes to a
/// temporary directory: read-only commands must not create the data directory.
pub(in crate::cli) fn spawner(app: &App) -> std::io::Result<OneOffSpawner> {
    let is_there = app.data.root().is_dir();
    let directory = if is_there {
        app.data.children()
    } else {
        std::env::temp_dir().join(format!("claude-mem-children-{}", std::process::id()))
    };
    let spawner = ChildSpawner::start(platform::own_executable(), ChildRegistry::open(&directory)?)?;
    Ok(OneOffSpawner { spawner, temporary_dir: (!is_there).then_some(directory) })
}

/// A spawner whose child register may be in a temporary directory, removed on drop.
pub(in crate::cli) struct OneOffSpawner {
    spawner: ChildSpawner,
    temporary_dir: Option<PathBuf>,
}

impl std::ops::Deref for OneOffSpawner {
    type Target = ChildSpawner;

    fn deref(&self) -> &ChildSpawner {
        &self.spawner
    }
}

impl Drop for OneOffSpawner {
    fn drop(&mut self) {
        if let Some(directory) = &self.temporary_dir {
            // Fails if a child is still registered; then the directory is still needed.
            let _ = std::fs::remove_dir(directory);
        }
    }
}
