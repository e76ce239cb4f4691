//! What must be done now and then: backups, sweeps, looking after children and the log.
//!
//! One thread that sleeps most of the time. Invariant: nothing here is needed for what hooks
//! accept to be kept, and nothing here fails loudly: it is told in the log and tried again.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::worker::Worker;
use super::{backups, sweep};
use crate::child::Register;
use crate::clock::{self, Millis};
use crate::hook::spool;
use crate::limits::{
    BACKUP_SECONDS, CHECK_SECONDS, DONE_SECONDS_MAX, FORGOTTEN_DAYS_MAX, REAP_SECONDS,
    SESSION_SILENT_SECONDS_MAX, SWEEP_SECONDS, UPKEEP_SECONDS, VACUUM_IDLE_SECONDS,
    WAL_LEFT_BYTES_MAX,
};
use crate::log::{self, Keep, Level};
use crate::store::{Store, StoreError};

const DAY_SECONDS: i64 = 86_400;
/// Between two steps of a merge.
const MERGE_PAUSE: Duration = Duration::from_millis(2);

/// The thread.
#[derive(Debug)]
pub struct Upkeep {
    stopping: Arc<(Mutex<bool>, Condvar)>,
    thread: JoinHandle<()>,
}

impl Upkeep {
    /// `was_killed`: the worker before did not end in order, so the store is checked soon.
    pub fn start(worker: Arc<Worker>, was_killed: bool) -> std::io::Result<Self> {
        let stopping = Arc::new((Mutex::new(false), Condvar::new()));
        let watched = Arc::clone(&stopping);
        let thread = std::thread::Builder::new()
            .name("upkeep".into())
            .spawn(move || rounds(&worker, &watched, was_killed))?;
        Ok(Self { stopping, thread })
    }

