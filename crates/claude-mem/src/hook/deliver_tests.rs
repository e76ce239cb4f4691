use std::fs;

use super::*;
use crate::hook::event::Body;
use crate::hook::key;

fn prompt(at: i64) -> Event {
    Event {
        client: "claude-code".into(),
        session: ClientSessionId("s".into()),
        at: Micros(at),
        project: None,
        prompt_id: Some(format!("p{at}")),
        agent_id: None,
        agent_type: None,
        transcript_path: None,
        cut: false,
        body: Body::Prompt {
            text: "hello".into(),
            private: false,
        },
    }
}

fn sandbox() -> (tempfile::TempDir, DataDir) {
    let temp = tempfile::tempdir().unwrap();
    let dir = DataDir::new(temp.path().join("data"));
    (temp, dir)
}

fn deliver(dir: &DataDir, at: i64) {
    let own = prompt(at);
    event(dir, key::of(&own, None), &own).unwrap();
}

fn spooled(dir: &DataDir) -> usize {
    fs::read_dir(dir.spool()).map_or(0, Iterator::count)
}

fn waiting(dir: &DataDir) -> u64 {
    let store = Store::open(&dir.db()).unwrap();
    store.read().counts().unwrap().queue.waiting
}

#[test]
fn an_event_is_on_the_disk_before_any_database_is() {
    let (_temp, dir) = sandbox();
    deliver(&dir, 1);
    assert_eq!(spooled(&dir), 1);
    assert!(!dir.db().exists());
    take_in_some(&dir, Millis(1)).unwrap();
    assert_eq!((spooled(&dir), waiting(&dir)), (0, 1));
}

#[test]
fn an_event_that_comes_again_after_it_was_taken_in_is_still_one() {
    let (_temp, dir) = sandbox();
    for _ in 0..3 {
        deliver(&dir, 1);
        take_in_some(&dir, Millis(1)).unwrap();
    }
    assert_eq!((spooled(&dir), waiting(&dir)), (0, 1));
}

#[test]
fn what_a_damaged_database_cannot_take_waits_for_a_sound_one() {
    let (_temp, dir) = sandbox();
    deliver(&dir, 1);
    fs::write(dir.db(), "this is not a database").unwrap();
    assert!(matches!(
        take_in_some(&dir, Millis(1)),
        Err(StoreError::Damaged)
    ));
    deliver(&dir, 2);
    assert_eq!(spooled(&dir), 2);
    assert_eq!(fs::read(dir.db()).unwrap(), b"this is not a database");

    fs::remove_file(dir.db()).unwrap();
    take_in_some(&dir, Millis(1)).unwrap();
    assert_eq!((spooled(&dir), waiting(&dir)), (0, 2));
}

#[test]
fn a_full_letterbox_is_emptied_in_batches() {
    let (_temp, dir) = sandbox();
    let many = 2 * SPOOL_BATCH_MAX + 3;
    for at in 0..many {
        deliver(&dir, at as i64);
    }
    let mut store = Store::open(&dir.db()).unwrap();
    assert_eq!(take_in(&dir, &mut store, Millis(1)).unwrap(), many);
    assert_eq!(take_in(&dir, &mut store, Millis(1)).unwrap(), 0);
    assert_eq!((spooled(&dir), waiting(&dir)), (0, many as u64));
}

/// A queue that refuses one session for good.
struct Picky(Vec<i64>, i32);

fn sqlite(code: i32) -> StoreError {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None).into()
}

impl Queue for Picky {
    fn take(&mut self, letters: &[&Letter<'_>], _now: Millis) -> Result<(), StoreError> {
        let at = |letter: &&Letter<'_>| match letter {
            Letter::Event(_, event) => event.at.0,
            Letter::Ignore(..) => 0,
        };
        if letters.iter().any(|letter| at(letter) == 2) {
            return Err(sqlite(self.1));
        }
        self.0.extend(letters.iter().map(at));
        Ok(())
    }
}

#[test]
fn one_event_that_cannot_be_stored_does_not_hold_up_the_others() {
    let (_temp, dir) = sandbox();
    for at in 1..=3 {
        deliver(&dir, at);
    }
    let mut queue = Picky(Vec::new(), rusqlite::ffi::SQLITE_CONSTRAINT);
    take_in(&dir, &mut queue, Millis(1)).unwrap();
    assert_eq!(queue.0, [1, 3]);
    let left: Vec<_> = fs::read_dir(dir.spool()).unwrap().collect();
    assert_eq!(left.len(), 1);
    let left = left[0].as_ref().unwrap().path();
    assert_eq!(left.extension().unwrap(), "bad");
}

#[test]
fn an_error_that_may_pass_sets_nothing_aside() {
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
        let mut queue = Picky(Vec::new(), code);
        assert!(take_in(&dir, &mut queue, Millis(1)).is_err(), "{code}");
        take_in_some(&dir, Millis(1)).unwrap();
        assert_eq!((spooled(&dir), waiting(&dir)), (0, 3), "{code}");
    }
}

#[test]
fn an_ignored_session_goes_the_same_way() {
    let (_temp, dir) = sandbox();
    let session = ClientSessionId("s".into());
    ignore_session(&dir, "claude-code", &session, Micros(1)).unwrap();
    take_in_some(&dir, Millis(1)).unwrap();
    let store = Store::open(&dir.db()).unwrap();
    let found = store.read().session_of_client("claude-code", &session);
    assert!(found.unwrap().is_some());
}

#[test]
fn where_nothing_can_be_written_the_loss_is_said() {
    let (temp, _) = sandbox();
    fs::write(temp.path().join("file"), "").unwrap();
    let dir = DataDir::new(temp.path().join("file"));
    let own = prompt(1);
    assert!(event(&dir, key::of(&own, None), &own).is_err());
}

#[test]
fn a_worker_is_told_and_none_is_noticed() {
    let (temp, _) = sandbox();
    let path = temp.path().join("worker.sock");
    assert!(!wake(&path).unwrap());
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    assert!(wake(&path).unwrap());
    let (mut call, _) = listener.accept().unwrap();
    let mut said = String::new();
    io::Read::read_to_string(&mut call, &mut said).unwrap();
    assert_eq!(said, "wake\n");
    drop(listener);
    assert!(!wake(&path).unwrap(), "a socket that a dead worker left");
}

#[test]
fn a_socket_that_cannot_be_reached_is_no_worker_that_is_awake() {
    let temp = tempfile::tempdir().unwrap();
    let socket = temp.path().join("worker.sock");
    assert!(!wake(&socket).unwrap());
    std::os::unix::fs::symlink(&socket, &socket).unwrap();
    assert!(wake(&socket).is_err());
    std::fs::remove_file(&socket).unwrap();
    let _worker = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    assert!(wake(&socket).unwrap());
}
