use std::sync::mpsc;

use super::*;
use crate::hook::event::Event;
use crate::serve::local::Local;
use crate::serve::testing::{Scratch, accept, edit, event, prompt, scratch, stop};

#[derive(Debug)]
struct Quiet;
impl Watcher for Quiet {}

fn shared(scratch: &Scratch) -> Arc<SharedStore> {
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
        events.push(event(
            session,
            at,
            prompt(&format!("{session} asks {turn}")),
        ));
        events.push(event(
            session,
            at + 1,
            edit("/src/shop/a.rs", &format!("{session}{turn}")),
        ));
        events.push(event(
            session,
            at + 2,
            stop(&format!("{session} says {turn}")),
        ));
    }
    events
}

fn drain(store: &Arc<SharedStore>, compressor: Arc<dyn Compressor>) -> Drain {
    Drain::start(Arc::clone(store), compressor, Arc::new(Quiet), 2).unwrap()
}

#[test]
fn what_is_queued_is_settled_in_order_and_once() {
    let scratch = scratch();
    let store = shared(&scratch);
    for session in ["a", "b", "c"] {
        queue(&store, &turns(session, 5));
    }
    let drain = drain(&store, Arc::new(Local::default()));
    assert!(drain.flush(|| false).unwrap());
    drain.stop(Duration::from_secs(5));
    let counts = store.with(|store| store.read().counts()).unwrap();
    assert_eq!((counts.prompts, counts.final_messages), (15, 15));
    assert_eq!(
        counts.queue.waiting + counts.queue.leased + counts.queue.dead,
        0
    );
    let session = crate::ids::ClientSessionId("b".into());
    let said: Vec<String> = store
        .with(|store| {
            let reads = store.read();
            let session = reads
                .session_of_client("claude-code", &session)?
                .unwrap()
                .id;
            let filter = crate::store::Filter {
                session: Some(session),
                ..Default::default()
            };
            let mut prompts = reads.prompts(&filter, crate::store::Page::first(10))?.items;
            prompts.sort_by_key(|prompt| prompt.number);
            Ok(prompts.into_iter().map(|prompt| prompt.text).collect())
        })
        .unwrap();
    let want: Vec<String> = (0..5).map(|turn| format!("b asks {turn}")).collect();
    assert_eq!(said, want);
}

#[derive(Debug)]
struct Panicking;

impl Compressor for Panicking {
    fn make(&self, _work: &Work) -> Verdict {
        panic!("over this one")
    }
}

/// Passes on what went wrong.
#[derive(Debug)]
struct Listening(mpsc::SyncSender<String>);

impl Watcher for Listening {
    fn trouble(&self, what: &'static str, error: &dyn std::fmt::Display) {
        let _ = self.0.send(format!("{what}: {error}"));
    }
}

#[test]
fn a_compressor_that_panics_over_an_episode_costs_that_episode_a_try() {
    let scratch = scratch();
    let store = shared(&scratch);
    queue(&store, &turns("a", 1));
    let (says, hears) = mpsc::sync_channel(8);
    let watcher = Arc::new(Listening(says));
    let drain = Drain::start(Arc::clone(&store), Arc::new(Panicking), watcher, 2).unwrap();
    assert_eq!(
        hears.recv().unwrap(),
        "an episode failed: the compressor panicked"
    );
    drain.stop(Duration::from_secs(5));
    let pending = store
        .with(|store| store.read().pending(None, crate::store::Page::first(10)))
        .unwrap();
    assert_eq!(pending.items.len(), 3);
    for event in pending.items {
        assert_eq!((event.state.as_str(), event.attempts), ("waiting", 1));
        assert_eq!(event.error.as_deref(), Some("the compressor panicked"));
    }
}

/// Says that it began, then waits for its end.
#[derive(Debug)]
struct Slow {
    began: mpsc::SyncSender<()>,
    stopped: (Mutex<bool>, Condvar),
}

impl Compressor for Slow {
    fn make(&self, _work: &Work) -> Verdict {
        let _ = self.began.send(());
        let stopped = self.stopped.0.lock().unwrap();
        drop(
            self.stopped
                .1
                .wait_while(stopped, |stopped| !*stopped)
                .unwrap(),
        );
        Verdict::GivenBack
    }

    fn stop(&self) {
        *self.stopped.0.lock().unwrap() = true;
        self.stopped.1.notify_all();
    }
}

