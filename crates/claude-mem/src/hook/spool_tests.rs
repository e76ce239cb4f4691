use super::*;

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
    let key = key::of(&event, None);
    put(dir, event.at, &Letter::Event(key, Cow::Borrowed(&event))).unwrap();
}

fn names(dir: &DataDir) -> Vec<String> {
    let entries = fs::read_dir(dir.spool()).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn sessions(opened: &[Opened]) -> Vec<&str> {
    let session = |opened: &Opened| match &opened.letter {
        Letter::Event(_, event) => event.session.0.clone(),
        Letter::Ignore(_, session) => format!("-{session}"),
    };
    let names: Vec<String> = opened.iter().map(session).collect();
    names.into_iter().map(|name| &*name.leak()).collect()
}

#[test]
fn what_a_process_died_over_is_swept_and_what_waits_is_not() {
    let temporary = tempfile::tempdir().unwrap();
    let dir = DataDir::new(temporary.path());
    dir.create().unwrap();
    let spool = dir.spool();
    for name in [
        ".00000000000000000005-ab.json.7",
        ".00000000000000000050-ab.json.7",
        "00000000000000000005-cd.json",
        "00000000000000000005-ef.bad",
    ] {
        std::fs::write(spool.join(name), "{").unwrap();
    }
    assert_eq!(sweep(&dir, Micros(10)).unwrap(), 1);
    assert!(!spool.join(".00000000000000000005-ab.json.7").exists());
    assert_eq!(std::fs::read_dir(spool).unwrap().count(), 3);
}

#[test]
fn what_was_put_in_comes_out_oldest_first() {
    let (_temp, dir) = sandbox();
    put_event(&dir, "b", 2_000_000);
    put_event(&dir, "a", 999);
    let ignore = Letter::Ignore("claude-code".into(), ClientSessionId("c".into()));
    put(&dir, Micros(3_000_000), &ignore).unwrap();
    let opened = open(&dir, 10).unwrap();
    assert_eq!(sessions(&opened), ["a", "b", "-c"]);
    let Letter::Event(key, kept) = &opened[0].letter else {
        panic!("not an event");
    };
    assert_eq!(**kept, event("a", 999));
    assert_eq!(*key, key::of(kept, None));
}

#[test]
fn a_letter_lies_there_until_it_is_done() {
    let (_temp, dir) = sandbox();
    put_event(&dir, "a", 1);
    let (mine, others) = (open(&dir, 10).unwrap(), open(&dir, 10).unwrap());
    assert_eq!(sessions(&mine), sessions(&others));
    mine[0].done().unwrap();
    others[0].done().unwrap();
    assert_eq!(names(&dir), [] as [&str; 0]);
    assert!(open(&dir, 10).unwrap().is_empty());
}

#[test]
fn the_same_event_waits_once() {
    let (_temp, dir) = sandbox();
    put_event(&dir, "a", 1);
    put_event(&dir, "a", 1);
    assert_eq!(names(&dir).len(), 1);
}

#[test]
fn what_cannot_be_read_or_stored_is_set_aside_and_never_tried_again() {
    let (_temp, dir) = sandbox();
    put_event(&dir, "a", 5);
    let broken = [
        ("00000000000000000001-x.json", r#"{"event":"#),
        (
            "00000000000000000002-x.json",
            r#"{"event":{"key":"short","event":{}}}"#,
        ),
        ("00000000000000000003-x.json", r#"{"unknown":{}}"#),
    ];
    for (name, text) in broken {
        fs::write(dir.spool().join(name), text).unwrap();
    }
    fs::write(dir.spool().join(".00000000000000000001-y.json.77"), "{").unwrap();
    let opened = open(&dir, 10).unwrap();
    assert_eq!(sessions(&opened), ["a"]);
    opened[0].refuse(&dir, &StoreError::Missing).unwrap();
    assert!(open(&dir, 10).unwrap().is_empty());
    let names = names(&dir);
    let bad = names.iter().filter_map(|name| Path::new(name).extension());
    assert_eq!(bad.filter(|ending| *ending == "bad").count(), 4);
}

#[test]
fn an_event_too_long_for_any_reader_is_put_in_without_its_contents() {
    let (_temp, dir) = sandbox();
    let long = "x".repeat(SPOOL_FILE_BYTES_MAX as usize);
    let mut event = event("a", 1);
    event.body = Body::ToolUse {
        tool: "Bash".into(),
        tool_use_id: None,
        input: long.clone().into(),
        output: long.into(),
        failed: false,
        duration_ms: None,
    };
    let key = key::of(&event, None);
    put(&dir, event.at, &Letter::Event(key, Cow::Borrowed(&event))).unwrap();
    let opened = open(&dir, 10).unwrap();
    assert_eq!(sessions(&opened), ["a"]);
    let Letter::Event(known, event) = &opened[0].letter else {
        panic!("not an event");
    };
    assert!(event.cut && *known == key);
}

#[test]
fn a_letter_that_cannot_be_read_just_now_stays_where_it_is() {
    use std::os::unix::fs::symlink;
    let (_temp, dir) = sandbox();
    put_event(&dir, "a", 5);
    // Opening it fails, and not because it is gone: ELOOP.
    let stuck = dir.spool().join("00000000000000000001-x.json");
    symlink(&stuck, &stuck).unwrap();
    assert_eq!(sessions(&open(&dir, 1).unwrap()), ["a"]);
    fs::remove_file(&open(&dir, 1).unwrap()[0].path).unwrap();
    assert!(open(&dir, 1).is_err());
    assert_eq!(names(&dir), ["00000000000000000001-x.json"]);
}

#[test]
fn what_another_version_set_aside_is_tried_once_more() {
    let (_temp, dir) = sandbox();
    put_event(&dir, "a", 1);
    put_event(&dir, "b", 2);
    for (path, version) in waiting(&dir.spool()).unwrap().iter().zip(["", ".0.0.0"]) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        fs::rename(path, path.with_file_name(format!("{name}{version}.bad"))).unwrap();
    }
    fs::write(dir.spool().join("00000000000000000003-x.0.0.0.bad"), "{").unwrap();
    let opened = open(&dir, 10).unwrap();
    assert_eq!(sessions(&opened), ["a", "b"]);
    opened[0].refuse(&dir, &StoreError::Missing).unwrap();
    opened[1].done().unwrap();
    assert!(open(&dir, 10).unwrap().is_empty());
    assert_eq!(names(&dir).len(), 2);
}

#[test]
fn no_more_are_opened_than_were_asked_for() {
    let (_temp, dir) = sandbox();
    for at in 0..5 {
        put_event(&dir, "a", at);
    }
    assert_eq!(open(&dir, 2).unwrap().len(), 2);
}

#[test]
fn no_spool_is_an_empty_spool() {
    let (_temp, dir) = sandbox();
    assert!(open(&dir, 10).unwrap().is_empty());
}
