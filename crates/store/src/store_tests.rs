use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use super::*;
use claude_mem_core::clock::{Micros, Millis};
use claude_mem_core::event::{Event, EventBody, EventKey, ProjectHint};
use claude_mem_core::ids::{ClientSessionId, ObservationId, ProjectId, SessionId};
use claude_mem_core::memory::{
    NewObservation, NewSummary, ObservationText, ObservationType, Origin, SummaryText,
};
use claude_mem_core::queue::LeaseId;
use claude_mem_core::source::TextSource;

struct ScratchDatabase {
    _dir: tempfile::TempDir,
    path: PathBuf,
}

fn scratch() -> ScratchDatabase {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("claude-mem.db");
    ScratchDatabase { _dir: dir, path }
}

fn event(session: &str, at: i64) -> Event {
    Event::new(
        "claude-code",
        ClientSessionId(session.into()),
        Micros(at),
        EventBody::Stop { last_message: Some(format!("at {at}")) },
    )
}

fn key(n: u8) -> EventKey {
    EventKey([n; 16])
}

fn hint(name: &str, keys: &[&str]) -> ProjectHint {
    ProjectHint {
        name: name.into(),
        keys: keys.iter().map(|&key| key.into()).collect(),
        root: format!("/src/{name}"),
        branch: None,
    }
}

fn observation(title: &str, files: &[&str], at: i64) -> NewObservation {
    NewObservation {
        discovery_tokens: 7,
        ..NewObservation::from_text(
            ObservationText {
                narrative: format!("Because of {title}."),
                facts: vec!["getUserById returned a stale row".into()],
                concepts: vec!["gotcha".into()],
                files_modified: files.iter().map(|&file| file.into()).collect(),
                ..ObservationText::new(ObservationType::BUGFIX, title)
            },
            Origin::Agent,
            Millis(at),
        )
    }
}

/// A store with one project and one session.
fn furnished(path: &std::path::Path) -> (Store, ProjectId, SessionId) {
    let mut store = Store::open(path).unwrap();
    let (project, session) = store
        .write(|tx| {
            let project = tx.ensure_project(&hint("shop", &["path:/src/shop"]), Millis(1))?;
            let session = tx.ensure_session(&NewSession {
                project: Some(project),
                branch: Some("main"),
                ..NewSession::new("claude-code", &ClientSessionId("s1".into()), Millis(1))
            })?;
            Ok((project, session))
        })
        .unwrap();
    (store, project, session)
}

fn place(project: ProjectId, session: SessionId) -> NewRowContext<'static> {
    NewRowContext {
        project: Some(project),
        session: Some(session),
        made_by: "local",
        ..NewRowContext::default()
    }
}

fn matches(store: &Store, word: &str) -> usize {
    store
        .conn
        .query_row(
            "SELECT count(DISTINCT p.kind || p.row_id) FROM texts_fts f JOIN texts p ON p.id = f.rowid
             WHERE texts_fts MATCH ?1",
            [format!("\"{word}\"")],
            |row| row.get(0),
        )
        .unwrap()
}

#[test]
fn new_database_is_private_and_sound() {
    let scratch = scratch();
    let store = Store::open(&scratch.path).unwrap();
    assert_eq!(store.integrity_problems().unwrap(), Vec::<String>::new());
    for name in std::fs::read_dir(scratch.path.parent().unwrap()).unwrap() {
        let name = name.unwrap();
        let mode = name.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", name.path().display());
    }
}

#[test]
fn foreign_database_is_refused_and_unchanged() {
    let scratch = scratch();
    #[allow(clippy::disallowed_methods, reason = "opens it like another program")]
    let foreign = rusqlite::Connection::open(&scratch.path).unwrap();
    foreign.execute_batch("CREATE TABLE observations (id INTEGER)").unwrap();
    drop(foreign);
    let before = std::fs::read(&scratch.path).unwrap();
    assert!(matches!(Store::open(&scratch.path), Err(StoreError::Foreign)));
    assert!(matches!(Inbox::open(&scratch.path), Err(StoreError::Foreign)));
    assert_eq!(std::fs::read(&scratch.path).unwrap(), before);
}

#[test]
fn newer_schema_is_refused_and_older_one_by_hooks() {
    let scratch = scratch();
    let store = Store::open(&scratch.path).unwrap();
    store.conn.pragma_update(None, "user_version", SCHEMA_VERSION + 1).unwrap();
    drop(store);
    assert!(matches!(Store::open(&scratch.path), Err(StoreError::Newer { .. })));
    assert!(matches!(Inbox::open(&scratch.path), Err(StoreError::Newer { .. })));

    #[allow(clippy::disallowed_methods, reason = "sets the schema version back")]
    let conn = rusqlite::Connection::open(&scratch.path).unwrap();
    conn.pragma_update(None, "user_version", SCHEMA_VERSION - 1).unwrap();
    drop(conn);
    assert!(matches!(Inbox::open(&scratch.path), Err(StoreError::Older { .. })));
}

