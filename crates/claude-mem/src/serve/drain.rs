//! The threads that turn queued events into memories.
//!
//! In: a bell that is rung when something was queued. Out: settled events and their rows.
//!
//! Invariant: a session is worked on by one thread at a time, in order; sessions side by side up
//! to a limit. A thread that has nothing to do sleeps until the bell, until the next turn is old
//! enough to be cut, or until the slow poll. Absent on purpose: async; a model may take a minute
//! and the distiller a core.

use std::collections::HashSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::episodes::{self, Cut};
use super::local;
use super::shared::SharedStore;
use super::work::{self, Left, Made, Work};
use crate::clock::{self, Millis};
use crate::hook::deliver;
use crate::ids::PendingId;
use crate::limits::{
    BUSY_PAUSE_MS, CRASHES_DISTIL_MAX, CRASHES_MODEL_MAX, EPISODE_EVENTS_MAX, POLL_SECONDS,
};
use crate::queue::LeaseId;
use crate::store::{Head, Lease, ReadySession, StoreError};
use crate::vocabulary::Vocabulary;

/// Who makes memories of episodes.
pub trait Compressor: Send + Sync + std::fmt::Debug {
    /// Blocks for as long as it takes, which has an upper bound.
    fn make(&self, work: &Work) -> Verdict;

    /// There is nothing to do just now: what is only kept for the next call may go.
    fn rest(&self, _now: Millis) {}

    /// No further call is made, and the one under way ends soon.
    fn stop(&self) {}

    /// Why memories are not made as they should be, for `status`.
    fn trouble(&self, _now: Millis) -> Option<String> {
        None
    }
}

/// What became of an episode at the compressor.
#[derive(Debug)]
pub enum Verdict {
    Made(Box<Made>),
    /// It could not be done, through no fault of ours: the events wait and count a failure.
    Failed(String),
    /// Not now: the events go back as they were.
    GivenBack,
}

/// Who wants to know what happens.
pub trait Watcher: Send + Sync + std::fmt::Debug {
    fn stored(&self, _work: &Work, _left: &Left) {}
    fn trouble(&self, _what: &'static str, _error: &dyn std::fmt::Display) {}
    /// A session is about to be worked on, as far as these are its events: time to look into its
    /// transcript.
    fn before_take(&self, _ready: &ReadySession, _heads: &[Head]) {}
}

/// The threads. Dropping it leaves them running; `stop` ends them.
#[derive(Debug)]
pub struct Drain {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Shared {
    store: Arc<SharedStore>,
    compressor: Arc<dyn Compressor>,
    watcher: Arc<dyn Watcher>,
    board: Mutex<Board>,
    bell: Condvar,
}

/// Who does what.
#[derive(Debug)]
struct Board {
    busy: HashSet<(String, String)>,
    /// Counts rings, so that one that comes while all are looking is not missed.
    rings: u64,
    /// How many wait for an empty queue: open turns are taken as they stand.
    flushing: usize,
    stopping: bool,
    next_lease: i64,
    last_worked: Instant,
}

impl Drain {
    pub fn start(
        store: Arc<SharedStore>,
        compressor: Arc<dyn Compressor>,
        watcher: Arc<dyn Watcher>,
        threads: usize,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            store,
            compressor,
            watcher,
            board: Mutex::new(Board::new()),
            bell: Condvar::new(),
        });
        let threads = (0..threads.max(1))
            .map(|number| {
                let shared = Arc::clone(&shared);
                std::thread::Builder::new()
                    .name(format!("drain-{number}"))
                    .spawn(move || shared.work())
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            shared,
            threads: Mutex::new(threads),
        })
    }

    /// Something was queued.
    pub fn ring(&self) {
        self.shared.board().rings += 1;
        self.shared.bell.notify_all();
    }

    /// When a thread last had something to do.
    pub fn last_worked(&self) -> Instant {
        self.shared.board().last_worked
    }

    /// Waits until the queue is empty but for dead events, with open turns taken as they stand.
    /// What a transcript adds on the way is waited for too. `is_over` is asked now and then
    /// whether anybody still waits. True if drained.
    pub fn flush(&self, is_over: impl Fn() -> bool) -> Result<bool, StoreError> {
        self.shared.board().flushing += 1;
        let drained = self.flush_all(&is_over);
        self.shared.board().flushing -= 1;
        drained
    }

    /// Whether anything waits, also in the spool.
    pub fn has_work(&self) -> Result<bool, StoreError> {
        Ok(self.unsettled()?.is_some())
    }

    /// The newest event, if any up to it is still to be settled.
    fn unsettled(&self) -> Result<Option<PendingId>, StoreError> {
        let unread = self.shared.take_in()?;
        let newest = self.shared.store.with(|store| {
            let reads = store.read();
            let Some(newest) = reads.newest_pending()? else {
                return Ok(None);
            };
            Ok(reads.is_unsettled_up_to(newest)?.then_some(newest))
        })?;
        match (newest, unread) {
            // The queue is empty, but nobody knows what still lies before it.
            (None, Some(error)) => Err(error),
            (newest, _) => Ok(newest),
        }
    }

