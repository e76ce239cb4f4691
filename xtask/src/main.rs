//! The project's own tools: everything a developer runs that is not the product.
//!
//! One file per command. Each has its arguments and a `run`; this file only chooses.

mod model;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Tools for working on claude-mem")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make the weights file of crates/embed from the published model
    Model(model::Args),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Model(args) => model::run(&args),
    }
}