#[test]
fn garbage_file_is_corrupt_and_not_overwritten() {
    let scratch = scratch();
    for rubbish in [&b""[..], b"not a database", &[0; 4096]] {
        std::fs::write(&scratch.path, rubbish).unwrap();
        assert!(matches!(Store::open(&scratch.path), Err(StoreError::Corrupt)));
        assert_eq!(std::fs::read(&scratch.path).unwrap(), rubbish);
    }
}

/// The options of `.cargo/config.toml` reach the compiler: hooks are slower without them.
#[test]
fn sqlite_is_compiled_with_our_options() {
    let scratch = scratch();
    let store = Store::open(&scratch.path).unwrap();
    let mut statement = store.conn.prepare("PRAGMA compile_options").unwrap();
    let options: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    for present in ["DEFAULT_MEMSTATUS=0", "OMIT_LOAD_EXTENSION", "ENABLE_FTS5", "DEFAULT_FOREIGN_KEYS"] {
        assert!(options.iter().any(|option| option == present), "{present} in {options:?}");
    }
    for absent in ["ENABLE_FTS3", "ENABLE_RTREE", "ENABLE_STAT4", "SOUNDEX", "ENABLE_LOAD_EXTENSION"] {
        assert!(!options.iter().any(|option| option == absent), "{absent} in {options:?}");
    }
}

/// A hook that exits leaves its connection open. What it wrote is there for the next process, and a large log is
/// still moved into the database.
#[test]
fn close_at_exit_keeps_writes_and_checkpoints_a_large_log() {
    let scratch = scratch();
    let log_bytes =
        || std::fs::metadata(scratch.path.with_extension("db-wal")).map_or(0, |about| about.len());
    let write = |name: &str, value: &str| {
        let mut inbox = Inbox::open(&scratch.path).unwrap();
        inbox.write(|tx| tx.set_meta(name, value)).unwrap();
        inbox.close_at_exit().unwrap();
    };
    write("large", &"x".repeat(1 << 20));
    assert_eq!(log_bytes(), 0, "a large log is moved into the database");
    write("small", "kept");
    assert!(log_bytes() > 0, "a small log is left for the worker");
    let store = Store::open(&scratch.path).unwrap();
    assert_eq!(store.read().meta("large").unwrap().unwrap().len(), 1 << 20);
    assert_eq!(store.read().meta("small").unwrap().as_deref(), Some("kept"));
}

#[test]
fn event_key_outlives_the_event() {
    let scratch = scratch();
    let mut inbox = Inbox::open(&scratch.path).unwrap();
    assert_eq!(inbox.write(|tx| tx.accept(key(1), &event("a", 1), Millis(1))).unwrap(), AcceptOutcome::New);
    assert_eq!(
        inbox.write(|tx| tx.accept(key(1), &event("a", 1), Millis(2))).unwrap(),
        AcceptOutcome::Duplicate
    );
    inbox.close().unwrap();
    let mut store = Store::open(&scratch.path).unwrap();
    store
        .write(|tx| {
            let lease = tx
                .lease_session("claude-code", &ClientSessionId("a".into()), 9, LeaseId(1), Millis(1))?
                .unwrap();
            tx.settle(lease.id, &[lease.events[0].id])?;
            assert_eq!(tx.delete_done_before(Millis(i64::MAX), 9)?, 1);
            assert_eq!(tx.accept(key(1), &event("a", 1), Millis(3))?, AcceptOutcome::Duplicate);
            Ok(())
        })
        .unwrap();
}

#[test]
fn events_are_leased_in_hook_order() {
    let scratch = scratch();
    let mut inbox = Inbox::open(&scratch.path).unwrap();
    for (n, at) in [(1, 30), (2, 10), (3, 20)] {
        inbox.write(|tx| tx.accept(key(n), &event("a", at), Millis(1))).unwrap();
    }
    inbox.close().unwrap();
    let mut store = Store::open(&scratch.path).unwrap();
    let session = ClientSessionId("a".into());
    let lease = store
        .write(|tx| tx.lease_session("claude-code", &session, 2, LeaseId(1), Millis(1)))
        .unwrap()
        .unwrap();
    assert_eq!(lease.events.iter().map(|e| e.event.at.0).collect::<Vec<_>>(), [10, 20]);
    // The session is leased: the third event waits until the first two are settled.
    assert!(
        store
            .write(|tx| tx.lease_session("claude-code", &session, 9, LeaseId(2), Millis(1)))
            .unwrap()
            .is_none()
    );
}

#[test]
fn lost_lease_stores_nothing() {
    let scratch = scratch();
    let (mut store, project, session) = furnished(&scratch.path);
    let client_session = ClientSessionId("s1".into());
    store.write(|tx| tx.accept(key(1), &event("s1", 1), Millis(1)).map(|_| ())).unwrap();
    let lease = |store: &mut Store, id, now| {
        store.write(|tx| tx.lease_session("claude-code", &client_session, 9, LeaseId(id), now)).unwrap()
    };
    let slow = lease(&mut store, 1, Millis(0)).unwrap();
    let quick = lease(&mut store, 2, Millis(10_000_000)).unwrap();
    let store_with = |store: &mut Store, held: &EventLease| {
        store.write(|tx| {
            tx.create_observation(&observation("one", &[], 1), &place(project, session))?;
            tx.settle(held.id, &[held.events[0].id])
        })
    };
    assert!(matches!(store_with(&mut store, &slow), Err(StoreError::LeaseLost)));
    assert_eq!(store.read().counts().unwrap().observations, 0);
    store_with(&mut store, &quick).unwrap();
    assert_eq!(store.read().counts().unwrap().observations, 1);
}

