//! Runs folders of node scripts, with the npm packages of their `package.json`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, bail};

use super::needs::find;
use crate::cargo::{root, run};

/// Test files that run at the same time.
const FILES_AT_ONCE: usize = 2;

/// A folder of scripts whose npm packages are installed.
pub(super) struct NodeScripts {
    folder: PathBuf,
    node: PathBuf,
}

impl NodeScripts {
    /// Prepares a folder of the checkout; an error names a missing prerequisite.
    pub(super) fn prepare(folder: &str) -> anyhow::Result<Self> {
        let folder = root().join(folder);
        let node = find("node").context("node is not installed")?;
        install_npm_packages(&folder).context("npm packages")?;
        Ok(Self { folder, node })
    }

    /// Runs one script.
    pub(super) fn run(&self, file: &str, args: &[&str], env: &[(&str, &Path)]) -> anyhow::Result<()> {
        let mut command = Command::new(&self.node);
        command.arg(file).args(args).current_dir(&self.folder);
        run(command.envs(env.iter().copied()))
    }

    /// Runs every test file, each in its own process and two at a time: a file mostly waits for its browser.
    pub(super) fn run_all(&self, env: &[(&str, &Path)]) -> anyhow::Result<()> {
        let queue = Mutex::new(test_files(&self.folder)?.into_iter());
        let run_next = || {
            let mut failed = Vec::new();
            loop {
                let Some(file) = queue.lock().unwrap_or_else(PoisonError::into_inner).next() else {
                    return failed;
                };
                let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if self.run_file(&file, env).is_err() {
                    failed.push(name);
                }
            }
        };
        let failed: Vec<String> = std::thread::scope(|scope| {
            let running: Vec<_> = (0..FILES_AT_ONCE).map(|_| scope.spawn(run_next)).collect();
            running
                .into_iter()
                .flat_map(|one| one.join().unwrap_or_else(|_| vec!["a runner".into()]))
                .collect()
        });
        if !failed.is_empty() {
            bail!("{} failed", failed.join(", "));
        }
        Ok(())
    }

    /// Runs one test file; its output is printed as a whole when it has ended.
    fn run_file(&self, file: &Path, env: &[(&str, &Path)]) -> anyhow::Result<()> {
        let mut command = Command::new(&self.node);
        command.args(["--test", "--test-reporter=spec"]).arg(file).current_dir(&self.folder);
        let output = command.envs(env.iter().copied()).output()?;
        println!("{}\n{}", file.display(), String::from_utf8_lossy(&output.stdout));
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        if !output.status.success() {
            bail!("{} failed", file.display());
        }
        Ok(())
    }
}

/// Installs the dependencies of `package.json` unless exactly these versions are present.
fn install_npm_packages(folder: &Path) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(folder.join("package.json"))?;
    let manifest: serde_json::Value = serde_json::from_str(&text)?;
    let dependencies = manifest["dependencies"].as_object().context("package.json has no dependencies")?;
    let is_installed = |name: &String, version: &serde_json::Value| {
        let path = folder.join("node_modules").join(name).join("package.json");
        let installed = std::fs::read(path).ok().and_then(|text| serde_json::from_slice(&text).ok());
        installed.is_some_and(|installed: serde_json::Value| installed["version"] == *version)
    };
    if dependencies.iter().all(|(name, version)| is_installed(name, version)) {
        return Ok(());
    }
    let install = ["install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"];
    run(Command::new("npm").args(install).current_dir(folder))
}

fn test_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
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
