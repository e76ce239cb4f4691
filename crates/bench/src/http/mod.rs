//! Measures the worker under load: pages read while hooks write.
//!
//! Requests are due at fixed times, whether or not the last one was answered, and each is timed from its
//! due time, so that a stall counts for every request that had to wait (no coordinated omission).

mod connection;
mod report;
mod schedule;
mod worker;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use report::{LoadResult, UnloadedCost};
pub(crate) use schedule::Args;
use schedule::{READS, RequestSchedule};
use worker::BenchWorker;

/// Enough readers that a slow response does not delay the requests that are due.
const READERS: usize = 16;
const WRITERS: usize = 6;
/// Requests of each kind in the unloaded measurement.
const UNLOADED_REQUESTS: usize = 20;

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let home = tempfile::tempdir()?;
    let worker = BenchWorker::start(args, home.path())?;
    report::print_unloaded(&measure_unloaded(&worker)?);
    let (began, cpu) = (Instant::now(), worker.cpu()?);
    let until = Duration::from_secs(args.seconds);
    let (reads, hooks) = (RequestSchedule::new(args.reads, until), RequestSchedule::new(args.hooks, until));
    let over = AtomicBool::new(false);
    let memory = std::thread::scope(|scope| {
        let watch = scope.spawn(|| worker.sample_memory(&over));
        let readers: Vec<_> =
            (0..READERS).map(|_| scope.spawn(|| run_reader(&worker, &reads, began))).collect();
        let writers: Vec<_> =
            (0..WRITERS).map(|_| scope.spawn(|| run_writer(&worker, &hooks, began))).collect();
        for thread in readers.into_iter().chain(writers) {
            // If a thread panicked, the report shows its requests as missing.
            let _ = thread.join();
        }
        over.store(true, Ordering::Relaxed);
        watch.join().unwrap_or_default()
    });
    let run = LoadResult {
        cpu: worker.cpu()?.saturating_sub(cpu),
        queue: &worker.drained_queue()?,
        reads: &reads,
        hooks: &hooks,
        memory: &memory,
    };
    report::print_load(args, &run);
    Ok(())
}

fn measure_unloaded(worker: &BenchWorker) -> anyhow::Result<Vec<UnloadedCost>> {
    let mut connection = worker.connect()?;
    let mut costs = Vec::with_capacity(READS.len());
    for (_, path) in READS {
        // The first request opens files and fills caches.
        connection.get(path)?;
        let before = worker.cpu()?;
        let mut took = Vec::with_capacity(UNLOADED_REQUESTS);
        for _ in 0..UNLOADED_REQUESTS {
            let began = Instant::now();
            connection.get(path)?;
            took.push(began.elapsed());
        }
        let cpu = worker.cpu()?.saturating_sub(before);
        costs.push(UnloadedCost { took, cpu });
    }
    Ok(costs)
}

fn run_reader(worker: &BenchWorker, series: &RequestSchedule, began: Instant) {
    let mut connection = None;
    series.run_due(began, |number| {
        let open = match &mut connection {
            Some(open) => open,
            none => none.insert(worker.connect()?),
        };
        let answer = open.get(READS[number % READS.len()].1);
        if answer.is_err() {
            connection = None;
        }
        answer.map(drop)
    });
}

fn run_writer(worker: &BenchWorker, series: &RequestSchedule, began: Instant) {
    series.run_due(began, |number| {
        let (session, turn) = (number % 20, number / 20);
        let (event, more) = match turn % 5 {
            0 => ("UserPromptSubmit", json!({"prompt": format!("look at part {turn}")})),
            4 => ("Stop", json!({"last_assistant_message": format!("Part {turn} is done.")})),
            _ => (
                "PostToolUse",
                json!({
                    "tool_name": "Edit", "tool_use_id": format!("toolu_{number}"),
                    "tool_input": {"file_path": format!("/src/part_{turn}.rs"), "old_string": "a", "new_string": "b"},
                    "tool_response": {},
                }),
            ),
        };
        let mut payload = json!({
            "session_id": format!("load-{session}"), "hook_event_name": event,
            "cwd": worker.home, "transcript_path": "/nowhere.jsonl",
        });
        if let (Some(payload), Some(more)) = (payload.as_object_mut(), more.as_object()) {
            payload.extend(more.clone());
        }
        let hook = worker.program(&["hook", "claude-code", event]);
        hook.measure(payload.to_string().as_bytes()).map(drop)
    });
}
