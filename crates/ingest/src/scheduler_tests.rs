use std::sync::mpsc;

use super::*;
use crate::compressor::{CompressionOutcome, Compressor};
use crate::heuristic_compressor::HeuristicCompressor;
use crate::job::EpisodeJob;
use crate::pipeline_observer::PipelineObserver;
use crate::shared_store::SharedStore;
use claude_mem_core::event::Event;
use claude_mem_core::limits::{CRASHES_DISTIL_MAX, CRASHES_MODEL_MAX};
use claude_mem_store::testing::{WorkerScratch, accept, edit, event, prompt, scratch, stop};

#[derive(Debug)]
struct SilentObserver;
impl PipelineObserver for SilentObserver {}

fn shared(scratch: &WorkerScratch) -> Arc<SharedStore> {
    Arc::new(SharedStore::open(&scratch.dir, clock::now().millis()).unwrap())
}

fn queue(store: &SharedStore, events: &[Event]) {
    store
        .with(|store| {
            accept(store, events);
            Ok(())
        })
        .unwrap();
}

fn turns(session: &str, count: i64) -> Vec<Event> {
    let mut events = Vec::new();
    for turn in 0..count {
        let at = turn * 10;
        events.push(event(session, at, prompt(&format!("{session} asks {turn}"))));
        events.push(event(session, at + 1, edit("/src/shop/a.rs", &format!("{session}{turn}"))));
        events.push(event(session, at + 2, stop(&format!("{session} says {turn}"))));
    }
    events
}

fn start(
    store: &Arc<SharedStore>,
    compressor: Arc<dyn Compressor>,
    observer: Arc<dyn PipelineObserver>,
    threads: usize,
) -> Scheduler {
    let pipeline = EpisodePipeline { store: Arc::clone(store), backfill: None, compressor, observer };
    Scheduler::start(pipeline, threads).unwrap()
}

fn drain(store: &Arc<SharedStore>, compressor: Arc<dyn Compressor>) -> Scheduler {
    start(store, compressor, Arc::new(SilentObserver), 2)
}

#[test]
fn queued_events_are_settled_in_order_and_once() {
    let scratch = scratch();
    let store = shared(&scratch);
    for session in ["a", "b", "c"] {
        queue(&store, &turns(session, 5));
    }
    let drain = drain(&store, Arc::new(HeuristicCompressor::default()));
    assert!(drain.flush(|| false).unwrap());
    drain.stop(Duration::from_secs(5));
    let counts = store.with(|store| store.read().counts()).unwrap();
    assert_eq!((counts.prompts, counts.final_messages), (15, 15));
    assert_eq!(counts.queue.waiting + counts.queue.leased + counts.queue.dead, 0);
    let session = claude_mem_core::ids::ClientSessionId("b".into());
    let said: Vec<String> = store
        .with(|store| {
            let reads = store.read();
            let session = reads.session_of_client("claude-code", &session)?.unwrap().id;
            let filter = claude_mem_store::RowFilter { session: Some(session), ..Default::default() };
            let mut prompts = reads.prompts(&filter, claude_mem_store::PageRequest::first(10))?.items;
            prompts.sort_by_key(|prompt| prompt.number);
            Ok(prompts.into_iter().map(|prompt| prompt.text).collect())
        })
        .unwrap();
    let want: Vec<String> = (0..5).map(|turn| format!("b asks {turn}")).collect();
    assert_eq!(said, want);
}

#[derive(Debug)]
struct PanickingCompressor;

impl Compressor for PanickingCompressor {
    fn compress(&self, _work: &EpisodeJob) -> CompressionOutcome {
        panic!("over this one")
    }
}

/// Forwards warnings to a channel.
#[derive(Debug)]
struct RecordingObserver(mpsc::SyncSender<String>);

impl PipelineObserver for RecordingObserver {
    fn warn(&self, what: &'static str, error: &dyn std::fmt::Display) {
        let _ = self.0.send(format!("{what}: {error}"));
    }
}

#[test]
fn panicking_compressor_counts_a_failed_attempt() {
    let scratch = scratch();
    let store = shared(&scratch);
    queue(&store, &turns("a", 1));
    let (says, hears) = mpsc::sync_channel(8);
    let watcher = Arc::new(RecordingObserver(says));
    let drain = start(&store, Arc::new(PanickingCompressor), watcher, 2);
    assert_eq!(hears.recv().unwrap(), "episode failed: the compressor panicked");
    drain.stop(Duration::from_secs(5));
    let pending =
        store.with(|store| store.read().pending(None, claude_mem_store::PageRequest::first(10))).unwrap();
    assert_eq!(pending.items.len(), 3);
    for event in pending.items {
        assert_eq!((event.state.as_str(), event.attempts), ("waiting", 1));
        assert_eq!(event.error.as_deref(), Some("the compressor panicked"));
    }
}