    fn flush_all(&self, is_over: &dyn Fn() -> bool) -> Result<bool, StoreError> {
        loop {
            let Some(newest) = self.unsettled()? else {
                return Ok(true);
            };
            self.ring();
            if !self.shared.wait_for(newest, is_over)? {
                return Ok(false);
            }
        }
    }

    /// Lets each thread finish its episode, for so long; what is left is given back.
    pub fn stop(&self, within: Duration) {
        self.shared.board().stopping = true;
        self.shared.compressor.stop();
        self.shared.bell.notify_all();
        let until = Instant::now() + within;
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            while !thread.is_finished() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(5));
            }
            // A thread that hangs in a model's call ends with the process.
            if thread.is_finished() {
                let _ = thread.join();
            }
        }
    }
}

impl Board {
    fn new() -> Self {
        let mut seed = [0; 8];
        // A number that earlier workers are unlikely to have used; the lock makes sure.
        let seeded = getrandom::fill(&mut seed);
        let fallback = clock::now().0;
        let base = seeded.map_or(fallback, |()| i64::from_le_bytes(seed) & (i64::MAX >> 1));
        Self {
            busy: HashSet::new(),
            rings: 0,
            flushing: 0,
            stopping: false,
            next_lease: base.max(1),
            last_worked: Instant::now(),
        }
    }
}

/// What a thread is to do next.
enum Task {
    Session(ReadySession, Vec<Head>),
    /// Nothing until the bell, or for so long.
    Sleep(Duration),
}

