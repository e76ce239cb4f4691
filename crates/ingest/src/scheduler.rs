//! The scheduler: the threads that run the [`EpisodePipeline`].
//!
//! Invariant: one thread at a time works on a session, in order; up to a limit, sessions run in
//! parallel. An idle thread sleeps until it is notified, until an open turn is old enough to be
//! cut, or until the next poll. The state's mutex is never held while a thread waits for the store,
//! so that [`Scheduler::notify`] returns at once on an async thread. Plain threads instead of async:
//! a model call blocks for up to a minute and the heuristic compressor uses a whole core.

use std::collections::HashSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::pipeline::EpisodePipeline;
use crate::session_picker::{PickedSession, SessionKey, SessionPick};
use claude_mem_core::clock;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::PendingId;
use claude_mem_core::limits::POLL_SECONDS;
use claude_mem_core::queue::LeaseId;
use claude_mem_store::StoreError;

/// Milliseconds before the scheduler retries a busy database, and its shortest sleep.
const BUSY_PAUSE_MS: u64 = 100;

/// Handle to the scheduler threads. Dropping it leaves them running; [`Scheduler::stop`] ends them.
#[derive(Debug)]
pub struct Scheduler {
    shared: Arc<SchedulerCore>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// What the scheduler threads share.
#[derive(Debug)]
struct SchedulerCore {
    pipeline: EpisodePipeline,
    state: Mutex<SchedulerState>,
    wakeup: Condvar,
}

/// Mutable state of the scheduler, guarded by one mutex.
#[derive(Debug)]
struct SchedulerState {
    /// Sessions that a thread is working on.
    busy_sessions: HashSet<SessionKey>,
    /// Counts notifications, so that one that arrives while all threads look for work is not lost.
    notify_count: u64,
    /// Callers that wait for an empty queue. While there are any, open turns are cut at once.
    flush_waiters: usize,
    stopping: bool,
    next_lease: i64,
    last_worked: Instant,
}

impl Scheduler {
    /// Starts `threads` threads, at least one.
    pub fn start(pipeline: EpisodePipeline, threads: usize) -> std::io::Result<Self> {
        let shared = Arc::new(SchedulerCore {
            pipeline,
            state: Mutex::new(SchedulerState::new()),
            wakeup: Condvar::new(),
        });
        let threads = (0..threads.max(1))
            .map(|number| {
                let shared = Arc::clone(&shared);
                std::thread::Builder::new().name(format!("drain-{number}")).spawn(move || shared.run_thread())
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { shared, threads: Mutex::new(threads) })
    }

    /// Wakes the threads: something was queued. Returns how often it was called.
    pub fn notify(&self) -> u64 {
        let mut state = self.shared.lock_state();
        state.notify_count += 1;
        let count = state.notify_count;
        drop(state);
        self.shared.wakeup.notify_all();
        count
    }

    /// When a thread last finished an episode.
    pub fn last_worked(&self) -> Instant {
        self.shared.lock_state().last_worked
    }

    /// Waits until the queue is empty except for dead letters. Open turns are cut at once, and
    /// events that a transcript backfill adds meanwhile are waited for too. `is_over` is polled;
    /// once it returns true, the wait ends. Returns whether the queue was drained.
    pub fn flush(&self, is_over: impl Fn() -> bool) -> Result<bool, StoreError> {
        self.shared.lock_state().flush_waiters += 1;
        let drained = self.flush_until_empty(&is_over);
        self.shared.lock_state().flush_waiters -= 1;
        drained
    }

    /// Whether unsettled events exist, including those in the spool.
    pub fn has_work(&self) -> Result<bool, StoreError> {
        Ok(self.newest_unsettled()?.is_some())
    }

    /// The id of the newest queued event, if it or an earlier one is unsettled.
    fn newest_unsettled(&self) -> Result<Option<PendingId>, StoreError> {
        let unread = self.shared.pipeline.drain_spool()?;
        let newest = self.shared.pipeline.store.with(|store| {
            let reads = store.read();
            let Some(newest) = reads.newest_pending()? else {
                return Ok(None);
            };
            Ok(reads.is_unsettled_up_to(newest)?.then_some(newest))
        })?;
        match (newest, unread) {
            // The queue is empty, but the unreadable spool may still hold events.
            (None, Some(error)) => Err(error),
            (newest, _) => Ok(newest),
        }
    }

    fn flush_until_empty(&self, is_over: &dyn Fn() -> bool) -> Result<bool, StoreError> {
        loop {
            let Some(newest) = self.newest_unsettled()? else {
                return Ok(true);
            };
            self.notify();
            if !self.shared.wait_until_settled(newest, is_over)? {
                return Ok(false);
            }
        }
    }

    /// Stops the threads. Waits up to `within` for their episodes; the leases of unfinished ones
    /// are released by the shutdown.
    pub fn stop(&self, within: Duration) {
        self.shared.lock_state().stopping = true;
        self.shared.pipeline.compressor.stop();
        self.shared.wakeup.notify_all();
        let until = Instant::now() + within;
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            while !thread.is_finished() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(5));
            }
            // A thread that is stuck in a model call ends with the process.
            if thread.is_finished() {
                let _ = thread.join();
            }
        }
    }
}

