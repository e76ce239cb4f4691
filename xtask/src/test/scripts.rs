//! Folders of tests that node runs, with the npm packages that they name.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use super::needs::find;
use crate::cargo::{root, run};

/// A folder whose packages are there.
pub(super) struct Scripts {
    folder: PathBuf,
    node: PathBuf,
}

impl Scripts {
    /// Gets ready to run a folder of the checkout. An error is something that cannot be had here.
    pub(super) fn of(folder: &str) -> anyhow::Result<Self> {
        let folder = root().join(folder);
        let node = find("node").context("node is not installed, and cannot be had here")?;
        packages(&folder).context("npm packages")?;
        Ok(Self { folder, node })
    }

    /// Runs one file.
    pub(super) fn run(
        &self,
        file: &str,
        args: &[&str],
        env: &[(&str, &Path)],
    ) -> anyhow::Result<()> {
        let mut command = Command::new(&self.node);
        command.arg(file).args(args).current_dir(&self.folder);
        run(command.envs(env.iter().copied()))
    }

    /// Runs every file of tests, each in a process of its own.
    pub(super) fn run_all(&self, env: &[(&str, &Path)]) -> anyhow::Result<()> {
        let mut failed = Vec::new();
        for file in files(&self.folder)? {
            let mut command = Command::new(&self.node);
            command
                .args(["--test", "--test-reporter=spec"])
                .arg(&file)
                .current_dir(&self.folder)
                .envs(env.iter().copied());
            if run(&mut command).is_err() {
                let name = file.file_name().unwrap_or_default();
                failed.push(name.to_string_lossy().into_owned());
            }
        }
        if !failed.is_empty() {
            bail!("{} failed", failed.join(", "));
        }
        Ok(())
    }
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