#[test]
fn dead_events_are_listed_retried_and_dropped() {
    let scratch = scratch();
    let mut store = Store::open(&scratch.path).unwrap();
    let session = ClientSessionId("a".into());
    store.write(|tx| tx.accept(key(1), &event("a", 1), Millis(1)).map(|_| ())).unwrap();
    let mut now = Millis(0);
    for n in 0..3 {
        now = now.plus_seconds(1_000);
        store
            .write(|tx| {
                let lease = tx.lease_session("claude-code", &session, 9, LeaseId(n), now)?.unwrap();
                tx.fail(lease.id, &[lease.events[0].id], "the model said no", now)
            })
            .unwrap();
    }
    let dead = store.read().pending(Some("dead"), PageRequest::first(10)).unwrap().items;
    assert_eq!(dead[0].error.as_deref(), Some("the model said no"));
    assert!(store.write(|tx| tx.retry_pending(dead[0].id)).unwrap());
    assert_eq!(store.read().queue_counts().unwrap().waiting, 1);
    assert!(!store.write(|tx| tx.drop_pending(dead[0].id)).unwrap(), "only the dead can be dropped");
}

#[test]
fn later_remote_keeps_the_project() {
    let scratch = scratch();
    let mut store = Store::open(&scratch.path).unwrap();
    let ensure = |store: &mut Store, keys: &[&str]| {
        store.write(|tx| tx.ensure_project(&hint("shop", keys), Millis(1))).unwrap()
    };
    let first = ensure(&mut store, &["git:/src/shop/.git", "path:/src/shop"]);
    let with_remote =
        ensure(&mut store, &["remote:example.org/shop", "git:/src/shop/.git", "path:/src/shop"]);
    let namesake = ensure(&mut store, &["path:/tmp/shop"]);
    assert_eq!(first, with_remote);
    assert_ne!(first, namesake);
}

/// A commit and its file among the objects, as git writes it.
const COMMIT_ID: &str = "7dc0fdab9a318348efd40a015c616a9c6d392c74";
const COMMIT_OBJECT: &[u8] = b"\
    \x78\xda\x7d\xcc\x41\x0a\x02\x31\x0c\x46\x61\xd7\x3d\x45\xf6\x82\x74\x42\xa6\xb4\x20\xa2\x1b\xef\xd1\x64\
    \xfe\xc1\x01\x4b\xa5\x46\xf0\xf8\x8a\x07\xf0\xad\x3f\x9e\xf5\xd6\x36\xa7\x89\x79\xe7\x03\x20\xd1\xcc\xf3\
    \x62\x49\xd8\x34\x41\x4b\x8d\x29\x62\x16\x5d\xf3\x92\x0a\xe7\xbc\x2a\x20\x25\x4a\xa8\x2f\xbf\xf5\x41\x17\
    \x3a\xd6\x33\xde\xb5\x3d\xee\x38\x58\x6f\x27\x9a\x68\x1f\xbf\x05\xfb\x9d\x1d\xff\x4c\xb8\x6e\xe3\xe9\xe1\
    \x03\x70\x98\x27\x82";

#[test]
fn remote_alone_does_not_open_a_project() {
    let scratch = scratch();
    let mut store = Store::open(&scratch.path).unwrap();
    let commit = format!("commit:{COMMIT_ID}");
    let repositories = scratch.path.with_extension("repositories");
    let root_of = |name: &str| repositories.join(name).display().to_string();
    let ensure = |store: &mut Store, name: &str, more: &[&str]| {
        let path = format!("path:{}", root_of(name));
        let keys = [&["remote:example.org/shop", path.as_str()], more].concat();
        let at = ProjectHint { root: root_of(name), ..hint("shop", &keys) };
        (at.keys.clone(), store.write(|tx| tx.ensure_project(&at, Millis(1))).unwrap())
    };
    let (_, known) = ensure(&mut store, "src", &[&commit]);
    let root = store.read().project(known).unwrap().root;
    let claim = ["remote:example.org/shop".to_owned(), format!("path:{}", root_of("evil"))];
    assert_eq!(store.read().project_by_keys(&claim).unwrap(), None, "before its first event");
    let (keys, stranger) = ensure(&mut store, "evil", &[]);
    assert_ne!(known, stranger);
    assert_eq!(store.read().project_by_keys(&keys).unwrap(), Some(stranger));
    assert_eq!(store.read().unconfirmed_project(&keys).unwrap().map(|project| project.id), Some(known));
    assert_eq!(store.read().project(known).unwrap().root, root, "its root has not moved");
    assert_eq!(ensure(&mut store, "src", &[]).1, known);

    let (_, named) = ensure(&mut store, "names-it", &[&commit]);
    assert_ne!(named, known, "the id of a commit is no evidence");
    let objects = repositories.join("clone/.git/objects").join(&COMMIT_ID[..2]);
    std::fs::create_dir_all(&objects).unwrap();
    std::fs::write(repositories.join("clone/.git/HEAD"), COMMIT_ID).unwrap();
    std::fs::write(objects.join(&COMMIT_ID[2..]), COMMIT_OBJECT).unwrap();
    let (keys, clone) = ensure(&mut store, "clone", &[&commit]);
    assert_eq!(clone, known, "a clone has a commit that the store knows");
    assert_eq!(store.read().unconfirmed_project(&keys).unwrap(), None);
    assert!(store.read().project_keys(known).unwrap().iter().all(|key| !key.starts_with("commit:")));

    store
        .write(|tx| tx.join_project(&hint("shop", &[&format!("path:{}", root_of("evil"))]), known, Millis(2)))
        .unwrap();
    assert_eq!(ensure(&mut store, "evil", &[]).1, known, "confirmed once");
}