impl Shared {
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        loop {
            let rings = self.board().rings;
            let task = self.choose().unwrap_or_else(|error| {
                self.watcher.trouble("the queue could not be read", &error);
                Task::Sleep(pause_after(&error))
            });
            match task {
                Task::Session(ready, heads) => {
                    self.watcher.before_take(&ready, &heads);
                    self.episode(&ready);
                    let mut board = self.board();
                    board.busy.remove(&name_of(&ready));
                    board.last_worked = Instant::now();
                    drop(board);
                    // Whoever waits for an empty queue looks again, and so does an idle thread.
                    self.bell.notify_all();
                }
                Task::Sleep(pause) => {
                    self.compressor.rest(clock::now().millis());
                    self.sleep(rings, pause);
                }
            }
            if self.board().stopping {
                return;
            }
        }
    }

    fn sleep(&self, rings: u64, pause: Duration) {
        let board = self.board();
        let goes_on = |board: &mut Board| board.rings == rings && !board.stopping;
        let _woken = self
            .bell
            .wait_timeout_while(board, pause, goes_on)
            .unwrap_or_else(PoisonError::into_inner);
    }

    /// What hooks have put into the spool goes into the queue. Before anything is taken from it:
    /// a turn's tool uses may still lie there when its end does not. Why the spool could not be
    /// read, if it could not: the queue itself can still be worked on.
    fn take_in(&self) -> Result<Option<StoreError>, StoreError> {
        let (dir, now) = (self.store.dir(), clock::now().millis());
        match self.store.with(|store| deliver::take_in(dir, store, now)) {
            Err(error @ StoreError::Io(..)) => {
                self.watcher.trouble("the spool", &error);
                Ok(Some(error))
            }
            taken => taken.map(|_| None),
        }
    }

    /// The session that has waited longest and has a whole episode.
    fn choose(&self) -> Result<Task, StoreError> {
        self.take_in()?;
        let now = clock::now().millis();
        let mut board = self.board();
        let flush = board.flushing > 0;
        let mut pause = Duration::from_secs(POLL_SECONDS);
        let ready = self.store.with(|store| {
            let reads = store.read();
            for ready in reads.sessions_with_work()? {
                if board.busy.contains(&name_of(&ready)) {
                    continue;
                }
                let heads = reads.heads(&ready.client, &ready.session, EPISODE_EVENTS_MAX + 1)?;
                match episodes::cut(&heads, now, flush) {
                    Cut::Take(_) => return Ok(Some((ready, heads))),
                    Cut::Wait(until) => pause = pause.min(until_then(now, until)),
                    Cut::Nothing => {}
                }
            }
            Ok(None)
        })?;
        Ok(match ready {
            Some((ready, heads)) => {
                board.busy.insert(name_of(&ready));
                Task::Session(ready, heads)
            }
            None => Task::Sleep(pause),
        })
    }

    /// One episode of one session, from the queue to the store.
    fn episode(&self, ready: &ReadySession) {
        let (lease, flush) = {
            let mut board = self.board();
            board.next_lease += 1;
            (LeaseId(board.next_lease), board.flushing > 0)
        };
        let now = clock::now().millis();
        let taken = self
            .store
            .with(|store| work::take(store, ready, lease, now, flush));
        let work = match taken {
            Ok(Some(work)) => work,
            Ok(None) => return,
            Err(error) => return self.untaken(ready, lease, flush, &error),
        };
        if let Err(error) = self.finish(&work) {
            self.watcher
                .trouble("an episode could not be stored", &error);
            self.recover_from(&work.lease, &error);
        }
    }

    /// Its place could not be found or made. Where that lies in the episode, its events count a
    /// failure like those of any other: nobody else would ever get past them.
    fn untaken(&self, ready: &ReadySession, lease: LeaseId, flush: bool, error: &StoreError) {
        self.watcher.trouble("an episode could not be taken", error);
        if error.may_pass() || matches!(error, StoreError::Damaged | StoreError::LeaseLost) {
            return self.pause(error);
        }
        let now = clock::now().millis();
        let leased = self
            .store
            .with(|store| work::lease(store, ready, lease, now, flush));
        match leased {
            Ok(Some(lease)) => self.recover_from(&lease, error),
            Ok(None) => {}
            Err(error) => {
                self.watcher
                    .trouble("its events could not be leased", &error);
                self.pause(&error);
            }
        }
    }

    fn finish(&self, work: &Work) -> Result<(), StoreError> {
        let verdict = match work.crashes() {
            _ if !work.says_something() => Verdict::Made(Box::default()),
            0..CRASHES_MODEL_MAX => Self::make(|| self.compressor.make(work)),
            crashes @ CRASHES_MODEL_MAX..CRASHES_DISTIL_MAX => {
                self.watcher
                    .trouble("an episode over which workers die is distilled", &crashes);
                Self::make(|| Verdict::Made(Box::new(local::made(work, &Vocabulary::default()))))
            }
            crashes => {
                self.watcher.trouble(
                    "an episode over which workers die is kept as it is",
                    &crashes,
                );
                Verdict::Made(Box::default())
            }
        };
        match verdict {
            Verdict::Made(made) => {
                let left = self.store.with(|store| work.finish(store, &made))?;
                self.watcher.stored(work, &left);
                Ok(())
            }
            Verdict::Failed(why) => self.fail(&work.lease, &why),
            Verdict::GivenBack => self.give_back(&work.lease),
        }
    }

    /// A panic over one episode is that episode's failure, not the worker's. What ships ends with
    /// a panic instead; that is what crashes are counted for.
    fn make(make: impl FnOnce() -> Verdict) -> Verdict {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(make))
            .unwrap_or_else(|_| Verdict::Failed("the compressor panicked".to_owned()))
    }

    /// The store did not take an episode. Its events stay in the queue: at once, after a while,
    /// or as dead ones with a reason.
    fn recover_from(&self, lease: &Lease, error: &StoreError) {
        let settled = match error {
            // Others have them now, or they are in a recovered store's queue.
            StoreError::LeaseLost | StoreError::Damaged => Ok(()),
            error if error.may_pass() => {
                self.pause(error);
                self.give_back(lease)
            }
            // Something about this very episode.
            _ => self.fail(lease, &error.to_string()),
        };
        if let Err(error) = settled {
            // Its lease runs out, and then it is taken again.
            self.watcher
                .trouble("its events could not be given back", &error);
        }
    }

    fn fail(&self, lease: &Lease, why: &str) -> Result<(), StoreError> {
        self.watcher.trouble("an episode failed", &why);
        let now = clock::now().millis();
        let ids: Vec<PendingId> = lease.events.iter().map(|leased| leased.id).collect();
        self.store
            .with(|store| store.write(|tx| tx.fail(lease.id, &ids, why, now)))
    }

    fn give_back(&self, lease: &Lease) -> Result<(), StoreError> {
        self.store
            .with(|store| store.write(|tx| tx.release(lease.id).map(drop)))
    }

    fn pause(&self, error: &StoreError) {
        let rings = self.board().rings;
        self.sleep(rings, pause_after(error));
    }

    fn wait_for(&self, newest: PendingId, is_over: &dyn Fn() -> bool) -> Result<bool, StoreError> {
        loop {
            let rings = self.board().rings;
            let unsettled = self
                .store
                .with(|store| store.read().is_unsettled_up_to(newest))?;
            if !unsettled {
                return Ok(true);
            }
            if is_over() || self.board().stopping {
                return Ok(false);
            }
            let board = self.board();
            if board.rings == rings {
                let tick = Duration::from_millis(BUSY_PAUSE_MS);
                let _woken = self
                    .bell
                    .wait_timeout(board, tick)
                    .unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

fn name_of(ready: &ReadySession) -> (String, String) {
    (ready.client.clone(), ready.session.0.clone())
}

fn until_then(now: Millis, then: Millis) -> Duration {
    // At least a moment, so that a clock that stands still cannot make a thread spin.
    Duration::from_millis(u64::try_from(then - now).unwrap_or(0).max(BUSY_PAUSE_MS))
}

fn pause_after(error: &StoreError) -> Duration {
    match error {
        StoreError::Busy | StoreError::Damaged => Duration::from_millis(BUSY_PAUSE_MS),
        _ => Duration::from_secs(POLL_SECONDS),
    }
}

#[cfg(test)]
#[path = "drain_tests.rs"]
mod tests;
