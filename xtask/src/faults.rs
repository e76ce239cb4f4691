//! `cargo xtask faults`: the fault tests with their full iteration counts, on the shipped executable.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use anyhow::Context as _;

use crate::cargo;
use crate::test::needs;

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
/// messages, killed rounds and restored clients and servers. Then, on every installed PostgreSQL, the same schedules
/// against the service, killed replicas and databases, and a team of real workers in network namespaces. Prints what
/// the tests report as one table.
fn run_team() -> anyhow::Result<()> {
    needs::ensure([("ip", "iproute2"), ("openssl", "openssl")])?;
    let mut rows = collect_rows(team_tests("claude-mem-sharing", &["--lib", "after_random_faults"]))?;
    for build in rig::postgres::ensure()? {
        for (package, filter) in [
            ("claude-mem-sharing", &["--lib", "schedules_of_random_faults"]),
            ("claude-mem-team-server", &["--test=service", "faults::"]),
            ("claude-mem", &["--test=faults", "team::"]),
        ] {
            let mut command = team_tests(package, filter);
            command.env(rig::postgres::VERSION_VARIABLE, build.major.to_string());
            rows.extend(collect_rows(command)?);
        }
    }
    println!("\n| run | PostgreSQL | what happened | result |\n|---|---|---|---|\n{}", rows.join("\n"));
    Ok(())
}

/// Tests of a package in their long form.
fn team_tests(package: &str, filter: &[&str]) -> Command {
    let mut command = cargo::cargo();
    command.args(["test", "--locked", "--package", package]).args(filter).args(["--", "--nocapture"]);
    command.env("CLAUDE_MEM_TEAM_RUNS", TEAM_RUNS);
    command.env("CLAUDE_MEM_TEAM_SERVICE_RUNS", TEAM_SERVICE_RUNS);
    command.env("CLAUDE_MEM_FAULTS", "long");
    command
}

/// Runs a command, shows its output and returns the lines that are rows of a table.
fn collect_rows(mut command: Command) -> anyhow::Result<Vec<String>> {
    let mut process = command.stdout(Stdio::piped()).spawn()?;
    let output = process.stdout.take().context("no output")?;
    let mut rows = Vec::new();
    for line in BufReader::new(output).lines() {
        let line = line?;
        println!("{line}");
        if line.starts_with("| ") {
            rows.push(line);
        }
    }
    anyhow::ensure!(process.wait()?.success(), "the fault tests failed");
    anyhow::ensure!(!rows.is_empty(), "the fault tests were skipped");
    Ok(rows)
}