#[test]
fn short_fields_are_stored_redacted() {
    let scratch = scratch();
    let mut store = Store::open(&scratch.path).unwrap();
    // Built at run time, so that no scanner takes this file for a leak.
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2).get(..36).unwrap());
    let path = format!("/src/{token}/shop");
    let raw = ProjectHint {
        name: token.clone(),
        keys: vec![format!("remote:example.org/{token}"), format!("path:{path}")],
        root: path,
        branch: Some(token.clone()),
    };
    let event = Event { project: Some(raw.clone()), prompt_id: Some(token.clone()), ..event("s1", 1) };
    store
        .write(|tx| {
            tx.accept(key(1), &event, Millis(1))?;
            let project = tx.ensure_project(&raw, Millis(1))?;
            assert_eq!(tx.ensure_project(&raw, Millis(1))?, project, "the keys still identify it");
            tx.ensure_session(&NewSession {
                project: Some(project),
                branch: Some(&token),
                transcript_path: Some(&token),
                ..NewSession::new(&token, &ClientSessionId(token.clone()), Millis(1))
            })
        })
        .unwrap();
    store.close().unwrap();
    let bytes = std::fs::read(&scratch.path).unwrap();
    let wal = std::fs::read(claude_mem_core::paths::with_suffix(&scratch.path, "-wal")).unwrap_or_default();
    let found = [bytes, wal].concat().windows(token.len()).any(|window| window == token.as_bytes());
    assert!(!found, "a short field was stored raw");
}

#[test]
fn identifier_parts_are_indexed_and_removed_with_row() {
    let scratch = scratch();
    let (mut store, project, session) = furnished(&scratch.path);
    let new = observation("parse_snake_case failed", &["src/auth/session.rs"], 1);
    let id = store.write(|tx| tx.create_observation(&new, &place(project, session))).unwrap();
    for word in ["User", "getuserbyid", "snake", "auth", "session.rs", "gotcha"] {
        assert_eq!(matches(&store, word), 1, "searching {word}");
    }
    store.write(|tx| tx.forget(RowId::new(RowKind::Observation, id.0), Millis(2))).unwrap();
    assert_eq!(matches(&store, "snake"), 0);
    assert!(store.read().is_tombstone(&tombstone_for(&new.text.title, &new.text.narrative)).unwrap());
    assert_eq!(store.integrity_problems().unwrap(), Vec::<String>::new());
}

#[test]
fn undo_forget_restores_the_exact_row() {
    let scratch = scratch();
    let (mut store, project, session) = furnished(&scratch.path);
    let new = observation("one", &["src/a.rs"], 1);
    let id = store.write(|tx| tx.create_observation(&new, &place(project, session))).unwrap();
    let before = store.read().observation(id).unwrap();
    store.write(|tx| tx.forget(RowId::new(RowKind::Observation, id.0), Millis(2))).unwrap();
    assert!(store.read().observation(id).is_err());
    assert!(store.write(|tx| tx.undo_forget(RowId::new(RowKind::Observation, id.0))).unwrap());
    assert_eq!(store.read().observation(id).unwrap(), before);
    assert_eq!(matches(&store, "stale"), 1);
    assert_eq!(store.read().refs_of_file(project, "a.rs").unwrap().len(), 1);
    assert!(!store.read().is_tombstone(&tombstone_for(&new.text.title, &new.text.narrative)).unwrap());
}

