//! `cargo xtask faults`: the fault tests with their full iteration counts, on the shipped executable.

use crate::cargo;

/// Run the fault tests at full length: killed processes, locks, full disks, corrupt files
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Run only the tests whose names contain this
    filter: Option<String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let exe = cargo::build_dist()?;
    let mut command = cargo::cargo();
    command.args(["test", "--locked", "--package", "claude-mem", "--test", "faults"]);
    command.args(&args.filter);
    command.env("CLAUDE_MEM_FAULTS", "long");
    command.env("CLAUDE_MEM_TEST_EXE", exe);
    cargo::run(&mut command)
}
