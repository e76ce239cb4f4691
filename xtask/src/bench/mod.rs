//! Measurements. One file per thing measured; all of them prefer CPU time to the clock
//! on the wall, because a developer's machine does other things too.

mod embed;
mod usage;

use crate::cargo;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Bench {
    /// The encoder: time per query, tokens per second, memory, distance to a reference
    Embed(embed::Args),
    /// Hooks: what they cost a client, against /bin/true (see `--help` of the measurement)
    Hooks(Measured),
}

/// A measurement of crates/bench.
#[derive(Debug, clap::Args)]
pub(crate) struct Measured {
    /// Arguments for the measurement
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

pub(crate) fn run(bench: &Bench) -> anyhow::Result<()> {
    match bench {
        Bench::Embed(args) => embed::run(args),
        Bench::Hooks(args) => hooks(&args.rest),
    }
}

/// Measures the executable as it ships.
fn hooks(args: &[String]) -> anyhow::Result<()> {
    let exe = cargo::build_dist()?;
    let bench = [
        "run",
        "--quiet",
        "--release",
        "--package",
        "claude-mem-bench",
        "--",
        "hooks",
    ];
    cargo::run(cargo::cargo().args(bench).arg("--exe").arg(exe).args(args))
}