#[test]
fn restored_memory_replaces_again_what_it_replaced() {
    let scratch = scratch();
    let (mut store, project, session) = furnished(&scratch.path);
    let [first, second, newer, newest] = ["one", "two", "three", "four"].map(|title| {
        store
            .write(|tx| tx.create_observation(&observation(title, &[], 1), &place(project, session)))
            .unwrap()
    });
    let replaced_by = |store: &Store, id| store.read().observation(id).unwrap().replaced_by;
    for older in [first, second] {
        store.write(|tx| tx.replace_observation(older, newer)).unwrap();
    }
    store.write(|tx| tx.forget(RowId::new(RowKind::Observation, newer.0), Millis(2))).unwrap();
    assert_eq!((replaced_by(&store, first), replaced_by(&store, second)), (None, None));
    store.write(|tx| tx.replace_observation(second, newest)).unwrap();
    assert!(store.write(|tx| tx.undo_forget(RowId::new(RowKind::Observation, newer.0))).unwrap());
    assert_eq!(replaced_by(&store, first), Some(newer));
    assert_eq!(replaced_by(&store, second), Some(newest), "another memory replaced it meanwhile");
}

#[test]
fn row_ids_are_never_reused() {
    let scratch = scratch();
    let (mut store, project, session) = furnished(&scratch.path);
    let made = |store: &mut Store, title: &str| {
        let new = observation(title, &[], 1);
        store.write(|tx| tx.create_observation(&new, &place(project, session))).unwrap()
    };
    let first = made(&mut store, "one");
    store.write(|tx| tx.forget(RowId::new(RowKind::Observation, first.0), Millis(2))).unwrap();
    let second = made(&mut store, "two");
    assert!(second > first, "{second:?} after {first:?}");
    // So a forgotten row can always be restored under its own id.
    let undone = store.write(|tx| tx.undo_forget(RowId::new(RowKind::Observation, first.0)));
    assert!(undone.unwrap());
    assert_eq!(store.read().observation(first).unwrap().text.title, "one");
    assert!(made(&mut store, "three") > second);
}

#[test]
fn duplicate_observation_within_window_is_one_row() {
    let scratch = scratch();
    let (mut store, project, session) = furnished(&scratch.path);
    let create = |store: &mut Store, at| {
        store
            .write(|tx| tx.create_observation(&observation("one", &[], at), &place(project, session)))
            .unwrap()
    };
    let first = create(&mut store, 0);
    assert_eq!(create(&mut store, 29_000), first);
    assert_ne!(create(&mut store, 31_000), first);
}

#[test]
fn same_text_in_another_project_is_another_row() {
    let scratch = scratch();
    let (mut store, project, _) = furnished(&scratch.path);
    let other = store.write(|tx| tx.ensure_project(&hint("other", &["path:/other"]), Millis(0)));
    let everywhere = NewRowContext { level: MemoryLevel::User, ..NewRowContext::default() };
    let of = |project| NewRowContext { project: Some(project), ..NewRowContext::default() };
    let mut ids: Vec<ObservationId> = [of(project), of(other.unwrap()), everywhere]
        .iter()
        .map(|place| {
            let new = observation("one", &[], 0);
            store.write(|tx| tx.create_observation(&new, place)).unwrap()
        })
        .collect();
    ids.dedup();
    assert_eq!(ids.len(), 3);
}

#[test]
fn files_match_by_suffix_and_folder() {
    let scratch = scratch();
    let (mut store, project, session) = furnished(&scratch.path);
    store
        .write(|tx| {
            tx.create_observation(
                &observation("one", &["src/auth/session.rs"], 1),
                &place(project, session),
            )?;
            tx.create_observation(
                &observation("two", &["src/oauth/session.rs"], 100_000),
                &place(project, session),
            )
        })
        .unwrap();
    let found = |asked: &str| {
        let filter = RowFilter { project: Some(project), files: vec![asked.into()], ..RowFilter::default() };
        let rows = store.read().observations(&filter, PageRequest::first(10)).unwrap().items;
        rows.into_iter().map(|row| row.text.title).collect::<Vec<_>>()
    };
    assert_eq!(found("session.rs"), ["two", "one"]);
    assert_eq!(found("auth/session.rs"), ["one"]);
    assert_eq!(found("src/auth/"), ["one"]);
    assert_eq!(found("src"), ["two", "one"]);
    assert_eq!(found("/home/me/shop/src/auth/session.rs"), ["one"]);
    assert_eq!(found("ession.rs"), Vec::<String>::new());
}

#[test]
fn pages_report_whether_more_follow() {
    let scratch = scratch();
    let (mut store, project, session) = furnished(&scratch.path);
    store
        .write(|tx| {
            for n in 0..5 {
                tx.create_observation(
                    &observation(&format!("number {n}"), &[], n * 1_000),
                    &place(project, session),
                )?;
            }
            Ok(())
        })
        .unwrap();
    let page = |offset, limit| {
        store.read().observations(&RowFilter::default(), PageRequest { offset, limit }).unwrap()
    };
    let first = page(0, 2);
    assert_eq!(
        first.items.iter().map(|row| row.text.title.as_str()).collect::<Vec<_>>(),
        ["number 4", "number 3"]
    );
    assert!(first.has_more);
    assert!(!page(4, 2).has_more);
    assert_eq!(page(9, 2).items, []);
}

