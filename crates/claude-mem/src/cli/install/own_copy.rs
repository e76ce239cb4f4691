//! Keeps a copy of an executable that runs from a package manager's cache.
//!
//! `npx` and `uvx` run programs from a cache that may be emptied at any time, but hooks need a path that
//! stays. Such an executable copies itself into the data directory and continues as the copy.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

use crate::cli::app::App;
use claude_mem_core::paths;

/// Names of directories that caches of package managers are in: npx, uvx wherever its cache is, `pipx run`,
/// `pnpm dlx`.
const CACHE_DIRECTORIES: [&str; 4] = ["_npx", "archive-v0", ".cache", "Caches"];

/// If this executable is in a cache, copies it into the data directory and replaces this process by the
/// copy, with the same arguments. Returns if it is not in a cache.
pub(super) fn leave_cache(app: &App) -> anyhow::Result<()> {
    let own = std::env::current_exe().context("cannot determine the path of this executable")?;
    let copy = app.data.own_executable();
    if own == copy || !is_in_cache(&own) {
        return Ok(());
    }
    app.data.create()?;
    copy_executable(&own, &copy)
        .with_context(|| format!("cannot copy this executable to {}", copy.display()))?;
    #[allow(clippy::disallowed_methods, reason = "it replaces this process and is no child")]
    let error = Command::new(&copy).args(std::env::args_os().skip(1)).exec();
    Err(error).with_context(|| format!("cannot start {}", copy.display()))
}

fn is_in_cache(executable: &Path) -> bool {
    let directories = executable.ancestors().skip(1).filter_map(Path::file_name);
    directories.into_iter().any(|name| CACHE_DIRECTORIES.iter().any(|cache| name == OsStr::new(cache)))
}

/// Under a temporary name first: a hook that starts meanwhile finds the old or the new file, complete.
fn copy_executable(own: &Path, copy: &Path) -> std::io::Result<()> {
    let directory = copy.parent().unwrap_or(copy);
    paths::create_dir(directory)?;
    let partial = directory.join(format!("copy-{}", std::process::id()));
    std::fs::copy(own, &partial)
        .and_then(|_| std::fs::File::open(&partial)?.sync_all())
        .and_then(|()| std::fs::rename(&partial, copy))
        // The error that is reported is the first one.
        .inspect_err(|_| drop(std::fs::remove_file(&partial)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_are_recognised_by_their_directories() {
        for (path, want) in [
            ("/home/u/.npm/_npx/3f2a/node_modules/x-linux-x64/bin/claude-mem", true),
            ("/home/u/.cache/uv/archive-v0/Zk9/bin/claude-mem", true),
            ("/var/uv/archive-v0/Zk9/bin/claude-mem", true),
            ("/Users/u/Library/Caches/pnpm/dlx/1/claude-mem", true),
            ("/usr/lib/node_modules/x-linux-x64/bin/claude-mem", false),
            ("/home/u/.local/bin/claude-mem", false),
            ("/opt/_npx", false),
        ] {
            assert_eq!(is_in_cache(Path::new(path)), want, "{path}");
        }
    }
}
