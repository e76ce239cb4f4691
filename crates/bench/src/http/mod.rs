//! The worker under load: people read while hooks write.
//!
//! Requests are due at fixed times, whether the last one was answered or not, and each is timed
//! from when it was due: a worker that stalls is charged for everybody who had to wait.

mod connection;
mod report;
mod worker;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use report::Together;
use worker::Worker;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The executable to measure
    #[arg(long)]
    exe: PathBuf,
    /// How long
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Requests per second
    #[arg(long, default_value_t = 200)]
    reads: u32,
    /// Hooks per second
    #[arg(long, default_value_t = 50)]
    hooks: u32,
    /// Observations that are there at the start
    #[arg(long, default_value_t = 10_000)]
    observations: usize,
    /// Search by meaning too; the worker then indexes while it is measured
    #[arg(long)]
    vectors: bool,
    /// Where made-up databases are kept between runs
    #[arg(long, default_value = "target/bench")]
    cache: PathBuf,
}

/// What pages ask for, each as often as the others.
const READS: [(&str, &str); 10] = [
    ("feed", "/api/feed?limit=50"),
    ("feed of a type", "/api/feed?limit=50&type=bugfix"),
    (
        "search",
        "/api/search?query=retry+policy&limit=20&explain=true",
    ),
    (
        "search, a file",
        "/api/search?query=handler&file=src&limit=20",
    ),
    ("observations", "/api/observations?limit=50"),
    ("one observation", "/api/observations/12"),
    ("timeline", "/api/timeline?anchor=12"),
    ("sessions", "/api/sessions?limit=40"),
    ("preview", "/api/context/preview"),
    ("stats", "/api/stats"),
];
/// More than a few, so that a slow answer does not hold back those that are due.
const READERS: usize = 16;
const WRITERS: usize = 6;
/// Requests of a kind, one at a time.
const ALONE: usize = 20;

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let home = tempfile::tempdir()?;
    let worker = Worker::start(args, home.path())?;
    report::alone(&alone(&worker)?);
    let (began, cpu) = (Instant::now(), worker.cpu()?);
    let until = Duration::from_secs(args.seconds);
    let (reads, hooks) = (
        Series::new(args.reads, until),
        Series::new(args.hooks, until),
    );
    let over = AtomicBool::new(false);
    let memory = std::thread::scope(|scope| {
        let watch = scope.spawn(|| worker.watch(&over));
        let readers: Vec<_> = (0..READERS)
            .map(|_| scope.spawn(|| read(&worker, &reads, began)))
            .collect();
        let writers: Vec<_> = (0..WRITERS)
            .map(|_| scope.spawn(|| write(&worker, &hooks, began)))
            .collect();
        for thread in readers.into_iter().chain(writers) {
            // A thread that panicked has left its requests undone, which the table shows.
            let _ = thread.join();
        }
        over.store(true, Ordering::Relaxed);
        watch.join().unwrap_or_default()
    });
    let run = Together {
        cpu: worker.cpu()?.saturating_sub(cpu),
        queue: &worker.taken_in()?,
        reads: &reads,
        hooks: &hooks,
        memory: &memory,
    };
    report::together(args, &run);
    Ok(())
}

/// What one kind of request costs.
struct Alone {
    took: Vec<Duration>,
    cpu: Duration,
}

fn alone(worker: &Worker) -> anyhow::Result<Vec<Alone>> {
    let mut connection = worker.connect()?;
    let mut costs = Vec::with_capacity(READS.len());
    for (_, path) in READS {
        // The first one opens files and fills caches.
        connection.get(path)?;
        let before = worker.cpu()?;
        let mut took = Vec::with_capacity(ALONE);
        for _ in 0..ALONE {
            let began = Instant::now();
            connection.get(path)?;
            took.push(began.elapsed());
        }
        let cpu = worker.cpu()?.saturating_sub(before);
        costs.push(Alone { took, cpu });
    }
    Ok(costs)
}

/// Things to do at fixed times, and how long each took from its time on.
struct Series {
    every: Duration,
    count: usize,
    next: AtomicUsize,
    done: Mutex<Vec<(usize, Duration)>>,
    failed: Mutex<Vec<String>>,
}

impl Series {
    fn new(per_second: u32, until: Duration) -> Self {
        let every = Duration::from_secs(1) / per_second.max(1);
        Self {
            every,
            count: (until.as_secs_f64() * f64::from(per_second)) as usize,
            next: AtomicUsize::new(0),
            done: Mutex::default(),
            failed: Mutex::default(),
        }
    }

    /// Does what is due, one after the other, until there is no more.
    fn take_part(&self, began: Instant, mut act: impl FnMut(usize) -> anyhow::Result<()>) {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.count {
                return;
            }
            let due = began + self.every * u32::try_from(number).unwrap_or(u32::MAX);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            match act(number) {
                Ok(()) => lock(&self.done).push((number, due.elapsed())),
                Err(error) => lock(&self.failed).push(format!("{error:#}")),
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn read(worker: &Worker, series: &Series, began: Instant) {
    let mut connection = None;
    series.take_part(began, |number| {
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

fn write(worker: &Worker, series: &Series, began: Instant) {
    series.take_part(began, |number| {
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
        hook.shoot(payload.to_string().as_bytes()).map(drop)
    });
}