#[test]
fn edit_replaces_indexed_text() {
    let scratch = scratch();
    let (mut store, project, session) = furnished(&scratch.path);
    let id = store
        .write(|tx| tx.create_observation(&observation("walrus", &[], 1), &place(project, session)))
        .unwrap();
    let edit = ObservationEdit {
        title: Some("penguin".into()),
        narrative: Some(String::new()),
        ..ObservationEdit::default()
    };
    store.write(|tx| tx.edit_observation(id, &edit, Millis(5))).unwrap();
    assert_eq!((matches(&store, "walrus"), matches(&store, "penguin")), (0, 1));
    assert_eq!(store.read().observation(id).unwrap().updated_at, Millis(5));
}

#[test]
fn merge_moves_rows_and_keys() {
    let scratch = scratch();
    let (mut store, project, session) = furnished(&scratch.path);
    store
        .write(|tx| tx.create_observation(&observation("one", &["a.rs"], 1), &place(project, session)))
        .unwrap();
    let into = store.write(|tx| tx.ensure_project(&hint("store", &["path:/src/store"]), Millis(1))).unwrap();
    store.write(|tx| tx.merge_projects(project, into)).unwrap();
    assert_eq!(store.read().project_by_keys(&["path:/src/shop".into()]).unwrap(), Some(into));
    assert_eq!(store.read().refs_of_file(into, "a.rs").unwrap().len(), 1);
    assert_eq!(store.read().observation(ObservationId(1)).unwrap().project, Some(into));
}

#[test]
fn long_text_is_split_at_sentences() {
    let sentence = "one two three four five six seven eight nine ten. ";
    let text = sentence.repeat(20);
    let pieces = documents::passages(&text);
    assert!(
        pieces.iter().all(|piece| piece.split_whitespace().count() <= 90 && piece.ends_with('.')),
        "{pieces:?}"
    );
    assert_eq!(pieces.iter().map(|piece| piece.split_whitespace().count()).sum::<usize>(), 200);
    assert_eq!(documents::passages("short"), ["short"]);
    assert_eq!(documents::passages("  "), Vec::<&str>::new());
}

#[test]
fn backup_is_a_complete_database() {
    let scratch = scratch();
    let (mut store, project, session) = furnished(&scratch.path);
    store
        .write(|tx| {
            tx.create_observation(&observation("one", &[], 1), &place(project, session))?;
            tx.create_summary(
                &NewSummary {
                    text: SummaryText { request: "fix it".into(), ..SummaryText::default() },
                    ..NewSummary::default()
                },
                session,
                &place(project, session),
            )
        })
        .unwrap();
    let copy = scratch.path.with_file_name("copy.db");
    assert!(store.back_up(&copy).unwrap().bytes > 0);
    let copy = Store::open(&copy).unwrap();
    assert_eq!(copy.read().counts().unwrap(), store.read().counts().unwrap());
    assert_eq!(matches(&copy, "fix"), 1);
}

#[test]
fn forgotten_text_is_not_in_backup() {
    let scratch = scratch();
    let (mut store, project, session) = furnished(&scratch.path);
    let gone = store
        .write(|tx| {
            let place = place(project, session);
            tx.create_observation(&observation("a remark on zebrafish", &[], 1), &place)
        })
        .unwrap();
    let holds = |name: &str, store: &Store| {
        let to = scratch.path.with_file_name(name);
        store.back_up(&to).unwrap();
        let bytes = std::fs::read(to).unwrap();
        bytes.windows(9).any(|window| window == b"zebrafish")
    };
    assert!(holds("before.db", &store));
    store.write(|tx| tx.forget(RowId::new(RowKind::Observation, gone.0), Millis(2))).unwrap();
    assert!(!holds("after.db", &store));
    assert!(
        store.write(|tx| tx.undo_forget(RowId::new(RowKind::Observation, gone.0))).unwrap(),
        "here it can still be brought back"
    );
}

#[test]
fn import_run_can_be_undone() {
    let scratch = scratch();
    let (mut store, project, session) = furnished(&scratch.path);
    let run = store.write(|tx| tx.start_import("transcripts", "/somewhere", Millis(1))).unwrap();
    store
        .write(|tx| {
            tx.create_observation(&observation("mine", &[], 1), &place(project, session))?;
            let imported = NewRowContext { import_run: Some(run), ..place(project, session) };
            tx.create_observation(&observation("theirs", &[], 1), &imported)
        })
        .unwrap();
    let undo = |store: &mut Store| store.write(|tx| tx.undo_import(run, 10)).unwrap();
    let first = UndoProgress { rows: 1, done: false };
    assert_eq!(undo(&mut store), first);
    assert_eq!(undo(&mut store), UndoProgress { rows: 0, done: true });
    let left = store.read().observations(&RowFilter::default(), PageRequest::first(9)).unwrap().items;
    assert_eq!(left.iter().map(|row| row.text.title.as_str()).collect::<Vec<_>>(), ["mine"]);
}

