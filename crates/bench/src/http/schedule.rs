//! The load: which requests are due when ([`RequestSchedule`]).

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The executable to measure
    #[arg(long)]
    pub(super) exe: PathBuf,
    /// Duration in seconds
    #[arg(long, default_value_t = 60)]
    pub(super) seconds: u64,
    /// Requests per second
    #[arg(long, default_value_t = 200)]
    pub(super) reads: u32,
    /// Hooks per second
    #[arg(long, default_value_t = 50)]
    pub(super) hooks: u32,
    /// Number of observations at the start
    #[arg(long, default_value_t = 10_000)]
    pub(super) observations: usize,
    /// Enable vectors; the worker then indexes during the measurement
    #[arg(long)]
    pub(super) vectors: bool,
    /// Directory that caches generated databases
    #[arg(long, default_value = "target/bench")]
    pub(super) cache: PathBuf,
}

/// The requests of pages, each equally frequent.
pub(super) const READS: [(&str, &str); 10] = [
    ("feed", "/api/feed?limit=50"),
    ("feed of a type", "/api/feed?limit=50&type=bugfix"),
    ("search", "/api/search?query=retry+policy&limit=20&explain=true"),
    ("search, a file", "/api/search?query=handler&file=src&limit=20"),
    ("observations", "/api/observations?limit=50"),
    ("one observation", "/api/observations/12"),
    ("timeline", "/api/timeline?anchor=12"),
    ("sessions", "/api/sessions?limit=40"),
    ("preview", "/api/context/preview"),
    ("stats", "/api/stats"),
];

/// Requests that are due at fixed times, and the latency of each from its due time.
pub(super) struct RequestSchedule {
    pub(super) every: Duration,
    pub(super) count: usize,
    pub(super) next: AtomicUsize,
    pub(super) done: Mutex<Vec<(usize, Duration)>>,
    pub(super) failed: Mutex<Vec<String>>,
}

impl RequestSchedule {
    pub(super) fn new(per_second: u32, until: Duration) -> Self {
        let every = Duration::from_secs(1) / per_second.max(1);
        Self {
            every,
            count: (until.as_secs_f64() * f64::from(per_second)) as usize,
            next: AtomicUsize::new(0),
            done: Mutex::default(),
            failed: Mutex::default(),
        }
    }

    /// Performs due requests, one after the other, until none is left.
    pub(super) fn run_due(&self, began: Instant, mut act: impl FnMut(usize) -> anyhow::Result<()>) {
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

pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
