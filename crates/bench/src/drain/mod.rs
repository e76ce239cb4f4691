//! How fast a day of work becomes memories without a model, and what memories those are.
//!
//! The events lie in the spool, as hooks leave them. What is measured is everything from there to
//! an empty queue: taking in, cutting into episodes, distilling, storing, indexing by words.

mod day;

use std::sync::Arc;
use std::time::Instant;

use anyhow::ensure;
use claude_mem::clock::Millis;
use claude_mem::hook::{deliver, key};
use claude_mem::paths::DataDir;
use claude_mem::serve::drain::{Drain, Watcher};
use claude_mem::serve::local::Local;
use claude_mem::serve::shared::SharedStore;
use claude_mem::store::{Filter, Page, Store};

use crate::usage;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Rounds through the written sessions; one is about 550 events
    #[arg(long, default_value_t = 6)]
    rounds: usize,
    /// Sessions that are worked on at once
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Print every memory of the first round, for somebody to judge
    #[arg(long)]
    show: bool,
}

#[derive(Debug)]
struct Quiet;
impl Watcher for Quiet {}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let events = day::events(args.rounds)?;
    let home = tempfile::tempdir()?;
    let dir = DataDir::new(home.path());
    dir.create()?;
    for event in &events {
        deliver::event(&dir, key::of(event, None), event)?;
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
        "{} of {} events were settled",
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
        show(&store)?;
    }
    Ok(())
}

fn drain(dir: &DataDir, threads: usize) -> anyhow::Result<()> {
    let store = Arc::new(SharedStore::open(dir, Millis(0))?);
    let local = Arc::new(Local::default());
    let drain = Drain::start(Arc::clone(&store), local, Arc::new(Quiet), threads)?;
    ensure!(drain.flush(|| false)?, "the queue was not emptied");
    drain.stop(std::time::Duration::from_secs(5));
    Ok(())
}

/// The first round's memories, as they stand in the store.
fn show(store: &Store) -> anyhow::Result<()> {
    let reads = store.read();
    let keys = ["path:/home/user/shop-0".to_owned()];
    let filter = Filter {
        project: reads.project_by_keys(&keys)?,
        ..Filter::default()
    };
    let mut observations = reads.observations(&filter, Page::first(500))?.items;
    observations.sort_by_key(|row| (row.session, row.id));
    let mut session = None;
    for row in observations {
        if row.session != session {
            session = row.session;
            let id = session.map(|id| reads.session(id)).transpose()?;
            println!(
                "\n== {}",
                id.map_or_else(String::new, |id| id.client_session.0)
            );
        }
        println!("{} {}", row.kind, row.title);
        for text in [&row.subtitle, &row.narrative]
            .into_iter()
            .chain(&row.facts)
        {
            if !text.is_empty() {
                println!("    {}", text.replace('\n', "\n    "));
            }
        }
    }
    Ok(())
}
