//! The project's own tools: everything a developer runs that is not the product.
//!
//! One file per command. Each has its arguments and a `run`; this file only chooses.

#![allow(
    clippy::disallowed_methods,
    reason = "the child registry is the product's; tools wait for what they start"
)]

mod bench;
mod cargo;
mod engines;
mod faults;
mod install;
mod model;
mod test;
mod unicode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Tools for working on claude-mem")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Install(install::Args),
    Test(test::Args),
    /// Measure a part of the program
    #[command(subcommand)]
    Bench(bench::Bench),
    Engines(engines::Args),
    Faults(faults::Args),
    /// Make the weights file of crates/embed from the published model
    Model(model::Args),
    /// Make the table of characters that the tokenizer of crates/embed reads
    Unicode(unicode::Args),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Install(args) => install::run(&args),
        Command::Test(args) => test::run(&args),
        Command::Bench(bench) => bench::run(&bench),
        Command::Engines(args) => engines::run(&args),
        Command::Faults(args) => faults::run(&args),
        Command::Model(args) => model::run(&args),
        Command::Unicode(args) => unicode::run(&args),
    }
}