/// Signals that it has started, then blocks until it is stopped.
#[derive(Debug)]
struct SlowCompressor {
    began: mpsc::SyncSender<()>,
    stopped: (Mutex<bool>, Condvar),
}

impl Compressor for SlowCompressor {
    fn compress(&self, _work: &EpisodeJob) -> CompressionOutcome {
        let _ = self.began.send(());
        let stopped = self.stopped.0.lock().unwrap();
        drop(self.stopped.1.wait_while(stopped, |stopped| !*stopped).unwrap());
        CompressionOutcome::Released
    }

    fn stop(&self) {
        *self.stopped.0.lock().unwrap() = true;
        self.stopped.1.notify_all();
    }
}

#[test]
fn sessions_run_in_parallel_and_are_released_on_stop() {
    let scratch = scratch();
    let store = shared(&scratch);
    queue(&store, &turns("a", 1));
    queue(&store, &turns("b", 1));
    let (began, begins) = mpsc::sync_channel(8);
    let slow = Arc::new(SlowCompressor { began, stopped: (Mutex::new(false), Condvar::new()) });
    let drain = drain(&store, slow);
    drain.notify();
    // Both threads are in the middle of an episode: no session blocks the other.
    begins.recv().unwrap();
    begins.recv().unwrap();
    drain.stop(Duration::from_secs(5));
    let counts = store.with(|store| store.read().queue_counts()).unwrap();
    assert_eq!((counts.waiting, counts.leased), (6, 0));
}

/// Processes a turn that has crashed this many workers. Returns the counts and who made the summary.
fn after_crashes(crashes: u32, compressor: Arc<dyn Compressor>) -> (claude_mem_store::StoreCounts, String) {
    let scratch = scratch();
    let store = shared(&scratch);
    queue(&store, &turns("a", 1));
    let session = claude_mem_core::ids::ClientSessionId("a".into());
    for crash in 0..crashes {
        let lease = LeaseId(i64::from(crash) + 1);
        let died = store.with(|store| {
            store.write(|tx| {
                // Leased just now: the lease of a dead worker is reclaimed before it expires.
                tx.lease_session("claude-code", &session, 9, lease, clock::now().millis())?;
                tx.reclaim_leases()
            })
        });
        assert_eq!(died.unwrap(), 3);
    }
    let drain = drain(&store, compressor);
    assert!(drain.flush(|| false).unwrap());
    drain.stop(Duration::from_secs(5));
    let counts = store.with(|store| store.read().counts()).unwrap();
    let made = store.with(|store| {
        let all = claude_mem_store::RowFilter::default();
        store.read().summaries(&all, claude_mem_store::PageRequest::first(9))
    });
    let by = made.unwrap().items.into_iter().map(|row| row.made_by);
    (counts, by.collect())
}

#[derive(Debug)]
struct NamedCompressor;

impl Compressor for NamedCompressor {
    fn compress(&self, work: &EpisodeJob) -> CompressionOutcome {
        let CompressionOutcome::Compressed(mut made) = HeuristicCompressor::default().compress(work) else {
            panic!("the heuristic compressor always succeeds")
        };
        made.made_by = "a model".into();
        CompressionOutcome::Compressed(made)
    }
}

