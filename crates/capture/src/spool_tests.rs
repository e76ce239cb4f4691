use std::borrow::Cow;

use super::*;
use claude_mem_core::event::{Event, EventBody};
use claude_mem_core::event_key;
use claude_mem_core::ids::ClientSessionId;
use claude_mem_core::source::TextSource;

fn event(session: &str, at: i64) -> Event {
    Event::new(
        "claude-code",
        ClientSessionId(session.into()),
        Micros(at),
        EventBody::Prompt { text: "hello".into(), private: false, source: TextSource::Prompt },
    )
}

fn sandbox() -> (tempfile::TempDir, DataDir) {
    let temp = tempfile::tempdir().unwrap();
    let dir = DataDir::new(temp.path().join("data"));
    (temp, dir)
}

fn put_event(dir: &DataDir, session: &str, at: i64) {
    let event = event(session, at);
    let key = event_key::event_key(&event, None);
    write_entry(dir, event.at, &SpoolEntry::Event(key, Cow::Borrowed(&event))).unwrap();
}

fn names(dir: &DataDir) -> Vec<String> {
    let entries = fs::read_dir(dir.spool()).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn sessions(opened: &[PendingEntry]) -> Vec<&str> {
    let session = |opened: &PendingEntry| match &opened.entry {
        SpoolEntry::Event(_, event) => event.session.0.clone(),
        SpoolEntry::Ignore(_, session) => format!("-{session}"),
    };
    let names: Vec<String> = opened.iter().map(session).collect();
    names.into_iter().map(|name| &*name.leak()).collect()
}

#[test]
fn only_unfinished_files_are_removed() {
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
    assert_eq!(remove_unfinished(&dir, Micros(10)).unwrap(), 1);
    assert!(!spool.join(".00000000000000000005-ab.json.7").exists());
    assert_eq!(std::fs::read_dir(spool).unwrap().count(), 3);
}

#[test]
fn entries_are_read_oldest_first() {
    let (_temp, dir) = sandbox();
    put_event(&dir, "b", 2_000_000);
    put_event(&dir, "a", 999);
    let ignore = SpoolEntry::Ignore("claude-code".into(), ClientSessionId("c".into()));
    write_entry(&dir, Micros(3_000_000), &ignore).unwrap();
    let opened = read_pending(&dir, 10).unwrap();
    assert_eq!(sessions(&opened), ["a", "b", "-c"]);
    let SpoolEntry::Event(key, kept) = &opened[0].entry else {
        panic!("not an event");
    };
    assert_eq!(**kept, event("a", 999));
    assert_eq!(*key, event_key::event_key(kept, None));
}

#[test]
fn entry_stays_until_acknowledged() {
    let (_temp, dir) = sandbox();
    put_event(&dir, "a", 1);
    let (mine, others) = (read_pending(&dir, 10).unwrap(), read_pending(&dir, 10).unwrap());
    assert_eq!(sessions(&mine), sessions(&others));
    mine[0].acknowledge().unwrap();
    others[0].acknowledge().unwrap();
    assert_eq!(names(&dir), [] as [&str; 0]);
    assert!(read_pending(&dir, 10).unwrap().is_empty());
}

#[test]
fn same_event_is_one_file() {
    let (_temp, dir) = sandbox();
    put_event(&dir, "a", 1);
    put_event(&dir, "a", 1);
    assert_eq!(names(&dir).len(), 1);
}

#[test]
fn invalid_entry_is_set_aside_for_good() {
    let (_temp, dir) = sandbox();
    put_event(&dir, "a", 5);
    let broken = [
        ("00000000000000000001-x.json", r#"{"event":"#),
        ("00000000000000000002-x.json", r#"{"event":{"key":"short","event":{}}}"#),
        ("00000000000000000003-x.json", r#"{"unknown":{}}"#),
    ];
    for (name, text) in broken {
        fs::write(dir.spool().join(name), text).unwrap();
    }
    fs::write(dir.spool().join(".00000000000000000001-y.json.77"), "{").unwrap();
    let opened = read_pending(&dir, 10).unwrap();
    assert_eq!(sessions(&opened), ["a"]);
    opened[0].reject(&dir, &StoreError::Missing).unwrap();
    assert!(read_pending(&dir, 10).unwrap().is_empty());
    let names = names(&dir);
    let bad = names.iter().filter_map(|name| Path::new(name).extension());
    assert_eq!(bad.filter(|ending| *ending == "bad").count(), 4);
}

#[test]
fn oversized_event_loses_its_contents() {
    let (_temp, dir) = sandbox();
    let long = "x".repeat(SPOOL_FILE_BYTES_MAX as usize);
    let mut event = event("a", 1);
    event.body = EventBody::ToolUse {
        tool: "Bash".into(),
        tool_use_id: None,
        input: long.clone().into(),
        output: long.into(),
        failed: false,
        duration_ms: None,
    };
    let key = event_key::event_key(&event, None);
    write_entry(&dir, event.at, &SpoolEntry::Event(key, Cow::Borrowed(&event))).unwrap();
    let opened = read_pending(&dir, 10).unwrap();
    assert_eq!(sessions(&opened), ["a"]);
    let SpoolEntry::Event(known, event) = &opened[0].entry else {
        panic!("not an event");
    };
    assert!(event.cut && *known == key);
}

#[test]
fn unreadable_entry_stays() {
    use std::os::unix::fs::symlink;
    let (_temp, dir) = sandbox();
    put_event(&dir, "a", 5);
    // Opening it fails with ELOOP, not because it is missing.
    let stuck = dir.spool().join("00000000000000000001-x.json");
    symlink(&stuck, &stuck).unwrap();
    assert_eq!(sessions(&read_pending(&dir, 1).unwrap()), ["a"]);
    fs::remove_file(&read_pending(&dir, 1).unwrap()[0].path).unwrap();
    assert!(read_pending(&dir, 1).is_err());
    assert_eq!(names(&dir), ["00000000000000000001-x.json"]);
}

#[test]
fn entry_set_aside_by_another_version_is_retried() {
    let (_temp, dir) = sandbox();
    put_event(&dir, "a", 1);
    put_event(&dir, "b", 2);
    for (path, version) in pending_files(&dir.spool()).unwrap().iter().zip(["", ".0.0.0"]) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        fs::rename(path, path.with_file_name(format!("{name}{version}.bad"))).unwrap();
    }
    fs::write(dir.spool().join("00000000000000000003-x.0.0.0.bad"), "{").unwrap();
    let opened = read_pending(&dir, 10).unwrap();
    assert_eq!(sessions(&opened), ["a", "b"]);
    opened[0].reject(&dir, &StoreError::Missing).unwrap();
    opened[1].acknowledge().unwrap();
    assert!(read_pending(&dir, 10).unwrap().is_empty());
    assert_eq!(names(&dir).len(), 2);
}

#[test]
fn read_pending_respects_its_limit() {
    let (_temp, dir) = sandbox();
    for at in 0..5 {
        put_event(&dir, "a", at);
    }
    assert_eq!(read_pending(&dir, 2).unwrap().len(), 2);
}

#[test]
fn missing_spool_is_empty() {
    let (_temp, dir) = sandbox();
    assert!(read_pending(&dir, 10).unwrap().is_empty());
}

#[test]
fn newest_event_is_told_by_client() {
    let (_temp, dir) = sandbox();
    assert_eq!(newest_event(&dir, None).unwrap(), None);
    put_event(&dir, "s", 1_000);
    put_event(&dir, "s", 3_000);
    let other = Event { client: "codex".into(), ..event("t", 2_000) };
    let key = event_key::event_key(&other, None);
    write_entry(&dir, other.at, &SpoolEntry::Event(key, Cow::Owned(other))).unwrap();
    fs::write(dir.spool().join("00000000000000009000-x.json"), "{").unwrap();
    let newest = |client| newest_event(&dir, client).unwrap();
    assert_eq!(newest(None), Some(Micros(3_000)));
    assert_eq!(newest(Some("codex")), Some(Micros(2_000)));
    assert_eq!(newest(Some("opencode")), None);
    assert_eq!(names(&dir).len(), 4, "nothing is set aside");
}
