use std::io::{Seek, SeekFrom, Write};

use super::*;
use crate::hook::event::EventKey;
use crate::hook::key;
use crate::ids::ClientSessionId;
use crate::serve::testing::{accept, event, observation, prompt, scratch, stop};
use crate::store::{Accepted, RowKind, Stored};

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
    assert!(dir.root().join("claude-mem.db-wal").exists());
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

/// An observation of no session.
fn note(store: &mut Store, title: &str) -> i64 {
    let new = observation(title, NOW);
    let id = store.write(|tx| tx.create_observation(&new, &Stored::default()));
    id.unwrap().0
}

#[test]
fn a_recovery_that_fails_leaves_everything_where_it_was_for_the_next_one() {
    let scratch = scratch();
    let dir = &scratch.dir;
    let mut store = open(dir, NOW).unwrap();
    store.write(|tx| tx.set_meta("which", "kept")).unwrap();
    backups::make(&dir.db(), &dir.backups(), NOW.plus_seconds(-3_600)).unwrap();
    accept(&mut store, &[event("s", 1, prompt("a"))]);
    drop(store);
    // No room for what is to take the place.
    std::fs::write(dir.recovering(), "in the way").unwrap();
    let before = std::fs::read(dir.db()).unwrap();
    for _ in 0..2 {
        assert!(recover(dir, NOW).is_err());
        assert_eq!(std::fs::read(dir.db()).unwrap(), before);
    }
    std::fs::remove_file(dir.recovering()).unwrap();
    let store = recover(dir, NOW).unwrap();
    assert_eq!(notice(&store).salvaged, 1);
    assert_eq!(store.read().meta("which").unwrap().as_deref(), Some("kept"));
    assert_eq!(backups::list(&dir.backups()).unwrap().len(), 1);
    assert!(!dir.recovering().exists());
}

#[test]
fn what_a_killed_recovery_left_behind_is_neither_used_nor_kept() {
    let scratch = scratch();
    let dir = &scratch.dir;
    drop(open(dir, NOW).unwrap());
    let half = workshop(dir).unwrap();
    std::fs::write(&half, "half a database").unwrap();
    drop(open(dir, NOW).unwrap());
    assert!(!dir.recovering().exists());
    std::fs::create_dir(dir.recovering()).unwrap();
    std::fs::write(&half, "half a database").unwrap();
    damage(dir);
    assert_eq!(notice(&open(dir, NOW).unwrap()).backup_from, None);
}

#[test]
fn what_was_forgotten_after_the_backup_stays_forgotten() {
    let scratch = scratch();
    let dir = &scratch.dir;
    let mut store = open(dir, NOW).unwrap();
    let (kept, gone) = (note(&mut store, "kept"), note(&mut store, "gone"));
    backups::make(&dir.db(), &dir.backups(), NOW.plus_seconds(-3_600)).unwrap();
    let forget = store.write(|tx| tx.forget(RowKind::Observation, gone, NOW));
    forget.unwrap();
    drop(store);
    let store = recover(dir, NOW).unwrap();
    let is_there = |id| store.read().document(RowKind::Observation, id).unwrap();
    assert!(is_there(kept).is_some());
    assert!(is_there(gone).is_none());
}

#[test]
fn a_dead_event_is_saved_as_one() {
    let scratch = scratch();
    let dir = &scratch.dir;
    let mut store = open(dir, NOW).unwrap();
    accept(&mut store, &[event("s", 1, prompt("a"))]);
    let (client, session) = ("claude-code", ClientSessionId("s".into()));
    for attempt in 1..=3 {
        let died = store.write(|tx| {
            let lease = crate::queue::LeaseId(attempt);
            let now = NOW.plus_seconds(attempt * 1_000);
            let leased = tx.lease_session(client, &session, 9, lease, now)?.unwrap();
            tx.fail(lease, &[leased.events[0].id], "it cannot be read", now)
        });
        died.unwrap();
    }
    assert_eq!(store.read().queue_counts().unwrap().dead, 1);
    drop(store);
    let store = recover(dir, NOW).unwrap();
    let dead = store
        .read()
        .pending(Some("dead"), crate::store::Page::first(9));
    let dead = dead.unwrap().items;
    assert_eq!(dead.len(), 1);
    assert_eq!(dead[0].error.as_deref(), Some("it cannot be read"));
}