#[test]
fn second_connection_keeps_locks_of_the_first() {
    use std::os::unix::fs::MetadataExt;
    let scratch = scratch();
    let mut store = Store::open(&scratch.path).unwrap();
    store.write(|tx| tx.set_meta("a", "b")).unwrap();
    // `/proc/locks` lists the locks of all processes and repeats some while others change: only our own files count.
    let held = || -> BTreeSet<String> {
        let inode = format!(":{} ", std::fs::metadata(&scratch.path).unwrap().ino());
        let files = std::fs::read_dir("/proc/self/fdinfo").unwrap().flatten();
        let infos: Vec<String> = files.filter_map(|file| std::fs::read_to_string(file.path()).ok()).collect();
        let lines = infos.iter().flat_map(|info| info.lines());
        lines.filter(|line| line.starts_with("lock:") && line.contains(&inode)).map(str::to_owned).collect()
    };
    let before = held();
    assert!(!before.is_empty());
    drop(Store::open_read_only(&scratch.path).unwrap());
    Inbox::open(&scratch.path).unwrap().close().unwrap();
    assert_eq!(held(), before);
}

/// Stores the word `zebrafish` in every table that holds text.
fn said_in_a_session(store: &mut Store, project: ProjectId, session: SessionId) -> [i64; 4] {
    // Long enough to fill pages of its own.
    let text = "zebrafish swim in the salary table. ".repeat(400);
    let made = store.write(|tx| {
        let place = place(project, session);
        let key = key(9);
        let mut said = event("s", 1);
        said.body = EventBody::Prompt { text: text.clone(), private: false, source: TextSource::Prompt };
        tx.accept(key, &said, Millis(1))?;
        let lease = tx.lease_session("claude-code", &said.session, 9, LeaseId(1), Millis(2))?;
        tx.settle(LeaseId(1), &[lease.unwrap().events[0].id])?;
        let (prompt, _) = tx.create_prompt(&NewPrompt {
            session,
            project: Some(project),
            prompt_id: None,
            text: &text,
            private: false,
            origin: Origin::User,
            import_run: None,
            at: Millis(1),
        })?;
        let message = tx.create_final_message(&NewFinalMessage {
            session,
            project: Some(project),
            prompt_number: 1,
            text: &text,
            agent_id: None,
            agent_type: None,
            origin: Origin::Agent,
            import_run: None,
            at: Millis(1),
        })?;
        let mut new = observation("zebrafish", &[], 1);
        new.text.narrative.clone_from(&text);
        let memory = tx.create_observation(&new, &place)?;
        let summary = NewSummary {
            text: SummaryText { request: text.clone(), ..SummaryText::default() },
            ..NewSummary::default()
        };
        let summary = tx.create_summary(&summary, session, &place)?;
        tx.set_session_carry(session, &text)?;
        tx.set_session_rolling_summary(session, &text)?;
        Ok([memory.0, summary.0, prompt.0, message.0])
    });
    made.unwrap()
}

#[test]
fn purged_text_is_gone_from_the_file() {
    let scratch = scratch();
    let (mut store, project, session) = furnished(&scratch.path);
    let ids = said_in_a_session(&mut store, project, session);
    let hits = |store: &Store| {
        store.checkpoint().unwrap();
        let bytes = std::fs::read(&scratch.path).unwrap();
        bytes.windows(9).filter(|&word| word == b"zebrafish").count()
    };
    assert!(hits(&store) > 0);
    assert!(store.read().session(session).unwrap().user_prompt.is_some());
    for (kind, id) in RowKind::ALL.into_iter().zip(ids) {
        store.write(|tx| tx.forget(RowId::new(kind, id), Millis(2))).unwrap();
    }
    assert_eq!(store.read().session(session).unwrap().user_prompt, None);
    assert_eq!(store.read().session_carry(session).unwrap(), None);
    assert_eq!(store.read().session_rolling_summary(session).unwrap(), None);
    let purged = store.write(|tx| tx.purge_forgotten(Millis(3), 9)).unwrap();
    assert_eq!(purged, 4);
    assert_eq!(hits(&store), 0);
    assert!(store.is_fts_consistent().unwrap());
}

#[test]
fn session_is_named_after_first_remaining_prompt() {
    let scratch = scratch();
    let (mut store, project, session) = furnished(&scratch.path);
    let ask = |store: &mut Store, text: &str, at| {
        let new = NewPrompt {
            session,
            project: Some(project),
            prompt_id: None,
            text,
            private: false,
            origin: Origin::User,
            import_run: None,
            at: Millis(at),
        };
        store.write(|tx| tx.create_prompt(&new)).unwrap().0
    };
    let first = ask(&mut store, "first", 1);
    ask(&mut store, "second", 5);
    let name = |store: &Store| store.read().session(session).unwrap().user_prompt;
    store.write(|tx| tx.forget(RowId::new(RowKind::Prompt, first.0), Millis(2))).unwrap();
    assert_eq!(name(&store).as_deref(), Some("second"));
    store.write(|tx| tx.undo_forget(RowId::new(RowKind::Prompt, first.0))).unwrap();
    assert_eq!(name(&store).as_deref(), Some("first"));
    store.write(|tx| tx.set_session_carry(session, "first")).unwrap();
    let age_out = |store: &mut Store, before| {
        store
            .write(|tx| {
                let gone = tx.delete_prompts_before(Millis(before), 9)?;
                tx.clear_session_text_before(Millis(before), 9)?;
                Ok(gone)
            })
            .unwrap()
    };
    assert_eq!(age_out(&mut store, 5), 1);
    assert_eq!(name(&store).as_deref(), Some("second"));
    assert_eq!(age_out(&mut store, 1_000_000_000_000_000), 1);
    assert_eq!(name(&store), None);
    assert_eq!(store.read().session_carry(session).unwrap(), None);
}

