//! `cargo xtask bench`: runs the benchmarks of `crates/bench`, built in release mode. `cargo xtask model` and
//! `unicode` run there as well, so that only that crate links the encoder.
//!
//! Each [`BenchTarget`] has its own help: `cargo xtask bench hooks --help`. Benchmarks that start
//! the product use the executable as it ships.

mod page;

use std::ffi::OsString;

use crate::cargo;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum BenchTarget {
    /// The worker: how fast a day of events becomes memories without a model
    Drain(BenchArgs),
    /// The idle worker: memory and CPU
    Idle(BenchArgs),
    /// The vector index: rows per CPU second, before and after, with ONNX Runtime as the yardstick
    Index(BenchArgs),
    /// The encoder: time per query, tokens per second, memory, distance to a reference
    Embed(BenchArgs),
    /// The model by which recall finds the memory that governs a prompt: trains and measures it
    Governing(BenchArgs),
    /// The HTTP API under load: reads while hooks write
    Http(BenchArgs),
    /// Hooks: their cost to a client, compared with /bin/true
    Hooks(BenchArgs),
    /// The viewer in a browser: time until memories are painted, compared with an empty page
    Page(page::Args),
    /// Import of old transcripts: speed and memory use
    Import(BenchArgs),
    /// The ranker of crates/distil: trains it on labelled sentences, each project held out once
    Ranker(BenchArgs),
    /// Redaction: CPU time per 4 KB of text, masks, and both compared with another build
    Redaction(BenchArgs),
    /// Retrieval quality on data sets converted to our rows
    Retrieval(BenchArgs),
    /// Search latency: each method, warm and in a fresh process, at several sizes
    Search(BenchArgs),
    /// Shared memory: the server on a real PostgreSQL, and members with real workers
    Team(BenchArgs),
}

/// Arguments that are passed on to crates/bench.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct BenchArgs {
    /// Arguments for the benchmark
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

pub(crate) fn run(bench: &BenchTarget) -> anyhow::Result<()> {
    match bench {
        BenchTarget::Drain(args) => run_bench("drain", args),
        BenchTarget::Idle(args) => run_bench_on_dist("idle", args),
        BenchTarget::Index(args) => run_bench("index", args),
        BenchTarget::Embed(args) => run_bench("embed", args),
        BenchTarget::Import(args) => run_bench("import", args),
        BenchTarget::Governing(args) => run_bench("governing", args),
        BenchTarget::Hooks(args) => run_bench_on_dist("hooks", args),
        BenchTarget::Http(args) => run_bench_on_dist("http", args),
        BenchTarget::Page(args) => page::run(args),
        BenchTarget::Ranker(args) => run_bench("ranker", args),
        BenchTarget::Redaction(args) => run_bench("redaction", args),
        BenchTarget::Retrieval(args) => run_bench("retrieval", args),
        BenchTarget::Search(args) => run_bench_on_dist("search", args),
        BenchTarget::Team(args) => run_team(args),
    }
}

/// Runs one command of `crates/bench`.
pub(crate) fn run_bench(what: &str, args: &BenchArgs) -> anyhow::Result<()> {
    run_with(what, &args.rest)
}

fn run_with(what: &str, args: &[OsString]) -> anyhow::Result<()> {
    let mut command = cargo::cargo();
    command.args(["run", "--quiet", "--release", "--package", "claude-mem-bench", "--"]);
    cargo::run(command.arg(what).args(args))
}

/// Runs the benchmark of shared memory on both executables as they ship.
fn run_team(args: &BenchArgs) -> anyhow::Result<()> {
    if args.rest.iter().any(|arg| arg == "--help" || arg == "--exe") {
        return run_bench("team", args);
    }
    let built =
        ["--exe".into(), cargo::build_dist()?.into(), "--team-exe".into(), cargo::build_dist_team()?.into()];
    run_with("team", &[&built, args.rest.as_slice()].concat())
}

/// Runs one benchmark on the executable as it ships.
fn run_bench_on_dist(what: &str, args: &BenchArgs) -> anyhow::Result<()> {
    if args.rest.iter().any(|arg| arg == "--help") {
        return run_bench(what, args);
    }
    let exe = cargo::build_dist()?;
    run_with(what, &[&["--exe".into(), exe.into()], args.rest.as_slice()].concat())
}
