use std::fs;

use super::*;
use crate::hook::event::Body;

fn event(at: i64) -> Event {
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

fn deliver(dir: &DataDir, at: i64) -> Result<Delivered, Lost> {
    let own = event(at);
    super::event(dir, key::of(&own, None), &own, Millis(1))
}

fn spooled(dir: &DataDir) -> usize {
    fs::read_dir(dir.spool()).map_or(0, Iterator::count)
}

fn waiting(dir: &DataDir) -> usize {
    let store = crate::store::Store::open(&dir.db()).unwrap();
    store.read().counts().unwrap().queue.waiting as usize
}

#[test]
fn the_first_event_makes_the_directory_and_the_database() {
    let (_temp, dir) = sandbox();
    assert!(matches!(deliver(&dir, 1), Ok(Delivered::Stored)));
    assert!(matches!(deliver(&dir, 1), Ok(Delivered::Stored)));
    assert_eq!(waiting(&dir), 1);
    assert_eq!(spooled(&dir), 0);
}

#[test]
fn what_a_damaged_database_cannot_take_waits_for_a_sound_one() {
    let (_temp, dir) = sandbox();
    dir.create().unwrap();
    fs::write(dir.db(), "this is not a database").unwrap();
    assert!(matches!(
        deliver(&dir, 1),
        Ok(Delivered::Spooled(StoreError::Damaged))
    ));
    assert!(matches!(deliver(&dir, 2), Ok(Delivered::Spooled(_))));
    assert_eq!(spooled(&dir), 2);
    assert_eq!(fs::read(dir.db()).unwrap(), b"this is not a database");

    fs::remove_file(dir.db()).unwrap();
    assert!(matches!(deliver(&dir, 3), Ok(Delivered::Stored)));
    assert_eq!(spooled(&dir), 0);
    assert_eq!(waiting(&dir), 3);
}

#[test]
fn an_ignored_session_waits_in_the_spool_like_an_event() {
    let (_temp, dir) = sandbox();
    dir.create().unwrap();
    fs::write(dir.db(), "damaged").unwrap();
    let session = ClientSessionId("s".into());
    let ignored = ignore_session(&dir, "claude-code", &session, Micros(1));
    assert!(matches!(ignored, Ok(Delivered::Spooled(_))));
    fs::remove_file(dir.db()).unwrap();
    assert!(matches!(deliver(&dir, 2), Ok(Delivered::Stored)));
    assert_eq!(spooled(&dir), 0);
}

#[test]
fn where_nothing_can_be_written_the_loss_is_said() {
    let (temp, _) = sandbox();
    fs::write(temp.path().join("file"), "").unwrap();
    let dir = DataDir::new(temp.path().join("file"));
    assert!(deliver(&dir, 1).is_err());
}

#[test]
fn nobody_listening_is_no_error() {
    let (temp, _) = sandbox();
    wake(&temp.path().join("none.sock"));
    let path = temp.path().join("worker.sock");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    wake(&path);
    let (mut call, _) = listener.accept().unwrap();
    let mut said = String::new();
    io::Read::read_to_string(&mut call, &mut said).unwrap();
    assert_eq!(said, "wake\n");
}