#[test]
fn undo_forget_fails_without_its_session() {
    let scratch = scratch();
    let (mut store, project, _) = furnished(&scratch.path);
    let run = store.write(|tx| tx.start_import("transcripts", "/somewhere", Millis(1))).unwrap();
    let theirs = |store: &mut Store, name: &str, run| {
        let client_session = ClientSessionId(name.into());
        let new = NewSession {
            project: Some(project),
            origin: Origin::Import,
            import_run: run,
            ..NewSession::new("claude-code", &client_session, Millis(1))
        };
        store.write(|tx| tx.ensure_session(&new)).unwrap()
    };
    let session = theirs(&mut store, "theirs", Some(run));
    let ids = said_in_a_session(&mut store, project, session);
    for (kind, id) in RowKind::ALL.into_iter().zip(ids) {
        store.write(|tx| tx.forget(RowId::new(kind, id), Millis(2))).unwrap();
    }
    while !store.write(|tx| tx.undo_import(run, 10)).unwrap().done {}
    // Its row id is reused.
    assert_eq!(theirs(&mut store, "another", None), session);
    for (kind, id) in RowKind::ALL.into_iter().zip(ids) {
        let undone = store.write(|tx| tx.undo_forget(RowId::new(kind, id))).unwrap();
        assert_eq!(undone, kind == RowKind::Observation, "{kind:?}");
    }
    let back = store.read().observation(ObservationId(ids[0])).unwrap();
    assert_eq!(back.session, None);
}

#[test]
fn hook_without_time_left_gets_busy() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("x.db");
    assert!(matches!(Inbox::open_existing(&path), Err(StoreError::Missing)));
    drop(Store::open(&path).unwrap());
    let mut inbox = Inbox::open_existing(&path).unwrap();
    let number = |reads: &StoreReader<'_>, sql: &str| {
        reads.0.query_row(sql, [], |row| row.get::<_, u64>(0)).map_err(StoreError::from)
    };
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
                   SELECT count(*) FROM n";
    let asked = inbox.read_within(Duration::ZERO, |reads| number(reads, endless));
    assert!(matches!(asked, Err(StoreError::Busy)));
    let waits = inbox.read_within(Duration::ZERO, |reads| number(reads, "PRAGMA busy_timeout"));
    assert_eq!(waits.unwrap(), claude_mem_core::limits::HOOK_READ_BUSY_MS);
    // The same connection writes afterwards, without the time limit of reading.
    let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9999) \
                SELECT count(*) FROM n";
    let written = inbox.write(|w| {
        w.set_meta("a", "b")?;
        number(w, many)
    });
    assert_eq!(written.unwrap(), 9_999);
    inbox.close().unwrap();
}

#[test]
fn checkpoint_reports_a_blocking_reader() {
    let scratch = scratch();
    let (mut store, ..) = furnished(&scratch.path);
    let reader = Store::open_read_only(&scratch.path).unwrap();
    let kept = reader.read_snapshot(|reads| {
        reads.projects()?;
        store.write(|tx| tx.set_meta("a", "b"))?;
        store.conn.busy_timeout(std::time::Duration::ZERO)?;
        store.checkpoint()
    });
    assert!(!kept.unwrap());
    assert!(store.checkpoint().unwrap());
}

#[test]
fn unreadable_queued_project_is_an_error() {
    let scratch = scratch();
    let mut store = Store::open(&scratch.path).unwrap();
    let session = ClientSessionId("s1".into());
    let accepted = store.write(|tx| tx.accept(key(1), &event("s1", 1), Millis(1)));
    accepted.unwrap();
    let client = event("s1", 1).client;
    assert!(store.read().queued_session_info(&client, &session).is_ok());
    let garble = "UPDATE pending_messages SET body = json_set(body, '$.project', 7)";
    store.conn.execute_batch(garble).unwrap();
    assert!(store.read().queued_session_info(&client, &session).is_err());
}

#[test]
fn damaged_id_of_a_further_session_fails_the_export() {
    let db = scratch();
    let (mut store, project, session) = furnished(&db.path);
    store
        .write(|tx| {
            let id = tx.create_observation(&observation("Stale row", &[], 5), &place(project, session))?;
            let other = ClientSessionId("s2".into());
            let other = tx.ensure_session(&NewSession::new("codex", &other, Millis(2)))?;
            tx.add_observation_source(id, other)?;
            tx.tx.execute("UPDATE sdk_sessions SET uid = 'no id' WHERE id = ?1", [other.0])?;
            Ok(())
        })
        .unwrap();
    assert!(
        store.read().observation_records(None, 0, 10).is_err(),
        "it would be exported without its session"
    );
}
