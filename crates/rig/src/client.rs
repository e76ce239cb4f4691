//! The client under test: an exact version of Claude Code from npm, as a [`ClaudeClient`].
//!
//! [`ensure`] installs it and is called by `cargo xtask test`; [`find`] and [`or_skip`] only look for an
//! installed one, so that a test never uses the network. Clients are in `clients/VERSION` below the target
//! directory, or in `VERSION` below the directory that `CLAUDE_MEM_RIG_CLIENTS` names.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::process;

/// The version that all tests use.
pub const CURRENT: &str = "2.1.325";
/// The version that npm selects on an older Node.
pub const OLDER: &str = "2.1.197";
/// The last release line that ran on Node, with the old set of hook events.
pub const OLDEST: &str = "2.0.77";

/// All versions that the tests run.
pub const VERSIONS: [&str; 3] = [CURRENT, OLDER, OLDEST];

const PACKAGE: &str = "@anthropic-ai/claude-code";
const INSTALL_SECONDS_MAX: u64 = 600;

/// An installed client.
#[derive(Clone, Debug)]
pub struct ClaudeClient {
    pub version: String,
    program: PathBuf,
    /// The script that Node runs, for versions that are JavaScript.
    script: Option<PathBuf>,
}

/// A prerequisite of a test is missing, with the reason.
#[derive(Clone, Debug)]
pub struct MissingPrerequisite(pub String);

impl fmt::Display for MissingPrerequisite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MissingPrerequisite {}

impl ClaudeClient {
    /// The native executable, or Node.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Arguments to put before the client's own.
    pub fn first_args(&self) -> impl Iterator<Item = &Path> {
        self.script.iter().map(PathBuf::as_path)
    }

    /// A single file that starts the client when executed; old versions find Node on the PATH.
    pub fn executable(&self) -> &Path {
        self.script.as_deref().unwrap_or(&self.program)
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(self.first_args());
        command
    }

    /// Whether settings may contain this hook event. On 2.0 one unknown event disables all hooks of
    /// the file.
    pub fn knows_event(&self, event: &str) -> bool {
        !self.version.starts_with("2.0.") || EVENTS_OF_2_0.contains(&event)
    }
}

const EVENTS_OF_2_0: [&str; 12] = [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "Notification",
    "UserPromptSubmit",
    "SessionStart",
    "SessionEnd",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PermissionRequest",
];

/// The client if it is installed; otherwise prints `skipped: REASON` to the test log.
pub fn or_skip(version: &str) -> Option<ClaudeClient> {
    find(version).map_err(crate::skip).ok()
}

/// Finds an installed client; never installs one.
pub fn find(version: &str) -> Result<ClaudeClient, MissingPrerequisite> {
    let home = clients_dir().join(version);
    if !home.is_dir() {
        let why = fs::read_to_string(reason_file(version))
            .unwrap_or_else(|_| "not installed; `cargo xtask test` installs it".to_owned());
        return Err(MissingPrerequisite(format!("{PACKAGE} {version}: {why}")));
    }
    let scope = home.join("node_modules/@anthropic-ai");
    if let Some(program) = find_native_program(&scope) {
        return Ok(ClaudeClient { version: version.to_owned(), program, script: None });
    }
    let script = scope.join("claude-code/cli.js");
    if !script.is_file() {
        return Err(MissingPrerequisite(format!("{PACKAGE} {version}: no build for this platform")));
    }
    let program = find_on_path("node").ok_or_else(|| {
        MissingPrerequisite(format!("{PACKAGE} {version} needs node, which is not on the PATH"))
    })?;
    Ok(ClaudeClient { version: version.to_owned(), program, script: Some(script) })
}

/// Finds the client, installing it first if necessary.
pub fn ensure(version: &str) -> Result<ClaudeClient, MissingPrerequisite> {
    ensure_package(version, PACKAGE, version)?;
    find(version)
}

