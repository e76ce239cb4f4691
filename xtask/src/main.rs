//! The project's own tools: everything a developer runs that is not the product.
//!
//! One file per command. Each has its arguments and a `run`; this file only chooses.

#![allow(
    clippy::disallowed_methods,
    reason = "the child registry is the product's; tools wait for what they start"
)]

mod cargo;
mod install;
mod model;
mod test;

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
    /// Make the weights file of crates/embed from the published model
    Model(model::Args),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Install(args) => install::run(&args),
        Command::Test(args) => test::run(&args),
        Command::Model(args) => model::run(&args),
    }
}
