//! `cargo xtask faults`: the fault tests with their full iteration counts, on the shipped executable.

use crate::cargo;

/// Runs of the sharing protocol's simulator.
const TEAM_RUNS: &str = "1000";
/// Of these, runs against the real service on PostgreSQL.
const TEAM_SERVICE_RUNS: &str = "100";

/// Run the fault tests at full length: killed processes, locks, full disks, corrupt files; `team`: sharing
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

/// Names the fault tests of shared memory, which run with test builds.
const TEAM: &str = "team";

/// The simulator of the sharing protocol: real stores against a reference server with lost, late and repeated
/// messages, killed rounds and restored clients and servers, and the same schedules against the service. Then
/// killed replicas and databases, and a team of real workers.
fn run_team() -> anyhow::Result<()> {
    let mut command = cargo::cargo();
    command.args(["test", "--locked", "--package", "claude-mem-sharing", "--lib", "random_faults"]);
    command.args(["--", "--nocapture"]);
    command.env("CLAUDE_MEM_TEAM_RUNS", TEAM_RUNS);
    command.env("CLAUDE_MEM_TEAM_SERVICE_RUNS", TEAM_SERVICE_RUNS);
    cargo::run(&mut command)?;
    let mut command = cargo::cargo();
    command.args(["test", "--locked", "--package", "claude-mem-team-server", "--test", "service"]);
    command.args(["faults::", "--", "--nocapture"]);
    command.env("CLAUDE_MEM_FAULTS", "long");
    cargo::run(&mut command)?;
    let mut command = cargo::cargo();
    command.args(["test", "--locked", "--package", "claude-mem", "--test", "faults", "team::"]);
    command.args(["--", "--nocapture"]);
    command.env("CLAUDE_MEM_FAULTS", "long");
    cargo::run(&mut command)
}
