use crate::{FtsQuery, RowChange, RowFilter, RowId, RowKind, Store};
use claude_mem_core::ids::{ObservationId, ProjectId};
use claude_mem_core::memory::{AccountText, SessionAccount};

/// A database with the first schema: two projects, a row at user level, a long row in parts.
const FIRST: &str = "
INSERT INTO projects (id, uid, name, created_at_epoch, last_active_epoch)
  VALUES (1, 'p1', 'shop', 1, 1), (2, 'p2', 'bakery', 1, 1);
INSERT INTO forgotten (kind, row_id, body, created_at_epoch) VALUES ('observation', 9, '{}', 1);
INSERT INTO observations (id, uid, project_id, level, type, title, narrative, origin, content_hash, created_at_epoch, updated_at_epoch)
  VALUES (1, 'o1', 1, 'project', 'bugfix', 'walrus one', '', 'agent', '1', 1, 1),
         (2, 'o2', 2, 'project', 'bugfix', 'walrus two', '', 'agent', '2', 2, 2),
         (3, 'o3', 1, 'user', 'decision', 'walrus for all', '', 'user', '3', 3, 3);
INSERT INTO passages (id, kind, row_id, part, project_id, created_at_epoch, text_hash, title, body, tags, split, scope)
  VALUES (1, 'observation', 1, 0, 1, 1, 11, 'walrus one', '', '', '', 'xproj1x xkindobservationx xtypebugfixx'),
         (2, 'observation', 1, 1, 1, 1, 0, '', 'a part', '', '', 'xproj1x xkindobservationx xtypebugfixx'),
         (3, 'observation', 2, 0, 2, 2, 12, 'walrus two', '', '', '', 'xproj2x xkindobservationx xtypebugfixx'),
         (4, 'observation', 3, 0, 1, 3, 13, 'walrus for all', '', '', '', 'xproj1x xkindobservationx xuserx xtypedecisionx');
";

#[allow(clippy::disallowed_methods, reason = "creates a database with an old schema")]
fn first_schema(path: &std::path::Path) {
    let conn = rusqlite::Connection::open(path).unwrap();
    conn.execute_batch(crate::schema::MIGRATIONS[0]).unwrap();
    conn.pragma_update(None, "application_id", super::super::open::APPLICATION_ID).unwrap();
    conn.pragma_update(None, "user_version", 1).unwrap();
    conn.execute_batch(FIRST).unwrap();
    conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).unwrap();
}

#[test]
fn first_schema_is_backed_up_and_migrated() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("claude-mem.db");
    first_schema(&path);
    let mut store = Store::open(&path).unwrap();
    assert!(path.with_extension("before-migration-1.db").exists());
    assert_eq!(store.integrity_problems().unwrap(), Vec::<String>::new());
    let found = |store: &Store, project: i64| -> Vec<i64> {
        let scope = RowFilter { project: Some(ProjectId(project)), user_level: true, ..RowFilter::default() };
        let reads = store.read();
        let mut rows = Vec::new();
        let spans = reads.corpus(&scope).unwrap().doc_id_ranges();
        reads
            .for_each_match(&FtsQuery::Term("walrus".into()), &spans, 100, |place| {
                rows.push(reads.doc_header(place).unwrap().unwrap().row_id);
            })
            .unwrap();
        rows
    };
    assert_eq!((found(&store, 1), found(&store, 2)), (vec![3, 1], vec![3, 2]));
    let text = store.read().document(RowId::new(RowKind::Observation, 3)).unwrap().unwrap();
    assert_eq!((text.project, text.text_hash), (Some(ProjectId(1)), 13));
    assert!(text.is_at_user_level());

    store.write(|tx| tx.merge_projects(ProjectId(2), ProjectId(1))).unwrap();
    assert_eq!(found(&store, 1), [3, 1, 2], "after the existing ones");
    store
        .write(|tx| tx.forget(RowId::new(RowKind::Observation, 2), claude_mem_core::clock::Millis(9)))
        .unwrap();
    assert_eq!(found(&store, 1), [3, 1]);
    assert_eq!(store.integrity_problems().unwrap(), Vec::<String>::new());
}

#[test]
fn changes_are_tracked_after_migration() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("claude-mem.db");
    first_schema(&path);
    let mut store = Store::open(&path).unwrap();
    let marks = store.read().change_cursor().unwrap();
    assert_eq!((marks.observation, marks.changed), (3, 0));
    store
        .write(|tx| {
            tx.replace_observation(ObservationId(1), ObservationId(3))?;
            tx.forget(RowId::new(RowKind::Observation, 2), claude_mem_core::clock::Millis(9))
        })
        .unwrap();
    let changed: Vec<_> = store.read().list_changes_after(0, 9).unwrap();
    let rows: Vec<_> = changed.into_iter().map(|(_, changed)| changed).collect();
    let row = |id| RowChange::Row(RowId::new(RowKind::Observation, id));
    assert_eq!(rows, [row(1), row(2)]);
}

