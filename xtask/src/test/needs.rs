//! What tests use that cargo does not bring: system packages by name, and the clients.
//!
//! Nothing here is needed to build or to run the program. What cannot be had is reported; the
//! tests that use it skip themselves and say so.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Context as _;

use super::Outcome;
use crate::cargo::{root, run};

/// A program, and the Debian package that brings it.
struct Need {
    program: &'static str,
    package: &'static str,
    /// Tests that use it: without them it is not installed.
    used_by: &'static str,
}

const NEEDS: &[Need] = &[
    Need {
        program: "npm",
        package: "npm",
        used_by: "crates/rig",
    },
    Need {
        program: "chromium",
        package: "chromium",
        used_by: "tests/browser",
    },
];

pub(super) fn install() -> Outcome {
    let needed = NEEDS
        .iter()
        .filter(|need| root().join(need.used_by).exists());
    let mut reasons = Vec::new();
    if let Err(error) = ensure(needed.map(|need| (need.program, need.package))) {
        reasons.push(format!("{error:#}"));
    }
    for version in rig::client::VERSIONS {
        match rig::client::ensure(version) {
            Ok(client) => println!("client {version}: {}", client.executable().display()),
            Err(missing) => reasons.push(missing.to_string()),
        }
    }
    if reasons.is_empty() {
        Outcome::Passed
    } else {
        Outcome::Skipped(format!("not to be had: {}", reasons.join("; ")))
    }
}

/// Installs the packages of those programs that are not here.
pub(crate) fn ensure(
    programs: impl IntoIterator<Item = (&'static str, &'static str)>,
) -> anyhow::Result<()> {
    let missing = programs
        .into_iter()
        .filter(|(program, _)| !is_on_path(program));
    let packages: Vec<_> = missing.map(|(_, package)| package).collect();
    if packages.is_empty() {
        return Ok(());
    }
    install_packages(&packages).with_context(|| packages.join(", "))
}

fn install_packages(packages: &[&str]) -> anyhow::Result<()> {
    if !is_on_path("apt-get") {
        anyhow::bail!("there is no apt-get; install them by hand");
    }
    if apt(&["install"], packages).is_err() {
        // The lists of a fresh machine are empty or old.
        apt(&["update"], &[])?;
        apt(&["install"], packages)?;
    }
    Ok(())
}

fn apt(verb: &[&str], packages: &[&str]) -> anyhow::Result<()> {
    let mut command = if rustix::process::geteuid().is_root() {
        Command::new("apt-get")
    } else if is_on_path("sudo") {
        let mut sudo = Command::new("sudo");
        // Never asks: a test that waits for a password waits for ever.
        sudo.args(["--non-interactive", "apt-get"]);
        sudo
    } else {
        anyhow::bail!("installing needs root, and there is no sudo");
    };
    run(command
        .args(verb)
        .args(["--yes", "--quiet", "--no-install-recommends"])
        .args(packages)
        .env("DEBIAN_FRONTEND", "noninteractive"))
}

fn is_on_path(program: &str) -> bool {
    find(program).is_some()
}

/// Where the PATH has this program.
pub(super) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|dir| dir.join(program))
        .find(|file| file.is_file())
}