#[test]
fn crashing_episode_is_degraded_step_by_step() {
    for (crashes, by, summaries) in [
        (CRASHES_MODEL_MAX - 1, "a model", 1),
        (CRASHES_MODEL_MAX, "local", 1),
        (CRASHES_DISTIL_MAX - 1, "local", 1),
        (CRASHES_DISTIL_MAX, "", 0),
    ] {
        let (counts, made_by) = after_crashes(crashes, Arc::new(NamedCompressor));
        assert_eq!((counts.summaries, &*made_by), (summaries, by), "{crashes}");
        // Prompt and final message are stored in any case.
        assert_eq!((counts.prompts, counts.final_messages), (1, 1), "{crashes}");
        assert_eq!((counts.queue.done, counts.queue.dead), (3, 0), "{crashes}");
    }
    let (counts, _) = after_crashes(claude_mem_core::limits::CRASHES_MAX, Arc::new(NamedCompressor));
    assert_eq!((counts.queue.done, counts.queue.dead), (0, 3), "in the end its events are dead letters");
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the store would not do this")]
fn episode_that_cannot_be_leased_counts_a_failure() {
    let scratch = scratch();
    let store = shared(&scratch);
    queue(&store, &turns("a", 1));
    let refuse = "CREATE TRIGGER no BEFORE INSERT ON sdk_sessions
        BEGIN SELECT RAISE(ABORT, 'not this one'); END";
    let conn = rusqlite::Connection::open(scratch.dir.db()).unwrap();
    conn.execute_batch(refuse).unwrap();
    let (says, hears) = mpsc::sync_channel(8);
    let watcher = Arc::new(RecordingObserver(says));
    let drain = start(&store, Arc::new(HeuristicCompressor::default()), watcher, 1);
    let told = hears.recv().unwrap();
    assert!(told.starts_with("failed to lease an episode: "), "{told}");
    assert!(hears.recv().unwrap().starts_with("episode failed: "));
    drain.stop(Duration::from_secs(5));
    let pending =
        store.with(|store| store.read().pending(None, claude_mem_store::PageRequest::first(10))).unwrap();
    for event in pending.items {
        assert_eq!((event.state.as_str(), event.attempts), ("waiting", 1));
        assert!(event.error.unwrap().contains("not this one"));
    }
}

#[test]
fn unreadable_spool_is_not_drained() {
    let scratch = scratch();
    let store = shared(&scratch);
    queue(&store, &turns("a", 1));
    let spool = scratch.dir.spool();
    let _ = std::fs::remove_dir_all(&spool);
    std::fs::write(&spool, "").unwrap();
    let drain = drain(&store, Arc::new(HeuristicCompressor::default()));
    assert!(matches!(drain.flush(|| false), Err(StoreError::Io(..))));
    drain.stop(Duration::from_secs(5));
    let counts = store.with(|store| store.read().counts()).unwrap();
    assert_eq!(counts.prompts, 1, "the queue itself is processed");
}

/// Takes the store when a scheduler thread is about to read the queue, and holds it until told.
#[derive(Debug)]
struct StoreHolder {
    store: Arc<SharedStore>,
    held: mpsc::SyncSender<()>,
    free: Arc<(Mutex<bool>, Condvar)>,
}

impl PipelineObserver for StoreHolder {
    fn warn(&self, _what: &'static str, _error: &dyn std::fmt::Display) {
        let (store, free) = (Arc::clone(&self.store), Arc::clone(&self.free));
        let (began, begins) = mpsc::sync_channel(0);
        let hold = move |_: &mut claude_mem_store::Store| {
            began.send(()).unwrap();
            drop(free.1.wait_while(free.0.lock().unwrap(), |free| !*free).unwrap());
            Ok(())
        };
        std::thread::spawn(move || store.with(hold));
        begins.recv().unwrap();
        let _ = self.held.try_send(());
    }
}

#[test]
fn notify_returns_while_the_store_is_held() {
    let scratch = scratch();
    let store = shared(&scratch);
    // An unreadable spool makes the thread warn between draining it and reading the queue.
    let spool = scratch.dir.spool();
    let _ = std::fs::remove_dir_all(&spool);
    std::fs::write(&spool, "").unwrap();
    let free = Arc::new((Mutex::new(false), Condvar::new()));
    let (held, holds) = mpsc::sync_channel(8);
    let holder = Arc::new(StoreHolder { store: Arc::clone(&store), held, free: Arc::clone(&free) });
    let compressor = Arc::new(HeuristicCompressor::default());
    let scheduler = Arc::new(start(&store, compressor, holder, 1));
    holds.recv().unwrap();
    let (done, returned) = mpsc::sync_channel(1);
    let notifier = Arc::clone(&scheduler);
    // So often that the scheduler's thread comes to wait for the store meanwhile.
    std::thread::spawn(move || {
        for _ in 0..10_000 {
            notifier.notify();
            std::thread::yield_now();
        }
        done.send(())
    });
    let returned = returned.recv_timeout(Duration::from_secs(10));
    *free.0.lock().unwrap() = true;
    free.1.notify_all();
    scheduler.stop(Duration::from_secs(5));
    assert!(returned.is_ok(), "notify waits for the store");
}
