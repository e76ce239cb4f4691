use std::fs;

use super::*;
use claude_mem_core::event::EventBody;
use claude_mem_core::event_key;
use claude_mem_core::source::TextSource;

fn prompt(at: i64) -> Event {
    Event {
        prompt_id: Some(format!("p{at}")),
        ..Event::new(
            "claude-code",
            ClientSessionId("s".into()),
            Micros(at),
            EventBody::Prompt { text: "hello".into(), private: false, source: TextSource::Prompt },
        )
    }
}

fn sandbox() -> (tempfile::TempDir, DataDir) {
    let temp = tempfile::tempdir().unwrap();
    let dir = DataDir::new(temp.path().join("data"));
    (temp, dir)
}

fn deliver(dir: &DataDir, at: i64) {
    let own = prompt(at);
    enqueue_event(&mut HookDatabase::new(dir), event_key::event_key(&own, None), &own).unwrap();
}

fn spooled(dir: &DataDir) -> usize {
    fs::read_dir(dir.spool()).map_or(0, Iterator::count)
}

fn waiting(dir: &DataDir) -> u64 {
    let store = Store::open(&dir.db()).unwrap();
    store.read().counts().unwrap().queue.waiting
}

#[test]
fn event_is_spooled_without_database() {
    let (_temp, dir) = sandbox();
    deliver(&dir, 1);
    assert_eq!(spooled(&dir), 1);
    assert!(!dir.db().exists());
    drain_spool_briefly(&mut HookDatabase::new(&dir), Millis(1)).unwrap();
    assert_eq!((spooled(&dir), waiting(&dir)), (0, 1));
}

#[test]
fn repeated_event_is_queued_once() {
    let (_temp, dir) = sandbox();
    for _ in 0..3 {
        deliver(&dir, 1);
        drain_spool_briefly(&mut HookDatabase::new(&dir), Millis(1)).unwrap();
    }
    assert_eq!((spooled(&dir), waiting(&dir)), (0, 1));
}

#[test]
fn entries_wait_for_a_sound_database() {
    let (_temp, dir) = sandbox();
    deliver(&dir, 1);
    fs::write(dir.db(), "this is not a database").unwrap();
    assert!(matches!(drain_spool_briefly(&mut HookDatabase::new(&dir), Millis(1)), Err(StoreError::Corrupt)));
    deliver(&dir, 2);
    assert_eq!(spooled(&dir), 2);
    assert_eq!(fs::read(dir.db()).unwrap(), b"this is not a database");

    fs::remove_file(dir.db()).unwrap();
    drain_spool_briefly(&mut HookDatabase::new(&dir), Millis(1)).unwrap();
    assert_eq!((spooled(&dir), waiting(&dir)), (0, 2));
}

#[test]
fn full_spool_is_drained_in_batches() {
    let (_temp, dir) = sandbox();
    let many = 2 * SPOOL_BATCH_MAX + 3;
    for at in 0..many {
        deliver(&dir, at as i64);
    }
    let mut store = Store::open(&dir.db()).unwrap();
    assert_eq!(drain_spool(&dir, &mut store, Millis(1)).unwrap(), many);
    assert_eq!(drain_spool(&dir, &mut store, Millis(1)).unwrap(), 0);
    assert_eq!((spooled(&dir), waiting(&dir)), (0, many as u64));
}

/// A target that rejects one session permanently.
struct RejectingTarget(Vec<i64>, i32);

fn sqlite(code: i32) -> StoreError {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None).into()
}

impl SpoolTarget for RejectingTarget {
    fn enqueue(&mut self, entries: &[&SpoolEntry<'_>], _now: Millis) -> Result<(), StoreError> {
        let at = |entry: &&SpoolEntry<'_>| match entry {
            SpoolEntry::Event(_, event) => event.at.0,
            SpoolEntry::Ignore(..) => 0,
        };
        if entries.iter().any(|entry| at(entry) == 2) {
            return Err(sqlite(self.1));
        }
        self.0.extend(entries.iter().map(at));
        Ok(())
    }
}

#[test]
fn rejected_entry_does_not_block_others() {
    let (_temp, dir) = sandbox();
    for at in 1..=3 {
        deliver(&dir, at);
    }
    let mut queue = RejectingTarget(Vec::new(), rusqlite::ffi::SQLITE_CONSTRAINT);
    drain_spool(&dir, &mut queue, Millis(1)).unwrap();
    assert_eq!(queue.0, [1, 3]);
    let left: Vec<_> = fs::read_dir(dir.spool()).unwrap().collect();
    assert_eq!(left.len(), 1);
    let left = left[0].as_ref().unwrap().path();
    assert_eq!(left.extension().unwrap(), "bad");
}

#[test]
fn transient_error_sets_nothing_aside() {
    for code in [
        rusqlite::ffi::SQLITE_NOMEM,
        rusqlite::ffi::SQLITE_ERROR,
        rusqlite::ffi::SQLITE_INTERRUPT,
        rusqlite::ffi::SQLITE_IOERR,
    ] {
        let (_temp, dir) = sandbox();
        for at in 1..=3 {
            deliver(&dir, at);
        }
        let mut queue = RejectingTarget(Vec::new(), code);
        assert!(drain_spool(&dir, &mut queue, Millis(1)).is_err(), "{code}");
        drain_spool_briefly(&mut HookDatabase::new(&dir), Millis(1)).unwrap();
        assert_eq!((spooled(&dir), waiting(&dir)), (0, 3), "{code}");
    }
}

#[test]
fn ignored_session_goes_through_the_spool() {
    let (_temp, dir) = sandbox();
    let session = ClientSessionId("s".into());
    ignore_session(&mut HookDatabase::new(&dir), "claude-code", &session, Micros(1)).unwrap();
    drain_spool_briefly(&mut HookDatabase::new(&dir), Millis(1)).unwrap();
    let store = Store::open(&dir.db()).unwrap();
    let found = store.read().session_of_client("claude-code", &session);
    assert!(found.unwrap().is_some());
}

#[test]
fn unwritable_disk_reports_lost_event() {
    let (temp, _) = sandbox();
    fs::write(temp.path().join("file"), "").unwrap();
    let dir = DataDir::new(temp.path().join("file"));
    let own = prompt(1);
    assert!(enqueue_event(&mut HookDatabase::new(&dir), event_key::event_key(&own, None), &own).is_err());
}
