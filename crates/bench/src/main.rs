//! Measures, and says with what. Each subcommand is one table of the documentation.

#![allow(
    clippy::disallowed_methods,
    reason = "the child registry is the product's; a measurement waits for what it starts"
)]

mod corpus;
mod drain;
mod embedding;
mod encoder;
mod features;
mod hooks;
mod http;
mod idle;
mod import;
mod made_up;
mod metrics;
mod retrieval;
mod searching;
mod spawn;
mod tree;
mod usage;

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
    /// What a search costs: each method, warm and in a fresh process, at several sizes
    Search(searching::Args),
    /// What a hook costs, against /bin/true
    Hooks(hooks::Args),
    /// Old transcripts: how fast they are taken in, and in how much memory
    Import(import::Args),
    /// How fast a day of work becomes memories without a model, and which
    Drain(drain::Args),
    /// What a worker costs that has nothing to do
    Idle(idle::Args),
    /// The worker under load: reads while hooks write
    Http(http::Args),
    /// The encoder: time per query, tokens per second, memory, distance to a reference
    Embed(embedding::Args),
    /// A database of made-up work, for tests that need a long history
    #[command(hide = true)]
    Corpus(corpus::Args),
}

fn main() -> anyhow::Result<()> {
    match Args::parse().what {
        What::Retrieval(args) => retrieval::run(&args),
        What::Search(args) => searching::run(&args),
        What::Hooks(args) => hooks::run(&args),
        What::Import(args) => import::run(&args),
        What::Drain(args) => drain::run(&args),
        What::Idle(args) => idle::run(&args),
        What::Http(args) => http::run(&args),
        What::Embed(args) => embedding::run(&args),
        What::Corpus(args) => corpus::run(&args),
    }
}
