//! Periodic maintenance: backups, retention, index merges, integrity checks, orphaned children.
//!
//! The [`MaintenanceThread`] sleeps most of the time. Invariant: no accepted event depends on it, and
//! no failure stops it: errors are logged and the task is retried in a later round.

use crate::limits::UPKEEP_SECONDS;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use crate::retention;
use crate::worker::WorkerContext;
use claude_mem_capture::spool;
use claude_mem_core::child::ChildRegistry;
use claude_mem_core::clock;
use claude_mem_core::clock::Millis;
use claude_mem_core::limits::WAL_LEFT_BYTES_MAX;
use claude_mem_core::log;
use claude_mem_core::log::{LogLevel, LogRetention};
use claude_mem_core::paths::with_suffix;
use claude_mem_store::backups;
use claude_mem_store::{Store, StoreError};

/// Seconds without activity after which an unended session counts as interrupted.
const SESSION_SILENT_SECONDS_MAX: i64 = 86_400;

/// Days during which a forgotten memory can be restored.
const FORGOTTEN_DAYS_MAX: i64 = 30;

/// Seconds between two retention sweeps. A day is enough because this data grows slowly.
const SWEEP_SECONDS: u64 = 86_400;

/// Seconds that the worker must have been idle before it vacuums the database.
const VACUUM_IDLE_SECONDS: u64 = 600;

/// Shortest time between two backups, in seconds. An unchanged database is not backed up again.
const BACKUP_SECONDS: i64 = 3_600;

/// Seconds between two integrity checks, which read every page of the database.
const CHECK_SECONDS: u64 = 86_400;

/// Seconds between two searches for orphaned child processes.
const REAP_SECONDS: u64 = 300;

/// Maximum seconds that settled events stay in the queue for inspection.
const DONE_SECONDS_MAX: i64 = 3_600;

const DAY_SECONDS: i64 = 86_400;
/// Pause between two steps of an index merge.
const MERGE_PAUSE: Duration = Duration::from_millis(2);

/// Handle to the maintenance thread.
#[derive(Debug)]
pub(crate) struct MaintenanceThread {
    /// Dropped to stop the thread.
    running: mpsc::Sender<()>,
    /// Disconnected when the thread has ended.
    ended: mpsc::Receiver<()>,
}

impl MaintenanceThread {
    /// With `was_killed` the previous worker did not shut down gracefully, so the first round checks
    /// the store.
    pub(crate) fn start(worker: Arc<WorkerContext>, was_killed: bool) -> std::io::Result<Self> {
        let (running, stop) = mpsc::channel();
        let (until_end, ended) = mpsc::channel();
        std::thread::Builder::new().name("upkeep".into()).spawn(move || {
            run_thread(&worker, &stop, was_killed);
            drop(until_end);
        })?;
        Ok(Self { running, ended })
    }

    /// Asks the thread to stop and waits at most `within`; after that it ends with the process.
    pub(crate) fn stop(self, within: Duration) {
        drop(self.running);
        // Either the thread has ended or the time is over.
        let _ = self.ended.recv_timeout(within);
    }
}

/// A timer for a task that runs at a fixed interval.
struct RepeatTimer {
    last: Option<Instant>,
    every: Duration,
}

impl RepeatTimer {
    const fn every(seconds: u64) -> Self {
        Self { last: None, every: Duration::from_secs(seconds) }
    }

    /// Whether the task is due. If so, the interval starts again.
    fn fire_if_due(&mut self, now: Instant) -> bool {
        let due = self.last.is_none_or(|last| now >= last + self.every);
        if due {
            self.last = Some(now);
        }
        due
    }
}

fn run_thread(worker: &WorkerContext, stop: &mpsc::Receiver<()>, was_killed: bool) {
    let mut reap = RepeatTimer::every(REAP_SECONDS);
    let mut check = RepeatTimer::every(CHECK_SECONDS);
    let mut sweep = RepeatTimer::every(SWEEP_SECONDS);
    let mut is_first_check = true;
    let mut vacuumed = false;
    let round = Duration::from_secs(UPKEEP_SECONDS);
    while stop.recv_timeout(round) == Err(RecvTimeoutError::Timeout) {
        let now = Instant::now();
        worker.scheduler.notify();
        worker.engines.close_idle(now);
        backfill_idle_sessions(worker);
        run_frequent_tasks(worker, &|| stop.try_recv() == Err(TryRecvError::Disconnected));
        if reap.fire_if_due(now) {
            warn_on_error(worker, "failed to reap orphaned child processes", reap_children(worker));
        }
        if sweep.fire_if_due(now) {
            run_retention(worker);
        }
        // The first check comes soon, because the file may have changed meanwhile; unless the previous
        // worker was killed it waits until nothing is to be done.
        if (was_killed || !is_first_check || is_idle(worker)) && check.fire_if_due(now) {
            is_first_check = false;
            warn_on_error(worker, "database integrity check failed", check_store(worker));
        }
        let idle = worker.idle.idle_for(now) >= Duration::from_secs(VACUUM_IDLE_SECONDS);
        if idle && !vacuumed {
            vacuumed = true;
            warn_on_error(worker, "failed to vacuum the database", vacuum(worker));
        }
    }
}

