use std::io::{Seek, SeekFrom, Write};

use super::*;
use crate::testing::{accept, event, observation, prompt, scratch, stop};
use crate::{AcceptOutcome, NewRowContext, RowId, RowKind};
use claude_mem_core::event::EventKey;
use claude_mem_core::event_key;
use claude_mem_core::ids::ClientSessionId;

const NOW: Millis = Millis(1_769_853_600_000);

/// Overwrites most of the file, except the header.
fn damage(dir: &DataDir) {
    let mut file = std::fs::File::options().write(true).open(dir.db()).unwrap();
    let length = file.metadata().unwrap().len();
    file.seek(SeekFrom::Start(100)).unwrap();
    file.write_all(&vec![0x5a; length as usize - 100]).unwrap();
}

fn notice(store: &Store) -> RecoveryNotice {
    let text = store.read().meta(RECOVERY_NOTICE_KEY).unwrap().unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn sound_store_is_opened_unchanged() {
    let scratch = scratch();
    let mut store = open_or_recover(&scratch.dir, NOW).unwrap();
    accept(&mut store, &[event("s", 1, prompt("a"))]);
    drop(store);
    let store = open_or_recover(&scratch.dir, NOW).unwrap();
    assert_eq!(store.read().queue_counts().unwrap().waiting, 1);
    assert_eq!(store.read().meta(RECOVERY_NOTICE_KEY).unwrap(), None);
}

#[test]
fn corrupt_store_is_replaced_by_newest_sound_backup() {
    let scratch = scratch();
    let dir = &scratch.dir;
    let mut store = open_or_recover(dir, NOW).unwrap();
    store.write(|tx| tx.set_meta("which", "old")).unwrap();
    backups::create(&dir.db(), &dir.backups(), NOW.plus_seconds(-7_200)).unwrap();
    store.write(|tx| tx.set_meta("which", "newer")).unwrap();
    backups::create(&dir.db(), &dir.backups(), NOW.plus_seconds(-3_600)).unwrap();
    store.checkpoint().unwrap();
    drop(store);
    // The newest backup is corrupt too.
    let bad = dir.backups().join(format!("claude-mem-{}.db", backups::format_stamp(NOW)));
    std::fs::copy(dir.db(), &bad).unwrap();
    std::fs::write(&bad, "no database").unwrap();
    damage(dir);
    let store = open_or_recover(dir, NOW).unwrap();
    assert_eq!(store.read().meta("which").unwrap().as_deref(), Some("newer"));
    assert_eq!(store.integrity_problems().unwrap(), Vec::<String>::new());
    let notice = notice(&store);
    assert_eq!(notice.backup_from, Some(NOW.plus_seconds(-3_600)));
    assert!(notice.damaged.exists());
    drop(store);
    // The restored database is in WAL mode again.
    let mut store = open_or_recover(dir, NOW).unwrap();
    store.write(|tx| tx.set_meta("a", "b")).unwrap();
    assert!(dir.root().join("claude-mem.db-wal").exists());
}

#[test]
fn without_backup_store_starts_empty() {
    let scratch = scratch();
    drop(open_or_recover(&scratch.dir, NOW).unwrap());
    damage(&scratch.dir);
    let store = open_or_recover(&scratch.dir, NOW).unwrap();
    assert_eq!(notice(&store).backup_from, None);
    assert_eq!(store.read().counts().unwrap().sessions, 0);
}

#[test]
fn queue_and_ignored_sessions_are_salvaged() {
    let scratch = scratch();
    let dir = &scratch.dir;
    let mut store = open_or_recover(dir, NOW).unwrap();
    accept(&mut store, &[event("s", 1, prompt("a")), event("s", 2, stop("b"))]);
    let quiet = ClientSessionId("quiet".into());
    store.write(|tx| tx.ignore_session("claude-code", &quiet, NOW)).unwrap();
    drop(store);
    // As the worker does when a statement finds the database corrupt.
    let store = recover(dir, NOW).unwrap();
    assert_eq!(notice(&store).salvaged, 2);
    assert_eq!(store.read().queue_counts().unwrap().waiting, 2);
    let session = store.read().session_of_client("claude-code", &quiet).unwrap();
    assert_eq!(session.unwrap().status, crate::SessionStatus::Ignored);
}

#[test]
fn gate_excludes_writers() {
    let scratch = scratch();
    let dir = &scratch.dir;
    drop(open_or_recover(dir, NOW).unwrap());
    let gate = ExclusiveLock::acquire(&dir.db(), Duration::ZERO).unwrap();
    assert!(matches!(Store::open(&dir.db()), Err(StoreError::Busy)));
    assert!(matches!(crate::Inbox::open(&dir.db()), Err(StoreError::Busy)));
    drop(gate);
    let writer = Store::open(&dir.db()).unwrap();
    assert!(matches!(ExclusiveLock::acquire(&dir.db(), Duration::ZERO), Err(StoreError::Busy)));
    drop(writer);
    ExclusiveLock::acquire(&dir.db(), Duration::ZERO).unwrap();
}

/// Stores an observation without a session.
fn note(store: &mut Store, title: &str) -> i64 {
    let new = observation(title, NOW);
    let id = store.write(|tx| tx.create_observation(&new, &NewRowContext::default()));
    id.unwrap().0
}

#[test]
fn failed_recovery_changes_nothing() {
    let scratch = scratch();
    let dir = &scratch.dir;
    let mut store = open_or_recover(dir, NOW).unwrap();
    store.write(|tx| tx.set_meta("which", "kept")).unwrap();
    backups::create(&dir.db(), &dir.backups(), NOW.plus_seconds(-3_600)).unwrap();
    accept(&mut store, &[event("s", 1, prompt("a"))]);
    drop(store);
    // The replacement cannot be created.
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
fn leftovers_of_killed_recovery_are_removed() {
    let scratch = scratch();
    let dir = &scratch.dir;
    drop(open_or_recover(dir, NOW).unwrap());
    let half = staging_path(dir).unwrap();
    std::fs::write(&half, "half a database").unwrap();
    drop(open_or_recover(dir, NOW).unwrap());
    assert!(!dir.recovering().exists());
    std::fs::create_dir(dir.recovering()).unwrap();
    std::fs::write(&half, "half a database").unwrap();
    damage(dir);
    assert_eq!(notice(&open_or_recover(dir, NOW).unwrap()).backup_from, None);
}

#[test]
fn tombstones_survive_recovery() {
    let scratch = scratch();
    let dir = &scratch.dir;
    let mut store = open_or_recover(dir, NOW).unwrap();
    let (kept, gone) = (note(&mut store, "kept"), note(&mut store, "gone"));
    backups::create(&dir.db(), &dir.backups(), NOW.plus_seconds(-3_600)).unwrap();
    let forget = store.write(|tx| tx.forget(RowId::new(RowKind::Observation, gone), NOW));
    forget.unwrap();
    drop(store);
    let store = recover(dir, NOW).unwrap();
    let is_there = |id| store.read().document(RowId::new(RowKind::Observation, id)).unwrap();
    assert!(is_there(kept).is_some());
    assert!(is_there(gone).is_none());
}

#[test]
fn dead_event_stays_dead() {
    let scratch = scratch();
    let dir = &scratch.dir;
    let mut store = open_or_recover(dir, NOW).unwrap();
    accept(&mut store, &[event("s", 1, prompt("a"))]);
    let (client, session) = ("claude-code", ClientSessionId("s".into()));
    for attempt in 1..=3 {
        let died = store.write(|tx| {
            let lease = claude_mem_core::queue::LeaseId(attempt);
            let now = NOW.plus_seconds(attempt * 1_000);
            let leased = tx.lease_session(client, &session, 9, lease, now)?.unwrap();
            tx.fail(lease, &[leased.events[0].id], "it cannot be read", now)
        });
        died.unwrap();
    }
    assert_eq!(store.read().queue_counts().unwrap().dead, 1);
    drop(store);
    let store = recover(dir, NOW).unwrap();
    let dead = store.read().pending(Some("dead"), crate::PageRequest::first(9));
    let dead = dead.unwrap().items;
    assert_eq!(dead.len(), 1);
    assert_eq!(dead[0].error.as_deref(), Some("it cannot be read"));
}

#[test]
fn event_in_backup_is_salvaged_once() {
    let scratch = scratch();
    let dir = &scratch.dir;
    let mut store = open_or_recover(dir, NOW).unwrap();
    let events = [event("s", 1, prompt("a")), event("s", 2, stop("b"))];
    // An old client's hooks key it by the message, not by the prompt.
    let keys: Vec<EventKey> =
        events.iter().map(|event| event_key::event_key(event, Some("message"))).collect();
    for (event, key) in events.iter().zip(&keys) {
        store.write(|tx| tx.accept(*key, event, NOW)).unwrap();
    }
    backups::create(&dir.db(), &dir.backups(), NOW.plus_seconds(-3_600)).unwrap();
    drop(store);
    let store = recover(dir, NOW).unwrap();
    assert_eq!(store.read().queue_counts().unwrap().waiting, 2);
    drop(store);
    // Without the backup it gets the same key again.
    for backup in backups::list(&dir.backups()).unwrap() {
        std::fs::remove_file(backup.path).unwrap();
    }
    let mut store = recover(dir, NOW).unwrap();
    assert_eq!(store.read().queue_counts().unwrap().waiting, 2);
    let again = store.write(|tx| tx.accept(keys[1], &events[1], NOW));
    assert_eq!(again.unwrap(), AcceptOutcome::Duplicate);
}

#[test]
fn notice_lists_unusable_backups_and_losses() {
    let scratch = scratch();
    let dir = &scratch.dir;
    let store = open_or_recover(dir, NOW).unwrap();
    backups::create(&dir.db(), &dir.backups(), NOW.plus_seconds(-3_600)).unwrap();
    drop(store);
    let backup = backups::list(&dir.backups()).unwrap().remove(0).path;
    std::fs::write(&backup, "no database").unwrap();
    damage(dir);
    let store = open_or_recover(dir, NOW).unwrap();
    let notice = notice(&store);
    assert_eq!(notice.backup_from, None);
    assert!(notice.passed_over[0].starts_with(&backup.display().to_string()));
    assert_eq!(notice.incomplete.len(), 3, "{:?}", notice.incomplete);
    let log = std::fs::read_dir(dir.logs()).unwrap().flatten().next().unwrap();
    let log = std::fs::read_to_string(log.path()).unwrap();
    assert!(log.contains("the corrupt database was replaced"), "{log}");
}

#[test]
fn unopenable_store_is_not_treated_as_empty() {
    let scratch = scratch();
    let knot = scratch.dir.root().join("knot");
    std::os::unix::fs::symlink(&knot, &knot).unwrap();
    assert!(Store::salvage(&knot).is_err());
}

/// Corrupts every page that contains this text.
fn spoil_pages(dir: &DataDir, text: &[u8]) {
    let mut bytes = std::fs::read(dir.db()).unwrap();
    let mut holds = |page: &&mut [u8]| page.windows(text.len()).any(|found| found == text);
    let pages = bytes.chunks_mut(4_096).filter(&mut holds);
    pages.for_each(|page| page.fill(0x5a));
    std::fs::write(dir.db(), bytes).unwrap();
}

#[test]
fn ignored_sessions_survive_a_bad_page() {
    let scratch = scratch();
    let dir = &scratch.dir;
    let mut store = open_or_recover(dir, NOW).unwrap();
    let name = |number: u32| ClientSessionId(format!("quiet-{number:04}-{}", "x".repeat(64)));
    let ignored = store
        .write(|tx| (0..400).try_for_each(|number| tx.ignore_session("claude-code", &name(number), NOW)));
    ignored.unwrap();
    store.checkpoint().unwrap();
    drop(store);
    spoil_pages(dir, b"quiet-0100");
    let found = Store::salvage(&dir.db()).unwrap();
    let has = |number| found.ignored.iter().any(|(_, session)| *session == name(number));
    assert!(has(0) && has(399));
    assert_eq!(found.incomplete, ["ignored sessions"]);
}

/// A store with a few memories, closed and without a write-ahead log.
fn furnished(dir: &DataDir) {
    let mut store = open_or_recover(dir, NOW).unwrap();
    accept(&mut store, &[event("s", 1, prompt("waiting"))]);
    let hint = claude_mem_core::event::ProjectHint {
        name: "shop".into(),
        keys: vec!["path:/src/shop".into()],
        ..Default::default()
    };
    store
        .write(|tx| {
            let project = Some(tx.ensure_project(&hint, NOW)?);
            for n in 0..40 {
                let meta = NewRowContext { project, ..NewRowContext::default() };
                tx.create_observation(&observation(&format!("memory number {n}"), NOW), &meta)?;
            }
            Ok(())
        })
        .unwrap();
    store.checkpoint().unwrap();
    store.close().unwrap();
}

fn overwrite(dir: &DataDir, at: u64, bytes: usize) {
    let mut file = std::fs::File::options().write(true).open(dir.db()).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(&vec![0x5a; bytes]).unwrap();
}

#[test]
fn rows_of_a_damaged_store_are_salvaged_without_a_backup() {
    // The header; the whole first page, which lists the tables.
    for bytes in [100, 4_096] {
        let scratch = scratch();
        furnished(&scratch.dir);
        overwrite(&scratch.dir, 0, bytes);
        let store = open_or_recover(&scratch.dir, NOW).unwrap();
        let counts = store.read().counts().unwrap();
        assert_eq!((counts.observations, counts.projects), (40, 1), "{bytes} bytes");
        assert_eq!(counts.queue.waiting, 1, "{bytes} bytes");
        assert_eq!(store.integrity_problems().unwrap(), Vec::<String>::new());
        assert!(store.is_fts_consistent().unwrap());
        let notice = notice(&store);
        assert!(notice.rows >= 41 && notice.backup_from.is_none(), "{notice:?}");
        // The keys still identify the project.
        assert!(store.read().project_by_keys(&["path:/src/shop".to_owned()]).unwrap().is_some());
    }
}

#[test]
fn backup_with_a_damaged_index_is_refused() {
    let scratch = scratch();
    furnished(&scratch.dir);
    let root: u64 = {
        let conn = crate::open::open_foreign(&scratch.dir.db()).unwrap();
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_observations_1'";
        conn.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap() as u64
    };
    // The last byte of a page of the index of public ids belongs to the first entry.
    overwrite(&scratch.dir, root * 4_096 - 1, 1);
    assert!(matches!(
        backups::create(&scratch.dir.db(), &scratch.dir.backups(), NOW),
        Err(StoreError::Corrupt)
    ));
}
