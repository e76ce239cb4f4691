//! Measures how fast a day of events becomes memories without a model.
//!
//! The events start in the spool, as hooks leave them. The measurement covers everything until
//! the queue is empty: ingesting, grouping into episodes, distilling, storing, full-text indexing.

mod day;

use std::sync::Arc;
use std::time::Instant;

use anyhow::ensure;
use claude_mem_capture::enqueue;
use claude_mem_capture::hook_database::HookDatabase;
use claude_mem_core::clock::Millis;
use claude_mem_core::event_key;
use claude_mem_core::paths::DataDir;
use claude_mem_ingest::heuristic_compressor::HeuristicCompressor;
use claude_mem_ingest::pipeline::EpisodePipeline;
use claude_mem_ingest::pipeline_observer::PipelineObserver;
use claude_mem_ingest::scheduler::Scheduler;
use claude_mem_ingest::shared_store::SharedStore;
use claude_mem_store::{PageRequest, RowFilter, Store};

use crate::usage;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Rounds through the golden sessions; one round is about 550 events
    #[arg(long, default_value_t = 6)]
    rounds: usize,
    /// Sessions that are processed in parallel
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Print every memory of the first round, for review
    #[arg(long)]
    show: bool,
}

/// A watcher that ignores every event.
#[derive(Debug)]
struct NoopWatcher;
impl PipelineObserver for NoopWatcher {}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let events = day::events(args.rounds)?;
    let home = tempfile::tempdir()?;
    let dir = DataDir::new(home.path());
    dir.create()?;
    let mut database = HookDatabase::new(&dir);
    for event in &events {
        enqueue::enqueue_event(&mut database, event_key::event_key(event, None), event)?;
    }
    let began = Instant::now();
    let cpu = usage::cpu_time();
    drain(&dir, args.threads)?;
    let cpu = usage::cpu_time().saturating_sub(cpu).as_secs_f64();
    let wall = began.elapsed().as_secs_f64();
    let store = Store::open_read_only(&dir.db())?;
    let counts = store.read().counts()?;
    ensure!(
        counts.queue.done == events.len() as u64,
        "{} of {} events were processed",
        counts.queue.done,
        events.len()
    );
    println!(
        "{} events in {wall:.2} s: {:.0} events/s ({:.0} per CPU second), {} threads",
        events.len(),
        events.len() as f64 / wall,
        events.len() as f64 / cpu,
        args.threads,
    );
    println!(
        "{} prompts, {} observations, {} summaries",
        counts.prompts, counts.observations, counts.summaries
    );
    if args.show {
        print_memories(&store)?;
    }
    Ok(())
}

fn drain(dir: &DataDir, threads: usize) -> anyhow::Result<()> {
    let store = Arc::new(SharedStore::open(dir, Millis(0))?);
    let pipeline = EpisodePipeline {
        store,
        backfill: None,
        compressor: Arc::new(HeuristicCompressor::default()),
        observer: Arc::new(NoopWatcher),
    };
    let drain = Scheduler::start(pipeline, threads)?;
    ensure!(drain.flush(|| false)?, "the queue was not drained");
    drain.stop(std::time::Duration::from_secs(5));
    Ok(())
}

/// Prints the memories of the first round.
fn print_memories(store: &Store) -> anyhow::Result<()> {
    let reads = store.read();
    let keys = ["path:/home/user/shop-0".to_owned()];
    let filter = RowFilter { project: reads.project_by_keys(&keys)?, ..RowFilter::default() };
    let mut observations = reads.observations(&filter, PageRequest::first(500))?.items;
    observations.sort_by_key(|row| (row.session, row.id));
    let mut session = None;
    for row in observations {
        if row.session != session {
            session = row.session;
            let id = session.map(|id| reads.session(id)).transpose()?;
            println!("\n== {}", id.map_or_else(String::new, |id| id.client_session.0));
        }
        println!("{} {}", row.text.kind, row.text.title);
        for text in [&row.text.subtitle, &row.text.narrative].into_iter().chain(&row.text.facts) {
            if !text.is_empty() {
                println!("    {}", text.replace('\n', "\n    "));
            }
        }
    }
    Ok(())
}
