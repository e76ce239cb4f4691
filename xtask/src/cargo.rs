//! Runs cargo and other programs from the workspace root, and builds the executables under test.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

/// The workspace root, which is the parent of this crate's directory.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// The cargo that started this program, so that a pinned toolchain stays in use.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Runs a program with inherited stdin and output; an error if it fails.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let shown = display_command(command);
    let status = command.status().with_context(|| format!("cannot start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` failed ({status})");
    }
    Ok(())
}

/// Whether the program can be run with `--version`.
pub(crate) fn is_available(command: &mut Command) -> bool {
    command.arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Builds the executables that scripts drive, together with the tests: tests enable additional features of
/// shared dependencies, and building without them would compile everything a second time.
pub(crate) fn build_debug() -> anyhow::Result<()> {
    run(cargo().args(["build", "--locked", "--workspace", "--bins", "--tests"]))
}

/// Linker flags of the shipped executable. On Linux with glibc it is linked statically, at fixed
/// addresses: a hook is a new process each time, and resolving symbols was half the cost of an empty
/// one (1.64 × `/bin/true`, 0.87 × when static, 0.96 × when static and position-independent). Host names
/// are resolved by glibc's own `files` and `dns`, which are built in since 2.34.
const STATIC_LINK_FLAGS: &[&str] = if cfg!(all(target_os = "linux", target_env = "gnu")) {
    &["-Ctarget-feature=+crt-static", "-Crelocation-model=static"]
} else {
    &[]
};

/// The executable that everybody installs: its package and its name.
const MAIN_PROGRAM: (&str, &str) = ("claude-mem", "claude-mem");
/// The server of a team.
const TEAM_PROGRAM: (&str, &str) = ("claude-mem-team-server", "claude-mem-team");

/// Builds the executable that ships and returns its path.
pub(crate) fn build_dist() -> anyhow::Result<PathBuf> {
    build_program(MAIN_PROGRAM)
}

/// Builds the team server that ships and returns its path.
pub(crate) fn build_dist_team() -> anyhow::Result<PathBuf> {
    build_program(TEAM_PROGRAM)
}

fn build_program((package, bin): (&str, &str)) -> anyhow::Result<PathBuf> {
    let build = ["rustc", "--locked", "--profile", "dist", "--package", package, "--bin", bin, "--"];
    run(cargo().args(build).args(STATIC_LINK_FLAGS))?;
    let exe = target_dir()?.join("dist").join(format!("{bin}{}", std::env::consts::EXE_SUFFIX));
    if !exe.is_file() {
        bail!("cargo built no {}", exe.display());
    }
    Ok(exe)
}

/// Cargo's target directory.
pub(crate) fn target_dir() -> anyhow::Result<PathBuf> {
    let output = cargo()
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .context("cannot start cargo metadata")?;
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).context("cargo metadata printed no JSON")?;
    let target = metadata["target_directory"].as_str().context("cargo metadata names no target directory")?;
    Ok(PathBuf::from(target))
}

fn display_command(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}
