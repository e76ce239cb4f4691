use std::fmt::Write;

use super::*;

fn assistant(id: &str, text: &str) -> String {
    format!(
        r#"{{"type":"assistant","uuid":"{id}","message":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#
    )
}

fn last(lines: &[String]) -> Option<LastMessage> {
    last_message_in(lines.join("\n").as_bytes(), "s", None)
}

const TOOL_RESULT: &str =
    r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t"}]}}"#;
const TOOL_USE: &str =
    r#"{"type":"assistant","uuid":"u","message":{"content":[{"type":"tool_use","id":"t"}]}}"#;
const PROMPT: &str = r#"{"type":"user","message":{"content":"Do it."}}"#;

#[test]
fn last_message_is_found_before_other_records() {
    let lines = [
        PROMPT.to_owned(),
        assistant("a", "Working."),
        TOOL_USE.to_owned(),
        TOOL_RESULT.to_owned(),
        assistant("b", "Done."),
        r#"{"type":"system","subtype":"stop_hook"}"#.to_owned(),
        "not json".to_owned(),
        String::new(),
    ];
    let found = last(&lines).unwrap();
    assert_eq!((found.text.as_str(), found.id.as_deref()), ("Done.", Some("b")));
}

#[test]
fn message_of_an_earlier_turn_is_not_used() {
    let lines = [assistant("a", "Earlier."), PROMPT.to_owned(), TOOL_USE.to_owned()];
    assert_eq!(last(&lines), None);
}

#[test]
fn only_the_tail_is_read() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("transcript.jsonl");
    let mut text = assistant("far", "Long ago.") + "\n";
    while (text.len() as u64) < 2 * TRANSCRIPT_TAIL_BYTES {
        writeln!(text, r#"{{"type":"system","padding":"{}"}}"#, "x".repeat(1000)).unwrap();
    }
    std::fs::write(&path, &text).unwrap();
    assert_eq!(last_message(&path, "s", None).unwrap(), None);
    text.push_str(&assistant("near", "Now."));
    std::fs::write(&path, &text).unwrap();
    assert_eq!(last_message(&path, "s", None).unwrap().unwrap().text, "Now.");
    assert!(last_message(&temp.path().join("none"), "s", None).is_err());
}

#[test]
fn warmup_is_recognised_by_its_first_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("agent-a.jsonl");
    let user = |text: &str| format!(r#"{{"type":"user","message":{{"content":"{text}"}}}}"#);
    for (text, want) in [
        (format!("{}\n{}\n", user("Warmup"), assistant("a", "ok")), true),
        (user("Warmup"), true),
        (format!("{}\n", user("Warmup the cache of the tests")), false),
        (format!("{}\n{}\n", user("Find it"), user("Warmup")), false),
        (String::new(), false),
        ("not json".to_owned(), false),
    ] {
        std::fs::write(&path, &text).unwrap();
        assert_eq!(is_warmup(&path), want, "{text}");
    }
    assert!(!is_warmup(&dir.path().join("nowhere")));
}

#[test]
fn pipe_is_not_waited_for() {
    let temp = tempfile::tempdir().unwrap();
    let pipe = temp.path().join("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    assert!(last_message(&pipe, "s", None).is_err());
    assert!(!is_warmup(&pipe));
}

/// A translator for lines like `{"type":"x","said":"…"}`.
fn translate_said(line: &str) -> Option<Vec<serde_json::Value>> {
    let line: serde_json::Value = serde_json::from_str(line).ok()?;
    let message = serde_json::json!({ "content": line["said"], "stop_reason": line["stop"] });
    let said = || serde_json::json!({ "type": "assistant", "message": message });
    Some(line["said"].as_str().map(|_| said()).into_iter().collect())
}

#[test]
fn lines_of_other_clients_are_translated() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("session-1");
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("events.jsonl");
    std::fs::write(&path, "{\"type\":\"x\",\"said\":\"Done.\"}\n{\"type\":\"y\"}\nhalf of a \"type\"")
        .unwrap();
    let read = |session: &str| last_message(&path, session, Some(translate_said)).unwrap();
    assert_eq!(read("session-1").unwrap().text, "Done.");
    assert_eq!(read("session-2"), None, "the path must name the session");
    let mid_turn = "{\"type\":\"x\",\"said\":\"I look.\",\"stop\":\"tool_use\"}\n";
    std::fs::write(&path, mid_turn).unwrap();
    assert_eq!(read("session-1"), None, "the last message is not written yet");
}

#[test]
fn transcript_of_another_session_is_not_read() {
    let named =
        |session: &str| assistant("a", "Said.").replacen('{', &format!(r#"{{"sessionId":"{session}","#), 1);
    assert!(last(&[named("s")]).is_some());
    assert_eq!(last(&[named("other")]), None);
    assert_eq!(last(&[assistant("a", "Said."), named("other")]), None);
}