/// Whether no event waits. In doubt it does.
fn is_idle(worker: &WorkerContext) -> bool {
    worker.scheduler.has_work().is_ok_and(|has_work| !has_work)
}

/// Drains the queue and runs all maintenance, for a worker with `until_drained`. False if the
/// shutdown came first.
pub(crate) fn drain_and_maintain(worker: &WorkerContext) -> Result<bool, StoreError> {
    loop {
        backfill_idle_sessions(worker);
        if !worker.drain_all(|| false)? {
            return Ok(false);
        }
        run_frequent_tasks(worker, &|| false);
        run_retention(worker);
        // Hooks may have queued more events meanwhile.
        if !worker.scheduler.has_work()? {
            return Ok(true);
        }
    }
}

/// Tasks that every worker runs, even one that only drains the queue.
fn run_frequent_tasks(worker: &WorkerContext, is_stopping: &dyn Fn() -> bool) {
    let now = clock::now().millis();
    warn_on_error(worker, "failed to delete expired rows", delete_expired_rows(worker, now));
    let yesterday = now.plus_seconds(-DAY_SECONDS).micros();
    let swept = spool::remove_unfinished(worker.store.dir(), yesterday).map(drop);
    warn_on_error(worker, "failed to clean the spool", swept);
    warn_on_error(worker, "failed to merge the full-text index", merge_index(worker, is_stopping));
    warn_on_error(worker, "failed to checkpoint the write-ahead log", checkpoint_wal(worker));
    warn_on_error(worker, "backup failed", back_up(worker, now));
    let swept = retention::delete_expired_link_pages(worker.store.dir(), now);
    warn_on_error(worker, "failed to delete expired link pages", swept);
    let keep = LogRetention::from(&worker.settings.current());
    let swept = log::sweep(&worker.store.dir().logs(), now, keep);
    warn_on_error(worker, "failed to delete old logs", swept);
}

/// Daily retention: deletes data that is months old and leftover files.
fn run_retention(worker: &WorkerContext) {
    let (store, now) = (&worker.store, clock::now().millis());
    let swept = retention::delete_old_rows(store, now);
    warn_on_error(worker, "failed to delete old rows", swept);
    let swept = retention::delete_old_privacy_marks(store, now);
    warn_on_error(worker, "failed to delete old privacy marks", swept);
    let swept = retention::delete_leftover_files(store.dir(), now);
    warn_on_error(worker, "failed to delete leftover files", swept);
}

/// Logs a failed task.
fn warn_on_error<E: std::fmt::Display>(worker: &WorkerContext, what: &'static str, done: Result<(), E>) {
    if let Err(error) = done {
        worker.warn(what, &error);
    }
}

/// Backfills idle sessions: a killed client sends no end of session, but its transcript is there.
fn backfill_idle_sessions(worker: &WorkerContext) {
    let now = clock::now().millis();
    worker.backfill_idle_sessions(now.plus_seconds(-SESSION_SILENT_SECONDS_MAX));
}

/// Deletes settled events, forgotten memories, earlier versions, expired prompts and expired memories, in small
/// transactions.
fn delete_expired_rows(worker: &WorkerContext, now: Millis) -> Result<(), StoreError> {
    let ago = |seconds: i64| now.plus_seconds(-seconds);
    let store = &worker.store;
    let done = ago(DONE_SECONDS_MAX);
    retention::delete_in_batches(store, |tx, max| tx.delete_done_before(done, max))?;
    let forgotten = ago(FORGOTTEN_DAYS_MAX * DAY_SECONDS);
    let mut gone = retention::delete_in_batches(store, |tx, max| tx.purge_forgotten(forgotten, max))?;
    gone += retention::delete_in_batches(store, |tx, max| tx.purge_versions(forgotten, max))?;
    let days = i64::from(worker.settings.current().prompts_days_max);
    if days > 0 {
        let before = ago(days * DAY_SECONDS);
        gone += retention::delete_in_batches(store, |tx, max| tx.delete_prompts_before(before, max))?;
        gone += retention::delete_in_batches(store, |tx, max| tx.clear_session_text_before(before, max))?;
    }
    let days = i64::from(worker.settings.current().memories_days_max);
    if days > 0 {
        let before = ago(days * DAY_SECONDS);
        gone += retention::delete_in_batches(store, |tx, max| tx.forget_unused_before(before, max, now))?;
    }
    if gone > 0 {
        store.with(|store| {
            store.write(|tx| {
                tx.note_deleted_text()?;
                Ok(())
            })
        })?;
    }
    // The write-ahead log keeps old pages until a checkpoint. If a reader blocks it, the next round
    // tries again.
    store.with(Store::clear_deleted_from_log)
}

