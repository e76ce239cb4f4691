//! Installs the prerequisites of tests that cargo does not provide: system packages and the clients.
//!
//! None of them is needed to build or run the program. A missing one is reported, and the
//! tests that use it skip themselves with a message.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Context as _;

use super::StageOutcome;
use crate::cargo::{root, run};

/// A program and the Debian package that provides it.
struct RequiredPackage {
    program: &'static str,
    package: &'static str,
    /// Directory of the tests that use it; if it does not exist, the package is not installed.
    used_by: &'static str,
}

const NEEDS: &[RequiredPackage] = &[
    RequiredPackage { program: "npm", package: "npm", used_by: "crates/rig" },
    RequiredPackage { program: "pgbouncer", package: "pgbouncer", used_by: "crates/team-server" },
    RequiredPackage { program: "openssl", package: "openssl", used_by: "crates/team-server" },
    RequiredPackage { program: "ip", package: "iproute2", used_by: "crates/team-server" },
    RequiredPackage { program: "chromium", package: "chromium", used_by: "tests/browser" },
];

/// The oldest server that the tests use, and the one with TLS.
const DEBIAN_POSTGRES: &str = "postgresql-15";

pub(super) fn install() -> StageOutcome {
    let needed = NEEDS.iter().filter(|need| root().join(need.used_by).exists());
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
    for package in rig::agent_client::PACKAGES {
        match package.ensure() {
            Ok(client) => {
                println!("client {} {}: {}", package.command, package.version, client.program.display());
            }
            Err(missing) => reasons.push(missing.to_string()),
        }
    }
    if let Err(error) = ensure_postgres() {
        reasons.push(format!("{error:#}"));
    }
    if reasons.is_empty() {
        StageOutcome::Passed
    } else {
        StageOutcome::Skipped(format!("not available: {}", reasons.join("; ")))
    }
}

/// PostgreSQL servers for the tests of the team server: one with TLS from Debian, newer ones from PyPI. Either
/// is enough for most of the tests.
fn ensure_postgres() -> anyhow::Result<()> {
    let has_tls = rig::postgres::builds().iter().any(|build| build.has_tls);
    let debian = if has_tls { Ok(()) } else { install_packages(&[DEBIAN_POSTGRES]) };
    for build in rig::postgres::ensure()? {
        println!("PostgreSQL {}: {}", build.major, build.bin.display());
    }
    debian.context(DEBIAN_POSTGRES)
}

/// Installs the packages of the programs that are missing.
pub(crate) fn ensure(programs: impl IntoIterator<Item = (&'static str, &'static str)>) -> anyhow::Result<()> {
    let missing = programs.into_iter().filter(|(program, _)| !is_on_path(program));
    let packages: Vec<_> = missing.map(|(_, package)| package).collect();
    if packages.is_empty() {
        return Ok(());
    }
    install_packages(&packages).with_context(|| packages.join(", "))
}

fn install_packages(packages: &[&str]) -> anyhow::Result<()> {
    if !is_on_path("apt-get") {
        anyhow::bail!("apt-get is not available; install them manually");
    }
    if apt(&["install"], packages).is_err() {
        // The package lists of a fresh machine are empty or outdated.
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
        // Never prompts: a test run that waits for a password would hang.
        sudo.args(["--non-interactive", "apt-get"]);
        sudo
    } else {
        anyhow::bail!("installation needs root, and sudo is not available");
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

/// The path of this program, if it is on the PATH.
pub(super) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|file| file.is_file())
}
