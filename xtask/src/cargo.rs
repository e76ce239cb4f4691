//! Running cargo and other programs from the project's root.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

/// The workspace's root: this crate stands directly below it.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// The cargo that runs us, so that a pinned toolchain stays the same one.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Runs a program with our own stdin and output, and fails if it does.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let shown = shown(command);
    let status = command
        .status()
        .with_context(|| format!("cannot start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` failed ({status})");
    }
    Ok(())
}

/// Whether a program answers to `--version`.
pub(crate) fn answers(command: &mut Command) -> bool {
    command
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
}

/// Builds the executables that scripts drive, beside the tests: those bring features of their own
/// to shared dependencies, and without them everything would be built a second time.
pub(crate) fn build_debug() -> anyhow::Result<()> {
    run(cargo().args(["build", "--locked", "--workspace", "--bins", "--tests"]))
}

/// How the shipped executable is linked. On Linux with glibc everything is linked in, at fixed
/// addresses: a hook is a fresh process each time, and resolving symbols was half of what an empty
/// one cost (1.64 × `/bin/true`, against 0.87 × without; position-independent 0.96 ×). Names are
/// resolved by glibc's own `files` and `dns`, which are part of it since 2.34.
const LINKED_IN: &[&str] = if cfg!(all(target_os = "linux", target_env = "gnu")) {
    &["-Ctarget-feature=+crt-static", "-Crelocation-model=static"]
} else {
    &[]
};

/// Builds what users get and says where it is.
pub(crate) fn build_dist() -> anyhow::Result<PathBuf> {
    let build = [
        "rustc",
        "--locked",
        "--profile",
        "dist",
        "--package",
        "claude-mem",
        "--bin",
        "claude-mem",
        "--",
    ];
    run(cargo().args(build).args(LINKED_IN))?;
    let exe = target_dir()?
        .join("dist")
        .join(format!("claude-mem{}", std::env::consts::EXE_SUFFIX));
    if !exe.is_file() {
        bail!("cargo built no {}", exe.display());
    }
    Ok(exe)
}

/// Where cargo puts what it builds.
pub(crate) fn target_dir() -> anyhow::Result<PathBuf> {
    let output = cargo()
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .context("cannot start cargo metadata")?;
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).context("cargo metadata printed no JSON")?;
    let target = metadata["target_directory"]
        .as_str()
        .context("cargo metadata names no target directory")?;
    Ok(PathBuf::from(target))
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}
