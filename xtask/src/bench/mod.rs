//! The measurements of `crates/bench`, built as optimised as what users run. Each has its
//! own help: `cargo xtask bench hooks --help`.

mod page;

use std::ffi::OsString;

use crate::cargo;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Bench {
    /// The worker: how fast a day of work becomes memories without a model, and which
    Drain(Measured),
    /// The worker with nothing to do: memory and CPU
    Idle(Measured),
    /// The encoder: time per query, tokens per second, memory, distance to a reference
    Embed(Measured),
    /// The HTTP API under load: people read while hooks write
    Http(Measured),
    /// Hooks: what they cost a client, against /bin/true
    Hooks(Measured),
    /// The viewer in a browser: how long until memories are painted, beside an empty page
    Page(page::Args),
    /// Old transcripts: how fast they are taken in, and in how much memory
    Import(Measured),
    /// Retrieval quality on data sets in the shape of our rows
    Retrieval(Measured),
    /// What a search costs: each method, warm and in a fresh process, at several sizes
    Search(Measured),
}

/// A measurement of crates/bench.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Measured {
    /// Arguments for the measurement
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

pub(crate) fn run(bench: &Bench) -> anyhow::Result<()> {
    match bench {
        Bench::Drain(args) => measure("drain", &args.rest),
        Bench::Idle(args) => shipped("idle", &args.rest),
        Bench::Embed(args) => measure("embed", &args.rest),
        Bench::Import(args) => measure("import", &args.rest),
        Bench::Hooks(args) => shipped("hooks", &args.rest),
        Bench::Http(args) => shipped("http", &args.rest),
        Bench::Page(args) => page::run(args),
        Bench::Retrieval(args) => measure("retrieval", &args.rest),
        Bench::Search(args) => shipped("search", &args.rest),
    }
}

fn measure(what: &str, args: &[OsString]) -> anyhow::Result<()> {
    let mut command = cargo::cargo();
    command.args([
        "run",
        "--quiet",
        "--release",
        "--package",
        "claude-mem-bench",
        "--",
    ]);
    cargo::run(command.arg(what).args(args))
}

/// Measures the executable as it ships.
fn shipped(what: &str, args: &[OsString]) -> anyhow::Result<()> {
    if args.iter().any(|arg| arg == "--help") {
        return measure(what, args);
    }
    let exe = cargo::build_dist()?;
    measure(what, &[&["--exe".into(), exe.into()], args].concat())
}
