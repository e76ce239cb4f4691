//! Developer commands: `cargo xtask install`, `package`, `test`, `bench`, `engines`, `faults`, `model`, `unicode`.
//!
//! One file or folder per command, each with its `Args` and a `run` function; [`XtaskCommand`] selects one.

#![allow(
    clippy::disallowed_methods,
    reason = "the child registry belongs to the product; tools wait for the processes they start"
)]

mod bench;
mod cargo;
mod engines;
mod faults;
mod install;
mod package;
mod test;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Tools for working on claude-mem")]
struct XtaskCli {
    #[command(subcommand)]
    command: XtaskCommand,
}

#[derive(Debug, Subcommand)]
enum XtaskCommand {
    Install(install::Args),
    Package(package::Args),
    Test(test::Args),
    /// Measure a part of the program
    #[command(subcommand)]
    Bench(bench::BenchTarget),
    Engines(engines::Args),
    Faults(faults::Args),
    /// Generate the weights file of crates/embed from the published model
    Model(bench::BenchArgs),
    /// Generate the Unicode table of the tokenizer in crates/embed
    Unicode(bench::BenchArgs),
}

fn main() -> anyhow::Result<()> {
    match XtaskCli::parse().command {
        XtaskCommand::Install(args) => install::run(&args),
        XtaskCommand::Package(args) => package::run(&args),
        XtaskCommand::Test(args) => test::run(&args),
        XtaskCommand::Bench(bench) => bench::run(&bench),
        XtaskCommand::Engines(args) => engines::run(&args),
        XtaskCommand::Faults(args) => faults::run(&args),
        XtaskCommand::Model(args) => bench::run_bench("model", &args),
        XtaskCommand::Unicode(args) => bench::run_bench("unicode", &args),
    }
}
