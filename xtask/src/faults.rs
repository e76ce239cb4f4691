//! `cargo xtask faults`: the fault tests with their full iteration counts, on the shipped executable.

use crate::cargo;

/// Run the fault tests at full length: killed processes, locks, full disks, corrupt files
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Run only the tests whose names contain this; `team` runs those of the team server
    filter: Option<String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    if args.filter.as_deref() == Some(TEAM) {
        return run_team();
    }
    let exe = cargo::build_dist()?;
    let mut command = cargo::cargo();
    command.args(["test", "--locked", "--package", "claude-mem", "--test", "faults"]);
    command.args(&args.filter);
    command.env("CLAUDE_MEM_FAULTS", "long");
    command.env("CLAUDE_MEM_TEST_EXE", exe);
    cargo::run(&mut command)
}

/// Names the fault tests of the team server, which need PostgreSQL instead of the executable.
const TEAM: &str = "team";

fn run_team() -> anyhow::Result<()> {
    let mut command = cargo::cargo();
    command.args(["test", "--locked", "--package", "claude-mem-team-server", "--test", "service"]);
    command.args(["faults::", "--", "--nocapture"]);
    command.env("CLAUDE_MEM_FAULTS", "long");
    cargo::run(&mut command)
}
