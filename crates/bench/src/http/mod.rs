//! The worker under load: people read while hooks write.
//!
//! Requests are due at fixed times, whether the last one was answered or not, and each is timed
//! from when it was due: a worker that stalls is charged for everybody who had to wait.

mod connection;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use crate::corpus;
use crate::spawn::{Program, quantile, sorted};
use connection::Connection;

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
const NOTES_MAX: usize = 5;

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let home = tempfile::tempdir()?;
    let worker = Worker::start(args, home.path())?;
    let began = Instant::now();
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
    let taken = worker.taken_in()?;
    print(args, &reads, &hooks, &memory, &taken);
    Ok(())
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

/// A worker in a home of its own. It ends when this is dropped.
struct Worker {
    exe: PathBuf,
    home: PathBuf,
    vectors: bool,
    address: String,
    token: String,
    pid: u64,
}

impl Worker {
    fn start(args: &Args, home: &Path) -> anyhow::Result<Self> {
        let data = home.join(".claude-mem");
        std::fs::create_dir(&data)?;
        let made = corpus::database(&args.cache, args.observations)?;
        std::fs::copy(made, data.join("claude-mem.db"))?;
        let mut worker = Self {
            exe: args.exe.canonicalize().context("no such executable")?,
            home: home.to_owned(),
            vectors: args.vectors,
            address: String::new(),
            token: String::new(),
            pid: 0,
        };
        let link = worker.program(&["open", "--print"]).output()?;
        let (page, secret) = link.trim().split_once("/#k=").context("no link")?;
        page.trim_start_matches("http://")
            .clone_into(&mut worker.address);
        let body = json!({ "secret": secret }).to_string();
        let given = worker.connect()?.post("/api/page/token", &body)?;
        let text = |json: &Value, key: &str| json[key].as_str().map(str::to_owned);
        let given: Value = serde_json::from_slice(&given)?;
        worker.token = text(&given, "token").context("no token")?;
        let health: Value = serde_json::from_slice(&worker.connect()?.get("/health")?)?;
        worker.pid = health["pid"].as_u64().context("no pid")?;
        Ok(worker)
    }

    fn program(&self, args: &[&str]) -> Program {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let env = [
            ("HOME", text(&self.home)),
            ("PATH", "/usr/bin:/bin".to_owned()),
            ("CLAUDE_MEM_DATA_DIR", text(&self.home.join(".claude-mem"))),
            ("CLAUDE_MEM_WORKER", "manual".to_owned()),
            ("CLAUDE_MEM_PROVIDER", "local".to_owned()),
            (
                "CLAUDE_MEM_VECTORS",
                if self.vectors { "on" } else { "off" }.to_owned(),
            ),
        ];
        Program {
            exe: self.exe.clone(),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            env: env.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        }
    }

    fn connect(&self) -> anyhow::Result<Connection> {
        Connection::open(&self.address, &self.token)
    }

    /// Private megabytes, once a second.
    fn watch(&self, over: &AtomicBool) -> Vec<f64> {
        let mut seen = Vec::new();
        while !over.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_secs(1));
            let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid));
            let line = status.unwrap_or_default();
            let line = line.lines().find_map(|line| line.strip_prefix("RssAnon:"));
            let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
            seen.extend(kilobytes.map(|kilobytes: f64| kilobytes / 1024.0));
        }
        seen
    }

    /// What became of the hooks, once all is worked on.
    fn taken_in(&self) -> anyhow::Result<Value> {
        self.program(&["worker", "run", "--until-drained"])
            .output()?;
        let stats = self.connect()?.get("/api/stats")?;
        let stats: Value = serde_json::from_slice(&stats)?;
        ensure!(stats["queue"]["waiting"] == 0, "the queue is not empty");
        Ok(stats["queue"].clone())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // The home goes next; a worker that is gone already is as good.
        let _ = self.program(&["worker", "stop"]).output();
    }
}

fn print(args: &Args, reads: &Series, hooks: &Series, memory: &[f64], queue: &Value) {
    println!(
        "{} s, {} requests/s and {} hooks/s, {} observations at the start",
        args.seconds, args.reads, args.hooks, args.observations
    );
    println!(
        "{:<18} {:>7} {:>9} {:>9} {:>9}",
        "", "done", "p50", "p99", "most"
    );
    let done = lock(&reads.done);
    for (index, (name, _)) in READS.iter().enumerate() {
        let of_it = done.iter().filter(|(n, _)| n % READS.len() == index);
        line(name, of_it.map(|(_, took)| *took));
    }
    line("all reads", done.iter().map(|(_, took)| *took));
    line("hooks", lock(&hooks.done).iter().map(|(_, took)| *took));
    for (what, series) in [("requests", reads), ("hooks", hooks)] {
        let failed = lock(&series.failed);
        println!("{what} that failed: {} of {}", failed.len(), series.count);
        for why in failed.iter().take(NOTES_MAX) {
            println!("  {why}");
        }
    }
    let at = |share: f64| memory.get((memory.len() as f64 * share) as usize);
    let mb = |at: Option<&f64>| at.map_or(f64::NAN, |mb| *mb);
    let most = memory.iter().copied().fold(0.0, f64::max);
    println!(
        "private memory of the worker: {:.0} MB early, {:.0} MB halfway, {:.0} MB at the end, {most:.0} MB at most",
        mb(at(0.1)),
        mb(at(0.5)),
        mb(memory.last())
    );
    println!("queue afterwards: {queue}");
}

fn line(name: &str, took: impl Iterator<Item = Duration>) {
    let took = sorted(took);
    let ms = |share| quantile(&took, share) / 1e3;
    println!(
        "{name:<18} {:>7} {:>6.1} ms {:>6.1} ms {:>6.1} ms",
        took.len(),
        ms(0.5),
        ms(0.99),
        ms(1.0)
    );
}
