//! Checks of the executable, and of the versions of the worker and the hooks.

use std::path::Path;

use super::{AutoFix, DoctorContext, DoctorFinding};
use claude_mem_core::paths::{find_on_path, is_same_file};

/// Whether the PATH finds this executable.
pub(super) fn executable(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    let path = &context.launch.executable;
    let said = format!("claude-mem {} ({})", env!("CARGO_PKG_VERSION"), path.display());
    match (context.env)("PATH").and_then(|path| find_on_path(&path, crate::install::NAME)) {
        Some(other) if !is_same_file(&other, path) => vec![DoctorFinding::note(
            "executable",
            format!("{said}; the PATH finds another one first: {}", other.display()),
            format!("remove {}, or put {} before it on the PATH", other.display(), parent_dir(path)),
        )],
        None => vec![DoctorFinding::note(
            "executable",
            format!("{said}; it is not on the PATH"),
            format!("export PATH={}:$PATH", parent_dir(path)),
        )],
        Some(_) => vec![DoctorFinding::ok("executable", said)],
    }
}

fn parent_dir(path: &Path) -> String {
    path.parent().map_or_else(String::new, |dir| dir.display().to_string())
}

/// Whether worker and hooks match this version.
pub(super) fn versions(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    let ours = env!("CARGO_PKG_VERSION");
    let mut found = Vec::new();
    if let Some(running) = context.worker.version.as_deref().filter(|version| *version != ours) {
        found.push(
            DoctorFinding::problem(
                "version",
                format!("the worker runs version {running}, this is {ours}"),
                "claude-mem worker restart",
            )
            .with_auto_fix(AutoFix::Worker),
        );
    }
    if let Some(why) = &context.manifest_error {
        let fix = format!("ls -l {}", context.data.installed().display());
        found.push(DoctorFinding::problem("version", why, fix));
    }
    let installed = &context.manifest.version;
    if !installed.is_empty() && installed != ours {
        found.push(
            DoctorFinding::note(
                "version",
                format!("hooks were registered by version {installed}, this is {ours}"),
                "claude-mem repair",
            )
            .with_auto_fix(AutoFix::Registration),
        );
    }
    if found.is_empty() {
        found.push(DoctorFinding::ok("version", "the worker and the hooks match this version"));
    }
    found
}
