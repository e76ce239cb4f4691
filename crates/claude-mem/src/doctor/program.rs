//! This executable, and whether everything that runs is of its version.

use std::path::Path;

use super::{Cure, Finding, Patient};

pub(super) fn executable(patient: &Patient<'_>) -> Vec<Finding> {
    let path = &patient.launch.executable;
    let said = format!(
        "claude-mem {} ({})",
        env!("CARGO_PKG_VERSION"),
        path.display()
    );
    match on_path(patient) {
        Some(other) if !is_same(&other, path) => vec![Finding::note(
            "executable",
            format!("{said}; the shell finds another one: {}", other.display()),
            format!(
                "remove {}, or put {} before it on the PATH",
                other.display(),
                above(path)
            ),
        )],
        None => vec![Finding::note(
            "executable",
            format!("{said}; it is not on the PATH"),
            format!("export PATH={}:$PATH", above(path)),
        )],
        Some(_) => vec![Finding::ok("executable", said)],
    }
}

fn above(path: &Path) -> String {
    path.parent()
        .map_or_else(String::new, |dir| dir.display().to_string())
}

fn on_path(patient: &Patient<'_>) -> Option<std::path::PathBuf> {
    let path = (patient.env)("PATH")?;
    let mut programs = std::env::split_paths(&path).map(|dir| dir.join(crate::install::NAME));
    programs.find(|program| program.is_file())
}

fn is_same(one: &Path, other: &Path) -> bool {
    one.canonicalize().ok() == other.canonicalize().ok()
}

pub(super) fn versions(patient: &Patient<'_>) -> Vec<Finding> {
    let ours = env!("CARGO_PKG_VERSION");
    let mut found = Vec::new();
    if let Some(running) = patient
        .worker
        .version
        .as_deref()
        .filter(|version| *version != ours)
    {
        found.push(
            Finding::problem(
                "version",
                format!("the worker is of version {running}, this is {ours}"),
                "claude-mem worker restart",
            )
            .cured_by(Cure::Worker),
        );
    }
    if let Some(why) = &patient.receipt_unread {
        let fix = format!("ls -l {}", patient.data.installed().display());
        found.push(Finding::problem("version", why, fix));
    }
    let installed = &patient.receipt.version;
    if !installed.is_empty() && installed != ours {
        found.push(
            Finding::note(
                "version",
                format!("hooks were registered by version {installed}, this is {ours}"),
                "claude-mem repair",
            )
            .cured_by(Cure::Registration),
        );
    }
    if found.is_empty() {
        found.push(Finding::ok(
            "version",
            "everything that runs is of this version",
        ));
    }
    found
}