#[test]
fn an_event_that_the_backup_has_too_is_saved_once_whatever_it_was_known_by() {
    let scratch = scratch();
    let dir = &scratch.dir;
    let mut store = open(dir, NOW).unwrap();
    let events = [event("s", 1, prompt("a")), event("s", 2, stop("b"))];
    // As an old client's hooks name it: by the message, not by the prompt.
    let keys: Vec<EventKey> = events
        .iter()
        .map(|event| key::of(event, Some("message")))
        .collect();
    for (event, key) in events.iter().zip(&keys) {
        store.write(|tx| tx.accept(*key, event, NOW)).unwrap();
    }
    backups::make(&dir.db(), &dir.backups(), NOW.plus_seconds(-3_600)).unwrap();
    drop(store);
    let store = recover(dir, NOW).unwrap();
    assert_eq!(store.read().queue_counts().unwrap().waiting, 2);
    drop(store);
    // And without the backup it is known by the same name again.
    for backup in backups::list(&dir.backups()).unwrap() {
        std::fs::remove_file(backup.path).unwrap();
    }
    let mut store = recover(dir, NOW).unwrap();
    assert_eq!(store.read().queue_counts().unwrap().waiting, 2);
    let again = store.write(|tx| tx.accept(keys[1], &events[1], NOW));
    assert_eq!(again.unwrap(), Accepted::Known);
}

#[test]
fn backups_that_are_passed_over_and_what_could_not_be_saved_are_told() {
    let scratch = scratch();
    let dir = &scratch.dir;
    let store = open(dir, NOW).unwrap();
    backups::make(&dir.db(), &dir.backups(), NOW.plus_seconds(-3_600)).unwrap();
    drop(store);
    let backup = backups::list(&dir.backups()).unwrap().remove(0).path;
    std::fs::write(&backup, "no database").unwrap();
    damage(dir);
    let store = open(dir, NOW).unwrap();
    let notice = notice(&store);
    assert_eq!(notice.backup_from, None);
    assert!(notice.passed_over[0].starts_with(&backup.display().to_string()));
    assert_eq!(notice.incomplete.len(), 3, "{:?}", notice.incomplete);
    let settings = crate::config::Settings::default();
    let found = crate::findings::of_memory(&store.read(), &settings, NOW).unwrap();
    let told = &found[0].what;
    assert!(told.contains("no backup could be used"), "{told}");
    assert!(told.contains("sessions not to be remembered"), "{told}");
    let log = std::fs::read_dir(dir.logs())
        .unwrap()
        .flatten()
        .next()
        .unwrap();
    let log = std::fs::read_to_string(log.path()).unwrap();
    assert!(log.contains("the store was replaced"), "{log}");
}

#[test]
fn a_damaged_store_that_cannot_be_opened_is_not_taken_for_an_empty_one() {
    let scratch = scratch();
    let knot = scratch.dir.root().join("knot");
    std::os::unix::fs::symlink(&knot, &knot).unwrap();
    assert!(Store::salvage(&knot).is_err());
}

/// Spoils every page on which this stands.
fn spoil_pages(dir: &DataDir, text: &[u8]) {
    let mut bytes = std::fs::read(dir.db()).unwrap();
    let mut holds = |page: &&mut [u8]| page.windows(text.len()).any(|found| found == text);
    let pages = bytes.chunks_mut(4_096).filter(&mut holds);
    pages.for_each(|page| page.fill(0x5a));
    std::fs::write(dir.db(), bytes).unwrap();
}

#[test]
fn ignored_sessions_behind_a_bad_page_stay_ignored() {
    let scratch = scratch();
    let dir = &scratch.dir;
    let mut store = open(dir, NOW).unwrap();
    let name = |number: u32| ClientSessionId(format!("quiet-{number:04}-{}", "x".repeat(64)));
    let ignored = store.write(|tx| {
        (0..400).try_for_each(|number| tx.ignore_session("claude-code", &name(number), NOW))
    });
    ignored.unwrap();
    store.checkpoint().unwrap();
    drop(store);
    spoil_pages(dir, b"quiet-0100");
    let found = Store::salvage(&dir.db()).unwrap();
    let has = |number| {
        found
            .ignored
            .iter()
            .any(|(_, session)| *session == name(number))
    };
    assert!(has(0) && has(399));
    assert_eq!(found.incomplete, ["sessions not to be remembered"]);
}