/// A database with the third schema: an observation that was corrected, and one that was not.
const THIRD: &str = "
INSERT INTO projects (id, uid, name, created_at_epoch, last_active_epoch) VALUES (1, '01a1ea09-18af-7332-a2be-6fce6748dbc6', 'shop', 1, 1);
INSERT INTO sdk_sessions (id, uid, client, content_session_id, project_id, created_at_epoch, last_activity_epoch)
  VALUES (1, '01a1ea09-18af-7332-a2be-6fce6748dbc7', 'claude-code', 's', 1, 1, 1);
INSERT INTO observations (id, uid, session_id, project_id, type, title, origin, content_hash, created_at_epoch, updated_at_epoch)
  VALUES (1, '01a1ea09-18af-7332-a2be-6fce6748dbc8', 1, 1, 'bugfix', 'walrus one', 'agent', '1', 1, 9),
         (2, '01a1ea09-18af-7332-a2be-6fce6748dbc9', 1, 1, 'bugfix', 'walrus two', 'agent', '2', 2, 2);
INSERT INTO texts (id, kind, row_id, project_id, session_id, created_at_epoch, text_hash, title, body, tags, split)
  VALUES ((1 << 42) | (1 << 2), 'observation', 1, 1, 1, 1, 11, 'walrus one', '', '', ''),
         ((1 << 42) | (2 << 2), 'observation', 2, 1, 1, 2, 12, 'walrus two', '', '', '');
UPDATE observations SET title = 'walrus 1' WHERE id = 1;
";

#[test]
#[allow(clippy::disallowed_methods, reason = "creates a database with an old schema")]
fn third_schema_gains_accounts_and_keeps_its_index() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("claude-mem.db");
    let conn = rusqlite::Connection::open(&path).unwrap();
    for migration in &crate::schema::MIGRATIONS[..3] {
        conn.execute_batch(migration).unwrap();
    }
    conn.pragma_update(None, "application_id", super::super::open::APPLICATION_ID).unwrap();
    conn.pragma_update(None, "user_version", 3).unwrap();
    conn.execute_batch(THIRD).unwrap();
    conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).unwrap();
    drop(conn);

    let mut store = Store::open(&path).unwrap();
    assert!(path.with_extension("before-migration-3.db").exists());
    assert_eq!(store.integrity_problems().unwrap(), Vec::<String>::new());
    let rows = store.read().observations_by_id(&[ObservationId(1), ObservationId(2)]).unwrap();
    let told: Vec<(bool, u32)> = rows.iter().map(|row| (row.edited, row.source_count)).collect();
    assert_eq!(told, [(true, 1), (false, 1)], "what was corrected before is never overwritten");
    // Of the session that began, and of the corrected observation.
    assert_eq!(store.read().list_changes_after(0, 9).unwrap().len(), 2, "the change feed goes on");
    let account = SessionAccount {
        text: AccountText { purpose: "Count the walrus".into(), ..AccountText::default() },
        at: claude_mem_core::clock::Millis(5),
    };
    let place = crate::NewRowContext { project: Some(ProjectId(1)), ..crate::NewRowContext::default() };
    let id = store
        .write(|tx| tx.set_session_account(claude_mem_core::ids::SessionId(1), &account, &place))
        .unwrap()
        .unwrap();
    let reads = store.read();
    let scope = RowFilter { project: Some(ProjectId(1)), ..RowFilter::default() };
    let mut found = Vec::new();
    let spans = reads.corpus(&scope).unwrap().doc_id_ranges();
    reads
        .for_each_match(&FtsQuery::Term("walrus".into()), &spans, 100, |place| {
            let header = reads.doc_header(place).unwrap().unwrap();
            found.push(RowId::new(header.kind, header.row_id));
        })
        .unwrap();
    let row = |id| RowId::new(RowKind::Observation, id);
    assert_eq!(found, [row(1), row(2), RowId::new(RowKind::Account, id.0)]);
    store.write(|tx| tx.merge_observation(ObservationId(2), ObservationId(1))).unwrap();
    assert_eq!(store.read().document(row(2)).unwrap(), None, "the index follows a merge");
    assert_eq!(store.integrity_problems().unwrap(), Vec::<String>::new());
}
