//! Fixtures shared by all tests of the executable.

#![allow(dead_code, reason = "each test binary takes what it needs")]

pub(crate) mod hooks;
pub(crate) mod past;
pub(crate) mod team_server;
pub(crate) mod team_service;
pub(crate) mod turns;

use std::path::PathBuf;

use rig::{ProcessOutput, Sandbox};

/// 2026-01-31 10:00:00 UTC in milliseconds: the current time in every sandbox.
pub(crate) const NOW: i64 = 1_769_853_600_000;

/// The executable under test: the one that cargo built with the tests, or the one that
/// `CLAUDE_MEM_TEST_EXE` names.
pub(crate) fn exe() -> PathBuf {
    std::env::var_os("CLAUDE_MEM_TEST_EXE")
        .map_or_else(|| env!("CARGO_BIN_EXE_claude-mem").into(), PathBuf::from)
}

/// A sandbox without memories, at a fixed time, in which hooks start no worker.
pub(crate) fn sandbox() -> Sandbox {
    Sandbox::new()
        .with_exe(exe())
        .with_env("CLAUDE_MEM_NOW", NOW.to_string())
        .with_env("CLAUDE_MEM_WORKER", "manual")
        .with_env("TZ", "UTC")
}

/// Writes settings into the file, as `claude-mem config set` does.
pub(crate) fn configure(home: &Sandbox, changes: &serde_json::Value) {
    let path = home.data_dir().join("settings.json");
    let mut settings: serde_json::Value = match std::fs::read_to_string(&path) {
        Ok(text) => serde_json::from_str(&text).expect("JSON"),
        Err(_) => serde_json::json!({}),
    };
    let fields = changes.as_object().expect("an object").clone();
    settings.as_object_mut().expect("an object").extend(fields);
    // Replaced as a whole: a worker may read it at any moment.
    let new = path.with_extension("new");
    home.write(&new, settings.to_string());
    std::fs::rename(&new, &path).expect("replaced");
}

/// A whole output for a snapshot, with the sandbox's paths and the size of the database replaced.
pub(crate) fn shown(home: &Sandbox, output: &ProcessOutput) -> String {
    let text = home.tidy(&output.to_string());
    let lines = text.lines().map(|line| match line.split_once(" in ") {
        Some((disk, place)) if disk.starts_with("disk ") => format!("disk     [SIZE] in {place}"),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}
