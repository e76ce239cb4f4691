//! Measures, and says with what. Each subcommand is one table of the documentation.

mod metrics;
mod retrieval;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Measures claude-mem")]
struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Retrieval quality on data sets in the shape of our rows
    Retrieval(retrieval::Args),
}

fn main() -> anyhow::Result<()> {
    match Args::parse().what {
        What::Retrieval(args) => retrieval::run(&args),
    }
}
