//! Checks of the data directory: exists, writable, private, disk space, readable settings.

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use super::{AutoFix, DoctorContext, DoctorFinding};

/// Free disk space, in bytes, below which `doctor` reports a problem.
const DISK_FREE_BYTES_MIN: u64 = 200 << 20;

/// Whether the data directory exists and is writable.
pub(super) fn access(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    let root = context.data.root();
    if !root.is_dir() {
        let missing = DoctorFinding::problem(
            "directory",
            format!("{} does not exist", root.display()),
            "claude-mem install",
        );
        return vec![missing.with_auto_fix(AutoFix::Directories)];
    }
    let mut found = Vec::new();
    for part in [context.data.spool(), context.data.muted(), context.data.logs()] {
        if !part.is_dir() {
            let missing = DoctorFinding::problem(
                "directory",
                format!("{} does not exist", part.display()),
                "claude-mem doctor --fix",
            );
            found.push(missing.with_auto_fix(AutoFix::Directories));
        } else if rustix::fs::access(&part, rustix::fs::Access::WRITE_OK).is_err() || lacks_owner_write(&part)
        {
            found.push(DoctorFinding::problem(
                "directory",
                format!("{} is not writable", part.display()),
                format!("chmod u+rwx {}", part.display()),
            ));
        }
    }
    if found.is_empty() {
        found.push(DoctorFinding::ok("directory", root.display().to_string()));
    }
    found
}

/// Whether the owner has no write permission; root could write all the same.
fn lacks_owner_write(path: &std::path::Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.mode() & 0o200 == 0)
}

/// Paths that other users must not read, with the mode each should have.
pub fn private_paths(data: &claude_mem_core::paths::DataDir) -> Vec<(PathBuf, u32)> {
    let directories = [data.root().to_owned(), data.spool(), data.muted(), data.logs(), data.backups()];
    let files =
        [data.db(), data.vectors_db(), data.settings(), data.token(), data.page_tokens(), data.installed()];
    let directories = directories.into_iter().map(|path| (path, 0o700));
    directories.chain(files.into_iter().map(|path| (path, 0o600))).collect()
}

/// Whether other users can read the data directory.
pub(super) fn privacy(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    // `access` reports a missing directory.
    if !context.data.root().exists() {
        return Vec::new();
    }
    let mut found: Vec<DoctorFinding> = private_paths(context.data)
        .into_iter()
        .filter_map(|(path, want)| {
            let mode = match std::fs::metadata(&path) {
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => return None,
                Err(e) => {
                    let error = format!("{}: {e}", path.display());
                    return Some(DoctorFinding::unknown("privacy", &error));
                }
                Ok(meta) => meta.mode() & 0o777,
            };
            (mode & 0o077 != 0).then(|| {
                DoctorFinding::problem(
                    "privacy",
                    format!("{} can be read by others (mode {mode:o})", path.display()),
                    format!("chmod {want:o} {}", path.display()),
                )
                .with_auto_fix(AutoFix::Privacy)
            })
        })
        .collect();
    if found.is_empty() {
        found.push(DoctorFinding::ok("privacy", "not readable by other users"));
    }
    found
}

/// Whether the disk has enough space.
pub(super) fn space(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    let disk = match rustix::fs::statvfs(context.data.root()) {
        Err(rustix::io::Errno::NOENT) => return Vec::new(),
        Err(error) => return vec![DoctorFinding::unknown("disk", &error)],
        Ok(disk) => disk,
    };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let said = format!("{} MB free", free >> 20);
    if free < DISK_FREE_BYTES_MIN {
        let fix = "free some disk space; events that hooks cannot store meanwhile are recovered from the client's transcripts";
        return vec![DoctorFinding::problem("disk", format!("only {said}"), fix)];
    }
    vec![DoctorFinding::ok("disk", said)]
}

/// Whether the settings can be read and have an effect.
pub(super) fn settings(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    let loaded = context.settings;
    let path = context.data.settings();
    if loaded.file_unreadable {
        return vec![DoctorFinding::problem(
            "settings",
            format!("{} cannot be read, so its settings are ignored", path.display()),
            format!("fix {}; `claude-mem config` shows where it is wrong", path.display()),
        )];
    }
    let mut found: Vec<DoctorFinding> = loaded
        .warnings
        .iter()
        .map(|warning| DoctorFinding::note("settings", warning.to_string(), warning.fix_command()))
        .collect();
    if found.is_empty() {
        found.push(DoctorFinding::ok("settings", "all valid"));
    }
    found
}