    /// Waits no longer than this for what it is doing; it ends with the process.
    pub fn stop(self, within: Duration) {
        let (stopping, bell) = &*self.stopping;
        *stopping.lock().unwrap_or_else(PoisonError::into_inner) = true;
        bell.notify_all();
        let until = Instant::now() + within;
        while !self.thread.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// When something was last done.
struct Due {
    last: Option<Instant>,
    every: Duration,
}

impl Due {
    const fn every(seconds: u64) -> Self {
        Self {
            last: None,
            every: Duration::from_secs(seconds),
        }
    }

    fn is_now(&mut self, now: Instant) -> bool {
        let due = self.last.is_none_or(|last| now >= last + self.every);
        if due {
            self.last = Some(now);
        }
        due
    }
}

fn rounds(worker: &Worker, stopping: &(Mutex<bool>, Condvar), was_killed: bool) {
    let mut reap = Due::every(REAP_SECONDS);
    let mut check = Due::every(CHECK_SECONDS);
    let mut sweep = Due::every(SWEEP_SECONDS);
    if !was_killed {
        check.last = Some(Instant::now());
    }
    let mut vacuumed = false;
    while !rests(stopping) {
        let now = Instant::now();
        worker.drain.ring();
        worker.warm.rest(now);
        once(worker, &stopping.0);
        if reap.is_now(now) {
            told(
                worker,
                "children could not be reaped",
                reap_children(worker),
            );
        }
        if sweep.is_now(now) {
            sweep_up(worker);
        }
        if check.is_now(now) {
            told(worker, "the store was found damaged", check_store(worker));
        }
        let idle = worker.presence.idle_for(now) >= Duration::from_secs(VACUUM_IDLE_SECONDS);
        if idle && !vacuumed {
            vacuumed = true;
            told(
                worker,
                "the store could not be made smaller",
                vacuum(worker),
            );
        }
    }
}

/// Sleeps until the next round. True if there is none.
fn rests((stopping, bell): &(Mutex<bool>, Condvar)) -> bool {
    let stopping = stopping.lock().unwrap_or_else(PoisonError::into_inner);
    let pause = Duration::from_secs(UPKEEP_SECONDS);
    let (stopping, _) = bell
        .wait_timeout_while(stopping, pause, |stopping| !*stopping)
        .unwrap_or_else(PoisonError::into_inner);
    *stopping
}

/// One round of what a worker does that goes on.
fn once(worker: &Worker, stopping: &Mutex<bool>) {
    hear_silent(worker);
    keep_order(worker, &|| {
        *stopping.lock().unwrap_or_else(PoisonError::into_inner)
    });
}

/// Works until there is nothing left to do, for a worker that ends then. False if nobody waited
/// for it any more.
pub fn to_the_end(worker: &Worker) -> Result<bool, StoreError> {
    loop {
        hear_silent(worker);
        if !worker.drain_all(|| false)? {
            return Ok(false);
        }
        keep_order(worker, &|| false);
        sweep_up(worker);
        // Hooks do not stop for us.
        if !worker.drain.has_work()? {
            return Ok(true);
        }
    }
}

/// What every worker does, however short it lives.
fn keep_order(worker: &Worker, is_stopping: &dyn Fn() -> bool) {
    let now = clock::now().millis();
    told(worker, "the store could not be tidied", tidy(worker, now));
    let yesterday = now.plus_seconds(-DAY_SECONDS).micros();
    let swept = spool::sweep(worker.store.dir(), yesterday).map(drop);
    told(worker, "the spool could not be swept", swept);
    told(
        worker,
        "the index could not be merged",
        merge(worker, is_stopping),
    );
    told(worker, "the log was not emptied", empty_log(worker));
    told(worker, "no backup could be made", back_up(worker, now));
    let swept = sweep::opened(worker.store.dir(), now);
    told(worker, "pages with old links stay", swept);
    let keep = Keep::from(&worker.settings);
    let swept = log::sweep(&worker.store.dir().logs(), now, keep);
    told(worker, "logs could not be swept", swept);
}

/// What grows slowly, and is of no use after months.
fn sweep_up(worker: &Worker) {
    let (store, now) = (&worker.store, clock::now().millis());
    let swept = sweep::old_rows(store, now);
    told(worker, "old rows could not be swept", swept);
    let swept = sweep::old_marks(store, now);
    told(worker, "old marks could not be swept", swept);
    let swept = sweep::leftovers(store.dir(), now);
    told(worker, "files left behind could not be swept", swept);
}

fn told<E: std::fmt::Display>(worker: &Worker, what: &'static str, done: Result<(), E>) {
    if let Err(error) = done {
        worker.trouble(what, &error);
    }
}

/// A client that was killed has said nothing of its end; its transcript has.
fn hear_silent(worker: &Worker) {
    let now = clock::now().millis();
    worker.hear_silent(now.plus_seconds(-SESSION_SILENT_SECONDS_MAX));
}

/// Where it is noted that the log may still tell what was deleted.
const LOG_HOLDS_GONE: &str = "log.holds_gone";

/// Rows that have no use any more, a few in each transaction.
fn tidy(worker: &Worker, now: Millis) -> Result<(), StoreError> {
    let ago = |seconds: i64| now.plus_seconds(-seconds);
    let store = &worker.store;
    let done = ago(DONE_SECONDS_MAX);
    sweep::rows(store, |tx, max| tx.sweep_done(done, max))?;
    let forgotten = ago(FORGOTTEN_DAYS_MAX * DAY_SECONDS);
    let mut gone = sweep::rows(store, |tx, max| tx.purge_forgotten(forgotten, max))?;
    let days = i64::from(worker.settings.prompts_days_max);
    if days > 0 {
        let before = ago(days * DAY_SECONDS);
        gone += sweep::rows(store, |tx, max| tx.delete_prompts_before(before, max))?;
        gone += sweep::rows(store, |tx, max| tx.unname_sessions_before(before, max))?;
    }
    if gone > 0 {
        store.with(|store| store.write(|tx| tx.set_meta(LOG_HOLDS_GONE, "1")))?;
    }
    // The log holds pages as they were. Where a reader stood in the way, it is tried again.
    store.with(|store| {
        let is_owed = store.read().meta(LOG_HOLDS_GONE)?.as_deref() == Some("1");
        if is_owed && store.checkpoint()? {
            store.write(|tx| tx.set_meta(LOG_HOLDS_GONE, "0"))?;
        }
        Ok(())
    })
}

/// Puts the full-text index into one piece, a step at a time, while no event waits.
fn merge(worker: &Worker, is_stopping: &dyn Fn() -> bool) -> Result<(), StoreError> {
    let store = &worker.store;
    if !store.with(|store| store.read().is_index_worth_a_merge())? {
        return Ok(());
    }
    while !is_stopping() && !worker.drain.has_work()? && store.with(Store::merge_index)? {
        // Whoever else wants the store gets it between two steps.
        std::thread::sleep(MERGE_PAUSE);
    }
    Ok(())
}

/// Hooks leave the write-ahead log to us.
fn empty_log(worker: &Worker) -> Result<(), StoreError> {
    let mut log = worker.store.dir().db().into_os_string();
    log.push("-wal");
    match std::fs::metadata(log) {
        Ok(meta) if meta.len() > WAL_LEFT_BYTES_MAX => {
            worker.store.with(|store| store.checkpoint()).map(drop)
        }
        _ => Ok(()),
    }
}

fn back_up(worker: &Worker, now: Millis) -> Result<(), StoreError> {
    let (dir, settings) = (worker.store.dir(), &worker.settings);
    let newest = backups::list(&dir.backups())?.pop();
    let recent = newest.is_some_and(|backup| now - backup.at < BACKUP_SECONDS * 1_000);
    if settings.backups_keep == 0 || recent || !backups::is_due(&dir.db(), &dir.backups())? {
        return Ok(());
    }
    let made = backups::make(&dir.db(), &dir.backups(), now)?;
    worker.say(Level::Info, "backup made", &[("bytes", &made.bytes)]);
    let keep = settings.backups_keep as usize;
    backups::prune(&dir.backups(), keep, settings.backups_bytes_max)?;
    Ok(())
}

fn reap_children(worker: &Worker) -> std::io::Result<()> {
    let reaped = Register::open(&worker.store.dir().children())?.reap()?;
    if !reaped.is_empty() {
        worker.say(
            Level::Warn,
            "children without a worker were ended",
            &[("children", &reaped.len())],
        );
    }
    Ok(())
}

/// Looks at every page, beside the writers. What it finds is recovered from.
pub(super) fn check_store(worker: &Worker) -> Result<(), StoreError> {
    let found = Store::open_read_only(&worker.store.dir().db());
    let found = found.and_then(|store| store.quick_check());
    match found {
        Err(StoreError::Damaged) => worker.store.with(|_| Err(StoreError::Damaged)),
        found => found,
    }
}

/// Gives space back to the file system when there is a lot of it and nobody waits.
fn vacuum(worker: &Worker) -> Result<(), StoreError> {
    worker.store.with(|store| {
        if store.is_worth_a_vacuum()? {
            store.vacuum()?;
        }
        Ok(())
    })
}
