//! Vectors, made by the worker: what was stored is searchable by words at once, by meaning once
//! its vectors are there.
//!
//! One thread of low priority that sleeps until rows are stored. Invariant: one at a time makes
//! vectors, on connections of its own: encoding takes seconds, and nobody else is to wait for it.

use std::sync::{Arc, Condvar, Mutex, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::shared::SharedStore;
use super::worker::Worker;
use crate::limits::UPKEEP_SECONDS;
use crate::log::{Level, Log};
use crate::search::index;
use crate::store::{Store, StoreError, VectorStore};

/// How far the thread steps back behind everything else.
const NICE: i32 = 10;

/// Wakes the thread, and keeps two from doing the same.
#[derive(Debug, Default)]
pub struct Bell {
    state: Mutex<State>,
    changed: Condvar,
    working: Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    rung: bool,
    stopping: bool,
}

impl Bell {
    /// Something was stored.
    pub fn ring(&self) {
        self.set(|state| state.rung = true);
    }

    fn set(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }

    fn is_stopping(&self) -> bool {
        let state = self.state.lock();
        state.unwrap_or_else(PoisonError::into_inner).stopping
    }

    /// Sleeps until something was stored; forgotten rows are found by looking now and then.
    fn wait(&self) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let pause = Duration::from_secs(UPKEEP_SECONDS);
        let (mut state, _) = self
            .changed
            .wait_timeout_while(state, pause, |state| !state.rung && !state.stopping)
            .unwrap_or_else(PoisonError::into_inner);
        state.rung = false;
    }
}

/// The thread.
#[derive(Debug)]
pub struct Indexer {
    bell: Arc<Bell>,
    thread: JoinHandle<()>,
}

impl Indexer {
    pub fn start(worker: Arc<Worker>) -> std::io::Result<Self> {
        let bell = Arc::clone(&worker.index);
        let thread = std::thread::Builder::new()
            .name("index".into())
            .spawn(move || rounds(&worker))?;
        Ok(Self { bell, thread })
    }

    /// Waits no longer than this for the rows it is at; it ends with the process.
    pub fn stop(self, within: Duration) {
        self.bell.set(|state| state.stopping = true);
        let until = Instant::now() + within;
        while !self.thread.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

fn rounds(worker: &Worker) {
    if let Err(error) = rustix::process::nice(NICE) {
        worker.trouble("vectors are made at full priority", &error);
    }
    let bell = &worker.index;
    let mut reconciled = false;
    while !bell.is_stopping() {
        let done = round(worker, &mut reconciled);
        if let Err(error) = done {
            worker.trouble("vectors could not be made", &error);
        }
        bell.wait();
    }
}

fn round(worker: &Worker, reconciled: &mut bool) -> Result<(), StoreError> {
    let bell = &worker.index;
    if !worker.settings.vectors {
        return sweep(worker);
    }
    let waiting = worker
        .store
        .with(|store| store.read().owed_vectors_count())?;
    if waiting == 0 && *reconciled {
        return Ok(());
    }
    let caught_up = catch_up(&worker.store, bell, &|| bell.is_stopping())?;
    if caught_up && !*reconciled {
        // Once per start: what a power cut or a restored backup left apart.
        let (mut store, vectors) = open(&worker.store)?;
        let owed = index::reconcile(&mut store, &vectors)?;
        *reconciled = true;
        if owed > 0 {
            bell.ring();
        }
    }
    Ok(())
}

/// Switched off, no vectors are made; those of forgotten rows go all the same.
fn sweep(worker: &Worker) -> Result<(), StoreError> {
    if !worker.store.dir().vectors_db().exists() {
        return Ok(());
    }
    let (mut store, mut vectors) = open(&worker.store)?;
    index::sweep(&mut store, &mut vectors).map(drop)
}

fn open(store: &SharedStore) -> Result<(Store, VectorStore), StoreError> {
    let vectors = VectorStore::open(&store.dir().vectors_db(), embed::Model::built_in().id())?;
    if let Some(why) = vectors.replaced() {
        let (now, what) = (crate::clock::now().millis(), "all vectors are made anew");
        Log::of_worker(store.dir()).line(now, Level::Warn, what, &[("why", &why)]);
    }
    Ok((Store::open(&store.dir().db())?, vectors))
}

/// Works until everything that is stored has its vectors. False if nobody waited for it any more.
pub fn catch_up(
    store: &SharedStore,
    bell: &Bell,
    is_over: &dyn Fn() -> bool,
) -> Result<bool, StoreError> {
    let _alone = loop {
        match bell.working.try_lock() {
            Ok(alone) => break alone,
            Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
            Err(TryLockError::WouldBlock) if is_over() => return Ok(false),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    let (mut own, mut vectors) = open(store)?;
    let model = embed::Model::built_in();
    let done = index::catch_up(&mut own, &mut vectors, model, |_| is_over())?;
    if done.embedded > 0 {
        vectors.checkpoint()?;
    }
    Ok(done.left == 0)
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
