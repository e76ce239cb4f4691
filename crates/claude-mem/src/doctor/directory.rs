//! The data directory: there, writable, private, with room, its settings readable.

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use super::{Cure, Finding, Patient};
use crate::limits::DISK_FREE_BYTES_MIN;

pub(super) fn access(patient: &Patient<'_>) -> Vec<Finding> {
    let root = patient.data.root();
    if !root.is_dir() {
        let missing = Finding::problem(
            "directory",
            format!("{} is not there", root.display()),
            "claude-mem install",
        );
        return vec![missing.cured_by(Cure::Directories)];
    }
    let mut found = Vec::new();
    for part in [
        patient.data.spool(),
        patient.data.muted(),
        patient.data.logs(),
    ] {
        if !part.is_dir() {
            let missing = Finding::problem(
                "directory",
                format!("{} is not there", part.display()),
                "claude-mem doctor --fix",
            );
            found.push(missing.cured_by(Cure::Directories));
        } else if rustix::fs::access(&part, rustix::fs::Access::WRITE_OK).is_err()
            || is_sealed(&part)
        {
            found.push(Finding::problem(
                "directory",
                format!("{} cannot be written", part.display()),
                format!("chmod u+rwx {}", part.display()),
            ));
        }
    }
    if found.is_empty() {
        found.push(Finding::ok("directory", root.display().to_string()));
    }
    found
}

/// Closed to its owner, though the system may let some write all the same.
fn is_sealed(path: &std::path::Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.mode() & 0o200 == 0)
}

/// What others must not read, with the mode that it should have.
pub fn private_paths(data: &crate::paths::DataDir) -> Vec<(PathBuf, u32)> {
    let directories = [
        data.root().to_owned(),
        data.spool(),
        data.muted(),
        data.logs(),
        data.backups(),
    ];
    let files = [
        data.db(),
        data.vectors_db(),
        data.settings(),
        data.token(),
        data.installed(),
    ];
    let directories = directories.into_iter().map(|path| (path, 0o700));
    directories
        .chain(files.into_iter().map(|path| (path, 0o600)))
        .collect()
}

pub(super) fn privacy(patient: &Patient<'_>) -> Vec<Finding> {
    // Of what is not there, `access` speaks.
    if !patient.data.root().exists() {
        return Vec::new();
    }
    let mut found: Vec<Finding> = private_paths(patient.data)
        .into_iter()
        .filter_map(|(path, want)| {
            let mode = match std::fs::metadata(&path) {
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => return None,
                Err(e) => {
                    let error = format!("{}: {e}", path.display());
                    return Some(Finding::could_not_look("privacy", &error));
                }
                Ok(meta) => meta.mode() & 0o777,
            };
            (mode & 0o077 != 0).then(|| {
                Finding::problem(
                    "privacy",
                    format!("{} can be read by others (mode {mode:o})", path.display()),
                    format!("chmod {want:o} {}", path.display()),
                )
                .cured_by(Cure::Privacy)
            })
        })
        .collect();
    if found.is_empty() {
        found.push(Finding::ok("privacy", "nobody else can read it"));
    }
    found
}

pub(super) fn space(patient: &Patient<'_>) -> Vec<Finding> {
    let disk = match rustix::fs::statvfs(patient.data.root()) {
        Err(rustix::io::Errno::NOENT) => return Vec::new(),
        Err(error) => return vec![Finding::could_not_look("disk", &error)],
        Ok(disk) => disk,
    };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let said = format!("{} MB free", free >> 20);
    if free < DISK_FREE_BYTES_MIN {
        let fix = "make room; what hooks cannot keep meanwhile is filled in from the client's transcripts";
        return vec![Finding::problem("disk", format!("only {said}"), fix)];
    }
    vec![Finding::ok("disk", said)]
}

pub(super) fn settings(patient: &Patient<'_>) -> Vec<Finding> {
    let loaded = patient.settings;
    let path = patient.data.settings();
    if loaded.file_unreadable {
        return vec![Finding::problem(
            "settings",
            format!(
                "{} cannot be read, so none of its settings hold",
                path.display()
            ),
            format!(
                "mend {}; `claude-mem config` says where it is wrong",
                path.display()
            ),
        )];
    }
    let mut found: Vec<Finding> = loaded
        .warnings
        .iter()
        .map(|warning| Finding::note("settings", warning.to_string(), warning.fix()))
        .collect();
    if found.is_empty() {
        found.push(Finding::ok("settings", "all readable"));
    }
    found
}
