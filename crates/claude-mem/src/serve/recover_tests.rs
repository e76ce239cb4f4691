use std::io::{Seek, SeekFrom, Write};

use super::*;
use crate::ids::ClientSessionId;
use crate::serve::testing::{accept, event, prompt, scratch, stop};

const NOW: Millis = Millis(1_769_853_600_000);

/// Overwrites most of the file, the header aside.
fn damage(dir: &DataDir) {
    let mut file = std::fs::File::options().write(true).open(dir.db()).unwrap();
    let length = file.metadata().unwrap().len();
    file.seek(SeekFrom::Start(100)).unwrap();
    file.write_all(&vec![0x5a; length as usize - 100]).unwrap();
}

fn notice(store: &Store) -> Recovered {
    let text = store.read().meta(NOTICE).unwrap().unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_sound_store_is_opened_as_it_is() {
    let scratch = scratch();
    let mut store = open(&scratch.dir, NOW).unwrap();
    accept(&mut store, &[event("s", 1, prompt("a"))]);
    drop(store);
    let store = open(&scratch.dir, NOW).unwrap();
    assert_eq!(store.read().queue_counts().unwrap().waiting, 1);
    assert_eq!(store.read().meta(NOTICE).unwrap(), None);
}

#[test]
fn a_damaged_one_is_set_aside_and_the_newest_sound_backup_takes_its_place() {
    let scratch = scratch();
    let dir = &scratch.dir;
    let mut store = open(dir, NOW).unwrap();
    store.write(|tx| tx.set_meta("which", "old")).unwrap();
    backups::make(&dir.db(), &dir.backups(), NOW.plus_seconds(-7_200)).unwrap();
    store.write(|tx| tx.set_meta("which", "newer")).unwrap();
    backups::make(&dir.db(), &dir.backups(), NOW.plus_seconds(-3_600)).unwrap();
    store.checkpoint().unwrap();
    drop(store);
    // The very newest backup was damaged too.
    let bad = dir
        .backups()
        .join(format!("claude-mem-{}.db", backups::stamp(NOW)));
    std::fs::copy(dir.db(), &bad).unwrap();
    std::fs::write(&bad, "no database").unwrap();
    damage(dir);
    let store = open(dir, NOW).unwrap();
    assert_eq!(
        store.read().meta("which").unwrap().as_deref(),
        Some("newer")
    );
    assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
    let notice = notice(&store);
    assert_eq!(notice.backup_from, Some(NOW.plus_seconds(-3_600)));
    assert!(notice.damaged.exists());
    drop(store);
    // It keeps a log again, as a database of ours does.
    let mut store = open(dir, NOW).unwrap();
    store.write(|tx| tx.set_meta("a", "b")).unwrap();
    assert!(beside(&dir.db(), "-wal").exists());
}

#[test]
fn without_a_backup_memory_begins_anew_and_says_so() {
    let scratch = scratch();
    drop(open(&scratch.dir, NOW).unwrap());
    damage(&scratch.dir);
    let store = open(&scratch.dir, NOW).unwrap();
    assert_eq!(notice(&store).backup_from, None);
    assert_eq!(store.read().counts().unwrap().sessions, 0);
}

#[test]
fn queued_events_and_ignored_sessions_are_saved_from_a_damaged_store() {
    let scratch = scratch();
    let dir = &scratch.dir;
    let mut store = open(dir, NOW).unwrap();
    accept(
        &mut store,
        &[event("s", 1, prompt("a")), event("s", 2, stop("b"))],
    );
    let quiet = ClientSessionId("quiet".into());
    store
        .write(|tx| tx.ignore_session("claude-code", &quiet, NOW))
        .unwrap();
    drop(store);
    // As the worker does when a statement finds the damage while it runs.
    let store = recover(dir, NOW).unwrap();
    assert_eq!(notice(&store).salvaged, 2);
    assert_eq!(store.read().queue_counts().unwrap().waiting, 2);
    let session = store
        .read()
        .session_of_client("claude-code", &quiet)
        .unwrap();
    assert_eq!(
        session.unwrap().status,
        crate::store::SessionStatus::Ignored
    );
}

#[test]
fn nobody_writes_while_it_is_replaced() {
    let scratch = scratch();
    let dir = &scratch.dir;
    drop(open(dir, NOW).unwrap());
    let gate = Gate::close(&dir.db(), Duration::ZERO).unwrap();
    assert!(matches!(Store::open(&dir.db()), Err(StoreError::Busy)));
    assert!(matches!(
        crate::store::Inbox::open(&dir.db()),
        Err(StoreError::Busy)
    ));
    drop(gate);
    let writer = Store::open(&dir.db()).unwrap();
    assert!(matches!(
        Gate::close(&dir.db(), Duration::ZERO),
        Err(StoreError::Busy)
    ));
    drop(writer);
    Gate::close(&dir.db(), Duration::ZERO).unwrap();
}