/// Installs an npm package into a folder of the clients, unless it is there. A lock serialises concurrent
/// calls.
pub(crate) fn ensure_package(folder: &str, package: &str, version: &str) -> Result<(), MissingPrerequisite> {
    let failed = |e: io::Error| MissingPrerequisite(format!("{package} {version}: {e}"));
    let clients = clients_dir();
    fs::create_dir_all(&clients).map_err(failed)?;
    let lock = File::create(clients.join("lock")).map_err(failed)?;
    lock.lock().map_err(failed)?;
    if clients.join(folder).is_dir() {
        return Ok(());
    }
    let installed = install(folder, &format!("{package}@{version}"), &clients);
    let reason = reason_file(folder);
    match &installed {
        // The file only tells later runs the reason; the error itself is returned.
        Err(missing) => drop(fs::write(reason, &missing.0)),
        Ok(()) => drop(fs::remove_file(reason)),
    }
    installed.map_err(|missing| MissingPrerequisite(format!("{package} {version}: {missing}")))
}

/// The folder of an installed package, or why it is not there.
pub(crate) fn package_dir(folder: &str) -> Result<PathBuf, MissingPrerequisite> {
    let dir = clients_dir().join(folder);
    if dir.is_dir() {
        return Ok(dir);
    }
    let why = fs::read_to_string(reason_file(folder))
        .unwrap_or_else(|_| "not installed; `cargo xtask test` installs it".to_owned());
    Err(MissingPrerequisite(format!("{folder}: {why}")))
}

/// Installs into a temporary directory and renames it, so that a partial client is never found.
fn install(folder: &str, package: &str, clients: &Path) -> Result<(), MissingPrerequisite> {
    let npm = find_on_path("npm").ok_or_else(|| MissingPrerequisite("npm is not on the PATH".to_owned()))?;
    let partial = clients.join(format!("{folder}.partial"));
    let failed = |e: io::Error| MissingPrerequisite(e.to_string());
    if partial.exists() {
        fs::remove_dir_all(&partial).map_err(failed)?;
    }
    fs::create_dir_all(&partial).map_err(failed)?;
    let mut command = Command::new(npm);
    command
        .args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"])
        .arg(&partial)
        .arg(package);
    let output = process::run(command, b"", Duration::from_secs(INSTALL_SECONDS_MAX));
    if output.code != Some(0) {
        // A partial client is useless, and removing it may fail for the same reason.
        let _ = fs::remove_dir_all(&partial);
        return Err(MissingPrerequisite(format!("npm install failed: {}", npm_error_reason(&output.stderr))));
    }
    fs::rename(&partial, clients.join(folder)).map_err(failed)
}

/// npm's own message: its first error line that is not a bare code.
fn npm_error_reason(stderr: &str) -> String {
    let errors = stderr.lines().filter_map(|line| line.strip_prefix("npm error "));
    let mut sentences = errors.filter(|line| !line.starts_with("code "));
    sentences.next().unwrap_or("no reason given").to_owned()
}

/// The native executable, from the platform-specific package that npm has selected.
fn find_native_program(scope: &Path) -> Option<PathBuf> {
    let packages = fs::read_dir(scope).ok()?.flatten();
    packages.map(|package| package.path().join("claude")).find(|program| program.is_file())
}

fn reason_file(folder: &str) -> PathBuf {
    clients_dir().join(format!("{folder}.reason"))
}

fn clients_dir() -> PathBuf {
    let named = std::env::var_os("CLAUDE_MEM_RIG_CLIENTS").map(PathBuf::from);
    named.unwrap_or_else(|| target_dir().join("clients"))
}

/// The target directory that contains the running program; cargo marks it with `CACHEDIR.TAG`.
pub(crate) fn target_dir() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let marked = program.ancestors().find(|dir| dir.join("CACHEDIR.TAG").is_file());
    let named = || std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    marked
        .map(Path::to_path_buf)
        .or_else(named)
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"))
}

/// The path of this program, if it is on the PATH.
pub fn find_on_path(name: &str) -> Option<PathBuf> {
    let path: OsString = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|program| program.is_file())
}
