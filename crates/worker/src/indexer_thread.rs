//! The indexer thread: computes the vectors of stored rows.
//!
//! A row is searchable by words as soon as it is stored, and by meaning once its vectors exist. The
//! [`IndexerThread`] runs at low priority and sleeps until [`IndexSignal`] reports stored rows.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::embedding_backfill::{catch_up, open_stores};
use crate::index_signal::IndexSignal;
use crate::worker::WorkerContext;
use claude_mem_core::platform;
use claude_mem_search::index;
use claude_mem_store::StoreError;

/// Niceness of the indexer thread.
const NICE: i32 = 10;

/// Handle to the indexer thread.
#[derive(Debug)]
pub(crate) struct IndexerThread {
    signal: Arc<IndexSignal>,
    /// Disconnected when the thread has ended.
    ended: mpsc::Receiver<()>,
}

impl IndexerThread {
    /// Starts the thread.
    pub(crate) fn start(worker: Arc<WorkerContext>) -> std::io::Result<Self> {
        let signal = Arc::clone(&worker.index_signal);
        let (until_end, ended) = mpsc::channel();
        std::thread::Builder::new().name("index".into()).spawn(move || {
            run_thread(&worker);
            drop(until_end);
        })?;
        Ok(Self { signal, ended })
    }

    /// Asks the thread to stop and waits at most `within`; after that it ends with the process.
    pub(crate) fn stop(self, within: Duration) {
        self.signal.stop();
        // Either the thread has ended or the time is over.
        let _ = self.ended.recv_timeout(within);
    }
}

fn run_thread(worker: &WorkerContext) {
    if let Err(error) = platform::lower_thread_priority(NICE) {
        worker.warn("failed to lower the indexer's priority", &error);
    }
    let signal = &worker.index_signal;
    let mut reconciled = false;
    while !signal.is_stopping() {
        let done = run_once(worker, &mut reconciled);
        if let Err(error) = done {
            worker.warn("failed to compute vectors", &error);
        }
        signal.wait();
    }
}

fn run_once(worker: &WorkerContext, reconciled: &mut bool) -> Result<(), StoreError> {
    let signal = &worker.index_signal;
    if !worker.settings.at_start.vectors {
        return delete_orphaned_vectors(worker);
    }
    let waiting = worker.store.with(|store| store.read().pending_embeddings_count())?;
    if waiting == 0 && *reconciled {
        return Ok(());
    }
    let caught_up = catch_up(&worker.store, signal, &|| signal.is_stopping())?;
    if caught_up && !*reconciled {
        // Once per start: a power cut or a restored backup may have left rows and vectors
        // inconsistent.
        let (mut store, vectors) = open_stores(&worker.store)?;
        let owed = index::reconcile(&mut store, &vectors)?;
        *reconciled = true;
        if owed > 0 {
            signal.notify();
        }
    }
    Ok(())
}

/// With vectors disabled: computes none, but still deletes those of forgotten rows.
fn delete_orphaned_vectors(worker: &WorkerContext) -> Result<(), StoreError> {
    if !worker.store.dir().vectors_db().exists() {
        return Ok(());
    }
    let (mut store, mut vectors) = open_stores(&worker.store)?;
    index::remove_orphan_vectors(&mut store, &mut vectors).map(drop)
}

#[cfg(test)]
#[path = "indexer_thread_tests.rs"]
mod tests;
