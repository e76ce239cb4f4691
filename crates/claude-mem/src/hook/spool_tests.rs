use super::*;
use crate::hook::event::Body;

fn event(session: &str, at: i64) -> Event {
    Event {
        client: "claude-code".into(),
        session: ClientSessionId(session.into()),
        at: Micros(at),
        project: None,
        prompt_id: None,
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

fn put_event(dir: &DataDir, session: &str, at: i64) {
    let event = event(session, at);
    put(
        dir,
        event.at,
        &Spooled::event(key::of(&event, None), &event),
    )
    .unwrap();
}

fn names(dir: &DataDir) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(dir.spool())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn sessions_taken(dir: &DataDir, files_max: usize, taken: Taken) -> (Vec<String>, Report) {
    let mut sessions = Vec::new();
    let report = take_in(
        dir,
        files_max,
        || true,
        |spooled| {
            match spooled {
                Spooled::Event { event, .. } => sessions.push(event.session.0.clone()),
                Spooled::Ignore { session, .. } => sessions.push(format!("-{session}")),
            }
            taken
        },
    );
    (sessions, report.unwrap())
}

#[test]
fn what_was_put_comes_out_oldest_first_and_once() {
    let (_temp, dir) = sandbox();
    put_event(&dir, "b", 2_000_000);
    put_event(&dir, "a", 999);
    let ignore = Spooled::Ignore {
        client: "claude-code".into(),
        session: ClientSessionId("c".into()),
    };
    put(&dir, Micros(3_000_000), &ignore).unwrap();
    let (sessions, report) = sessions_taken(&dir, 10, Taken::Stored);
    assert_eq!(sessions, ["a", "b", "-c"]);
    assert_eq!(report.stored, 3);
    assert_eq!(names(&dir), [] as [&str; 0]);
    assert_eq!(sessions_taken(&dir, 10, Taken::Stored).0, [] as [&str; 0]);
}

#[test]
fn the_same_event_waits_once() {
    let (_temp, dir) = sandbox();
    put_event(&dir, "a", 1);
    put_event(&dir, "a", 1);
    assert_eq!(names(&dir).len(), 1);
}

#[test]
fn a_database_that_cannot_take_it_leaves_the_file() {
    let (_temp, dir) = sandbox();
    put_event(&dir, "a", 1);
    put_event(&dir, "b", 2);
    let (sessions, report) = sessions_taken(&dir, 10, Taken::Unable);
    assert_eq!((sessions.len(), report), (1, Report::default()));
    assert_eq!(names(&dir).len(), 2);
}

#[test]
fn what_cannot_be_read_or_stored_is_set_aside_and_never_tried_again() {
    let (_temp, dir) = sandbox();
    put_event(&dir, "a", 5);
    fs::write(
        dir.spool().join("00000000000000000001-x.json"),
        "{\"event\":",
    )
    .unwrap();
    fs::write(dir.spool().join(".00000000000000000001-y.json.77"), "{").unwrap();
    let (sessions, report) = sessions_taken(&dir, 10, Taken::Refused);
    assert_eq!((sessions.len(), report.set_aside), (1, 2));
    let ending = |wanted: &str| {
        let names = names(&dir);
        let ends = names.iter().filter_map(|name| Path::new(name).extension());
        ends.filter(|ending| *ending == wanted).count()
    };
    assert_eq!((ending("json"), ending("bad")), (0, 2));
}

#[test]
fn a_round_is_bounded_by_number_and_by_the_caller() {
    let (_temp, dir) = sandbox();
    for at in 0..5 {
        put_event(&dir, "a", at);
    }
    assert_eq!(sessions_taken(&dir, 2, Taken::Stored).0.len(), 2);
    let mut calls = 0;
    let report = take_in(
        &dir,
        10,
        || {
            calls += 1;
            calls <= 1
        },
        |_| Taken::Stored,
    );
    assert_eq!(report.unwrap().stored, 1);
}

#[test]
fn no_spool_is_an_empty_spool() {
    let (_temp, dir) = sandbox();
    assert_eq!(sessions_taken(&dir, 10, Taken::Stored).0, [] as [&str; 0]);
}
