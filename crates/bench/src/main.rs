//! Benchmarks of claude-mem: each [`BenchCommand`] measures one table of the documentation. Two more
//! generate the files of the encoder, because this crate links it anyway, and two train the models that we fit ourselves.

#![allow(
    clippy::disallowed_methods,
    reason = "the child registry belongs to the product; a benchmark waits for the processes it starts"
)]

mod corpus;
mod data_set;
mod drain;
mod embedding;
mod encoder;
mod features;
mod governing;
mod hooks;
mod http;
mod idle;
mod import;
mod indexing;
mod made_up;
mod metrics;
mod model;
mod ranker;
mod redaction;
mod retrieval;
mod searching;
mod spawn;
mod team;
mod tree;
mod unicode;
mod usage;
mod workspace;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Measures claude-mem")]
struct Args {
    #[command(subcommand)]
    command: BenchCommand,
}

#[derive(Subcommand)]
enum BenchCommand {
    /// Retrieval quality on data sets converted to our rows
    Retrieval(retrieval::Args),
    /// Search latency: each method, warm and in a fresh process, at several sizes
    Search(searching::Args),
    /// Cost of a hook, compared with /bin/true
    Hooks(hooks::Args),
    /// Shared memory: the server on a real PostgreSQL, and members with real workers
    Team(team::Args),
    /// Import of old transcripts: speed and memory use
    Import(import::Args),
    /// How fast a day of events becomes memories without a model
    Drain(drain::Args),
    /// Memory and CPU of an idle worker
    Idle(idle::Args),
    /// The worker under load: reads while hooks write
    Http(http::Args),
    /// The vector index: rows per CPU second, before and after, with ONNX Runtime as the yardstick
    Index(indexing::Args),
    /// The encoder: time per query, tokens per second, memory, distance to a reference
    Embed(embedding::Args),
    /// Redaction: CPU time per 4 KB of text, masks, and both compared with another build
    Redaction(redaction::Args),
    /// Train the ranker of crates/distil and measure it with each project held out
    Ranker(ranker::Args),
    /// Train the model by which recall finds the memory that governs a prompt, and measure it
    Governing(governing::Args),
    /// Generate the weights file of crates/embed from the published model
    Model(model::Args),
    /// Generate the Unicode table of the tokenizer in crates/embed
    Unicode(unicode::Args),
    /// Generate a database with a long synthetic history, for tests
    #[command(hide = true)]
    Corpus(corpus::Args),
}

fn main() -> anyhow::Result<()> {
    match Args::parse().command {
        BenchCommand::Retrieval(args) => retrieval::run(&args),
        BenchCommand::Search(args) => searching::run(&args),
        BenchCommand::Hooks(args) => hooks::run(&args),
        BenchCommand::Team(args) => team::run(&args),
        BenchCommand::Import(args) => import::run(&args),
        BenchCommand::Drain(args) => drain::run(&args),
        BenchCommand::Idle(args) => idle::run(&args),
        BenchCommand::Http(args) => http::run(&args),
        BenchCommand::Index(args) => indexing::run(&args),
        BenchCommand::Embed(args) => embedding::run(&args),
        BenchCommand::Redaction(args) => redaction::run(&args),
        BenchCommand::Ranker(args) => ranker::run(&args),
        BenchCommand::Governing(args) => governing::run(&args),
        BenchCommand::Model(args) => model::run(&args),
        BenchCommand::Unicode(args) => unicode::run(&args),
        BenchCommand::Corpus(args) => corpus::run(&args),
    }
}
