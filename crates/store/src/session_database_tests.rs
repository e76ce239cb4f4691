use super::*;

#[allow(clippy::disallowed_methods, reason = "makes a client's database")]
fn client_database(path: &Path) -> Connection {
    let conn = Connection::open(path).unwrap();
    conn.execute_batch(
        "PRAGMA journal_mode = WAL;
         CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, version TEXT, time_created INTEGER,
           time_updated INTEGER);
         CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
         CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
         INSERT INTO session VALUES ('s-2', NULL, '/work/b', '1', 20, 29), ('s-1', NULL, '/work/a', '1', 10, 19),
           ('s-3', 's-1', '/work/a', '1', 11, 12);
         INSERT INTO message VALUES ('m-2', 's-1', 12, '{\"role\":\"assistant\"}'),
           ('m-1', 's-1', 11, '{\"role\":\"user\"}'), ('m-3', 's-1', 13, 'not JSON');
         INSERT INTO part VALUES ('p-2', 'm-1', 's-1', 11, '{\"type\":\"text\",\"text\":\"b\"}'),
           ('p-1', 'm-1', 's-1', 11, '{\"type\":\"text\",\"text\":\"a\"}'), ('p-3', 'm-2', 's-1', 12, '{half');",
    )
    .unwrap();
    conn
}

fn ids(database: &SessionDatabase) -> Vec<String> {
    database.sessions().unwrap().into_iter().map(|session| session.id).collect()
}

#[test]
fn sessions_and_messages_are_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("client.db");
    drop(client_database(&path));
    let database = SessionDatabase::open(&path).unwrap().unwrap();
    assert_eq!(ids(&database), ["s-1", "s-2"], "oldest first, without the subagent's");
    let messages = database.messages("s-1").unwrap();
    let messages: Vec<Value> = messages.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let text = |text: &str| json!({ "type": "text", "text": text });
    assert_eq!(
        messages,
        [
            json!({ "id": "m-1", "role": "user", "at": 11, "parts": [text("a"), text("b")] }),
            json!({ "id": "m-2", "role": "assistant", "at": 12, "parts": [] }),
            json!({ "id": "m-3", "role": null, "at": 13, "parts": [] }),
        ]
    );
}

#[test]
fn database_of_a_running_client_is_read_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("client.db");
    let client = client_database(&path);
    let log = std::fs::read(with_suffix(&path, "-wal")).unwrap();
    assert!(!log.is_empty(), "the rows are in the log");
    let database = SessionDatabase::open(&path).unwrap().unwrap();
    assert_eq!(ids(&database).len(), 2);
    client.execute("INSERT INTO session VALUES ('s-4', NULL, '/work/c', '1', 30, 31)", []).unwrap();
    assert_eq!(ids(&database).len(), 3, "the client goes on");
    drop(database);
    drop(client);
    let before = std::fs::read(&path).unwrap();
    assert_eq!(ids(&SessionDatabase::open(&path).unwrap().unwrap()).len(), 3);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing was created beside it");
}

#[test]
#[allow(clippy::disallowed_methods, reason = "makes a database of another layout")]
fn other_files_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("other.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE session (id TEXT)").unwrap();
    assert!(SessionDatabase::open(&path).unwrap().is_none());
    std::fs::write(dir.path().join("text.db"), "not a database, whatever its name says".repeat(99)).unwrap();
    assert!(SessionDatabase::open(&dir.path().join("text.db")).is_err());
    assert!(matches!(SessionDatabase::open(&dir.path().join("none.db")), Err(StoreError::Missing)));
}