#[test]
fn sessions_are_worked_on_side_by_side_and_given_back_when_the_worker_ends() {
    let scratch = scratch();
    let store = shared(&scratch);
    queue(&store, &turns("a", 1));
    queue(&store, &turns("b", 1));
    let (began, begins) = mpsc::sync_channel(8);
    let slow = Arc::new(Slow {
        began,
        stopped: (Mutex::new(false), Condvar::new()),
    });
    let drain = drain(&store, slow);
    drain.ring();
    // Both threads are in the middle of an episode: one session cannot hold the other up.
    begins.recv().unwrap();
    begins.recv().unwrap();
    drain.stop(Duration::from_secs(5));
    let counts = store.with(|store| store.read().queue_counts()).unwrap();
    assert_eq!((counts.waiting, counts.leased), (6, 0));
}

/// What became of one turn over which this many workers have died.
fn after_crashes(crashes: u32, compressor: Arc<dyn Compressor>) -> (crate::store::Counts, String) {
    let scratch = scratch();
    let store = shared(&scratch);
    queue(&store, &turns("a", 1));
    let session = crate::ids::ClientSessionId("a".into());
    for crash in 0..crashes {
        let lease = LeaseId(i64::from(crash) + 1);
        let died = store.with(|store| {
            store.write(|tx| {
                // Taken just now: nobody waits for a lease to run out whose worker is dead.
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
        let all = crate::store::Filter::default();
        store.read().summaries(&all, crate::store::Page::first(9))
    });
    let by = made.unwrap().items.into_iter().map(|row| row.made_by);
    (counts, by.collect())
}

#[derive(Debug)]
struct Named;

impl Compressor for Named {
    fn make(&self, work: &Work) -> Verdict {
        let Verdict::Made(mut made) = Local::default().make(work) else {
            panic!("the distiller always makes something")
        };
        made.by = "a model".into();
        Verdict::Made(made)
    }
}

#[test]
fn an_episode_that_kills_workers_is_handled_with_less_and_less_until_it_kills_none() {
    for (crashes, by, summaries) in [
        (CRASHES_MODEL_MAX - 1, "a model", 1),
        (CRASHES_MODEL_MAX, "local", 1),
        (CRASHES_DISTIL_MAX - 1, "local", 1),
        (CRASHES_DISTIL_MAX, "", 0),
    ] {
        let (counts, made_by) = after_crashes(crashes, Arc::new(Named));
        assert_eq!((counts.summaries, &*made_by), (summaries, by), "{crashes}");
        // Whatever is made of it, what was said is kept.
        assert_eq!((counts.prompts, counts.final_messages), (1, 1), "{crashes}");
        assert_eq!((counts.queue.done, counts.queue.dead), (3, 0), "{crashes}");
    }
    let (counts, _) = after_crashes(crate::limits::CRASHES_MAX, Arc::new(Named));
    assert_eq!(
        (counts.queue.done, counts.queue.dead),
        (0, 3),
        "in the end it is set aside"
    );
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the store would not do this")]
fn an_episode_that_cannot_be_taken_counts_a_failure_and_is_told() {
    let scratch = scratch();
    let store = shared(&scratch);
    queue(&store, &turns("a", 1));
    let refuse = "CREATE TRIGGER no BEFORE INSERT ON sdk_sessions
        BEGIN SELECT RAISE(ABORT, 'not this one'); END";
    let conn = rusqlite::Connection::open(scratch.dir.db()).unwrap();
    conn.execute_batch(refuse).unwrap();
    let (says, hears) = mpsc::sync_channel(8);
    let watcher = Arc::new(Listening(says));
    let drain = Drain::start(Arc::clone(&store), Arc::new(Local::default()), watcher, 1).unwrap();
    let told = hears.recv().unwrap();
    assert!(
        told.starts_with("an episode could not be taken: "),
        "{told}"
    );
    assert!(hears.recv().unwrap().starts_with("an episode failed: "));
    drain.stop(Duration::from_secs(5));
    let pending = store
        .with(|store| store.read().pending(None, crate::store::Page::first(10)))
        .unwrap();
    for event in pending.items {
        assert_eq!((event.state.as_str(), event.attempts), ("waiting", 1));
        assert!(event.error.unwrap().contains("not this one"));
    }
}

#[test]
fn a_spool_that_cannot_be_read_is_not_drained() {
    let scratch = scratch();
    let store = shared(&scratch);
    queue(&store, &turns("a", 1));
    let spool = scratch.dir.spool();
    let _ = std::fs::remove_dir_all(&spool);
    std::fs::write(&spool, "").unwrap();
    let drain = drain(&store, Arc::new(Local::default()));
    assert!(matches!(drain.flush(|| false), Err(StoreError::Io(..))));
    drain.stop(Duration::from_secs(5));
    let counts = store.with(|store| store.read().counts()).unwrap();
    assert_eq!(counts.prompts, 1, "the queue itself is worked on");
}
