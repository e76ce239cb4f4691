//! The viewer in Debian's chromium, driven by the scripts of `tests/browser`.
//!
//! Every file of tests has a home, a worker and a browser of its own; pictures of what they saw
//! are kept below the target directory. What a machine without a network cannot have is a reason
//! to skip, and said.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use super::Outcome;
use super::needs::find;
use crate::cargo::{self, root, run};

pub(super) fn run_all() -> anyhow::Result<Outcome> {
    let folder = root().join("tests/browser");
    let (Some(browser), Some(node)) = (find("chromium"), find("node")) else {
        let why = "chromium or node is not installed, and cannot be had here";
        return Ok(Outcome::Skipped(why.to_owned()));
    };
    if let Err(error) = packages(&folder) {
        return Ok(Outcome::Skipped(format!("npm packages: {error:#}")));
    }
    run(cargo::cargo().args(["build", "--locked", "--workspace", "--bins"]))?;
    let target = cargo::target_dir()?;
    let (built, out) = (target.join("debug"), target.join("browser"));
    let mut failed = Vec::new();
    for file in files(&folder)? {
        let mut command = Command::new(&node);
        command
            .args(["--test", "--test-reporter=spec"])
            .arg(&file)
            .current_dir(&folder)
            .env("CLAUDE_MEM_TEST_EXE", built.join("claude-mem"))
            .env("CLAUDE_MEM_TEST_BENCH", built.join("claude-mem-bench"))
            .env("CLAUDE_MEM_TEST_BROWSER", &browser)
            .env("CLAUDE_MEM_TEST_OUT", &out);
        if run(&mut command).is_err() {
            let name = file.file_name().unwrap_or_default();
            failed.push(name.to_string_lossy().into_owned());
        }
    }
    println!("pictures: {}", out.display());
    if !failed.is_empty() {
        bail!("{} failed", failed.join(", "));
    }
    Ok(Outcome::Passed)
}

/// Brings the packages that `package.json` names, in the versions that it names.
fn packages(folder: &Path) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(folder.join("package.json"))?;
    let wanted: serde_json::Value = serde_json::from_str(&text)?;
    let wanted = wanted["dependencies"].as_object();
    let wanted = wanted.context("package.json names no dependencies")?;
    let has = |name: &String, version: &serde_json::Value| {
        let there = folder.join("node_modules").join(name).join("package.json");
        let there = std::fs::read(there).ok();
        let there = there.and_then(|text| serde_json::from_slice(&text).ok());
        there.is_some_and(|there: serde_json::Value| there["version"] == *version)
    };
    if wanted.iter().all(|(name, version)| has(name, version)) {
        return Ok(());
    }
    let install = [
        "install",
        "--no-package-lock",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
    ];
    run(Command::new("npm").args(install).current_dir(folder))
}

fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(".test.js") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