/// Merges the segments of the full-text index, step by step, while the queue is empty.
fn merge_index(worker: &WorkerContext, is_stopping: &dyn Fn() -> bool) -> Result<(), StoreError> {
    let store = &worker.store;
    if !store.with(|store| store.read().needs_index_merge())? {
        return Ok(());
    }
    while !is_stopping() && !worker.scheduler.has_work()? && store.with(Store::merge_index_step)? {
        // Other threads get the store between two steps.
        std::thread::sleep(MERGE_PAUSE);
    }
    Ok(())
}

/// Checkpoints a large write-ahead log, since hooks never do.
fn checkpoint_wal(worker: &WorkerContext) -> Result<(), StoreError> {
    match std::fs::metadata(with_suffix(&worker.store.dir().db(), "-wal")) {
        Ok(meta) if meta.len() > WAL_LEFT_BYTES_MAX => {
            worker.store.with(|store| store.checkpoint()).map(drop)
        }
        _ => Ok(()),
    }
}

/// Creates a backup if the last one is old enough and the database has changed. A database that cannot be backed up
/// because it is damaged is mended. A failure is stored, so that `status` shows it.
fn back_up(worker: &WorkerContext, now: Millis) -> Result<(), StoreError> {
    let made = match back_up_if_due(worker, now) {
        Err(StoreError::Corrupt) => mend_store(worker).and_then(|()| back_up_if_due(worker, now)),
        made => made,
    };
    worker.store.with(|store| store.record_backup_outcome(made.as_ref().err(), now))?;
    made
}

fn back_up_if_due(worker: &WorkerContext, now: Millis) -> Result<(), StoreError> {
    let (dir, settings) = (worker.store.dir(), worker.settings.current());
    if settings.backups_keep == 0 {
        return Ok(());
    }
    let newest = backups::list(&dir.backups())?.pop();
    let recent = newest.is_some_and(|backup| now - backup.at < BACKUP_SECONDS * 1_000);
    if recent || !backups::is_due(&dir.db(), &dir.backups())? {
        return Ok(());
    }
    let made = backups::create(&dir.db(), &dir.backups(), now)?;
    worker.log_line(LogLevel::Info, "backup made", &[("bytes", &made.bytes)]);
    let keep = settings.backups_keep as usize;
    backups::prune(&dir.backups(), keep, settings.backups_bytes_max)?;
    Ok(())
}

/// Ends child processes whose worker is gone.
fn reap_children(worker: &WorkerContext) -> std::io::Result<()> {
    let reaped = ChildRegistry::open(&worker.store.dir().children())?.reap()?;
    if !reaped.is_empty() {
        worker.log_line(LogLevel::Warn, "orphaned child processes ended", &[("children", &reaped.len())]);
    }
    Ok(())
}

/// Runs SQLite's quick check on a separate connection. A damaged store is mended.
pub(super) fn check_store(worker: &WorkerContext) -> Result<(), StoreError> {
    let opened = Store::open_read_only(&worker.store.dir().db());
    match opened.and_then(|store| store.quick_check()) {
        Err(StoreError::Corrupt) => mend_store(worker),
        found => found,
    }
}

/// Rebuilds damaged indexes; a store of which more is damaged is recovered.
fn mend_store(worker: &WorkerContext) -> Result<(), StoreError> {
    match worker.store.with(Store::rebuild_damaged_indexes) {
        Ok(was_damaged) => {
            if was_damaged {
                worker.log_line(LogLevel::Warn, "damaged indexes rebuilt", &[]);
            }
            Ok(())
        }
        // `with` has recovered the store, and logged what was lost.
        Err(StoreError::Corrupt) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Vacuums the database if enough of it is unused. Runs only while the worker is idle.
fn vacuum(worker: &WorkerContext) -> Result<(), StoreError> {
    worker.store.with(|store| {
        if store.needs_vacuum()? {
            store.vacuum()?;
        }
        Ok(())
    })
}

#[cfg(test)]
#[path = "team_outage_tests.rs"]
mod team_outage_tests;
#[cfg(test)]
#[path = "maintenance_tests.rs"]
mod tests;