impl SchedulerState {
    fn new() -> Self {
        let mut seed = [0; 8];
        // A random first lease id, which an earlier worker is unlikely to have used. The worker
        // lock rules out a second worker at the same time.
        let seeded = getrandom::fill(&mut seed);
        let fallback = clock::now().0;
        let base = seeded.map_or(fallback, |()| i64::from_le_bytes(seed) & (i64::MAX >> 1));
        Self {
            busy_sessions: HashSet::new(),
            notify_count: 0,
            flush_waiters: 0,
            stopping: false,
            next_lease: base.max(1),
            last_worked: Instant::now(),
        }
    }
}

/// What a thread does next.
enum NextTask {
    /// Process an episode of this session.
    Session(PickedSession),
    /// Sleep until notified, at most this long.
    Sleep(Duration),
}

impl SchedulerCore {
    fn lock_state(&self) -> MutexGuard<'_, SchedulerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The loop of one scheduler thread.
    fn run_thread(&self) {
        loop {
            let rings = self.lock_state().notify_count;
            let task = self.next_task().unwrap_or_else(|error| {
                self.pipeline.observer.warn("failed to read the queue", &error);
                NextTask::Sleep(retry_pause(&error))
            });
            match task {
                NextTask::Session(picked) => {
                    self.process_session(&picked);
                    let mut state = self.lock_state();
                    state.busy_sessions.remove(&picked.key());
                    state.last_worked = Instant::now();
                    drop(state);
                    // Wakes callers of `flush`, and idle threads: the session is free again.
                    self.wakeup.notify_all();
                }
                NextTask::Sleep(pause) => {
                    self.pipeline.compressor.release_idle(clock::now().millis());
                    self.sleep(rings, pause);
                }
            }
            if self.lock_state().stopping {
                return;
            }
        }
    }

    /// Sleeps until a notification newer than `rings`, the shutdown, or the end of `pause`.
    fn sleep(&self, rings: u64, pause: Duration) {
        let state = self.lock_state();
        let goes_on = |state: &mut SchedulerState| state.notify_count == rings && !state.stopping;
        let _woken =
            self.wakeup.wait_timeout_while(state, pause, goes_on).unwrap_or_else(PoisonError::into_inner);
    }

    /// Claims the session that has waited longest among those with a complete episode.
    fn next_task(&self) -> Result<NextTask, StoreError> {
        self.pipeline.drain_spool()?;
        loop {
            let (busy, flush) = {
                let state = self.lock_state();
                (state.busy_sessions.clone(), state.flush_waiters > 0)
            };
            match self.pipeline.pick_session(&busy, flush)? {
                SessionPick::Ready(picked) => {
                    // Unless another thread has claimed it while this one waited for the store.
                    if self.lock_state().busy_sessions.insert(picked.key()) {
                        return Ok(NextTask::Session(picked));
                    }
                }
                SessionPick::NoneBefore(next_cut) => {
                    let poll = Duration::from_secs(POLL_SECONDS);
                    let now = clock::now().millis();
                    return Ok(NextTask::Sleep(
                        next_cut.map_or(poll, |until| poll.min(duration_until(now, until))),
                    ));
                }
            }
        }
    }

    /// Runs the pipeline for one episode of a session and settles its events if that failed.
    fn process_session(&self, picked: &PickedSession) {
        let (lease, flush) = {
            let mut state = self.lock_state();
            state.next_lease += 1;
            (LeaseId(state.next_lease), state.flush_waiters > 0)
        };
        let Err(failure) = self.pipeline.process_session(picked, lease, flush) else {
            return;
        };
        if failure.is_transient() {
            self.pause_after_error(&failure.error);
        }
        let (store, observer) = (&self.pipeline.store, &*self.pipeline.observer);
        if let Err(error) = failure.settle(store, observer, picked, lease, flush) {
            // The lease expires, and then the events are leased again.
            observer.warn("failed to settle the episode's events", &error);
            self.pause_after_error(&error);
        }
    }

    fn pause_after_error(&self, error: &StoreError) {
        let rings = self.lock_state().notify_count;
        self.sleep(rings, retry_pause(error));
    }

    /// Waits until all events up to `newest` are settled. False if `is_over` or the shutdown came
    /// first.
    fn wait_until_settled(&self, newest: PendingId, is_over: &dyn Fn() -> bool) -> Result<bool, StoreError> {
        loop {
            let rings = self.lock_state().notify_count;
            let unsettled = self.pipeline.store.with(|store| store.read().is_unsettled_up_to(newest))?;
            if !unsettled {
                return Ok(true);
            }
            if is_over() || self.lock_state().stopping {
                return Ok(false);
            }
            let state = self.lock_state();
            if state.notify_count == rings {
                let tick = Duration::from_millis(BUSY_PAUSE_MS);
                let _woken = self.wakeup.wait_timeout(state, tick).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

fn duration_until(now: Millis, then: Millis) -> Duration {
    // Never zero, so that a stopped clock cannot make a thread spin.
    Duration::from_millis(u64::try_from(then - now).unwrap_or(0).max(BUSY_PAUSE_MS))
}

fn retry_pause(error: &StoreError) -> Duration {
    match error {
        StoreError::Busy | StoreError::Corrupt => Duration::from_millis(BUSY_PAUSE_MS),
        _ => Duration::from_secs(POLL_SECONDS),
    }
}

#[cfg(test)]
#[path = "scheduler_tests.rs"]
mod tests;
