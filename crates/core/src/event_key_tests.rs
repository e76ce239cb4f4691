use serde_json::json;

use super::*;
use crate::clock::Micros;
use crate::ids::ClientSessionId;

const OF: SessionEventKeys<'_> = SessionEventKeys { client: "claude-code", session: "s1" };

fn event(body: EventBody) -> Event {
    Event::new("claude-code", ClientSessionId("s1".into()), Micros(7), body)
}

fn tool(id: Option<&str>, output: serde_json::Value, failed: bool) -> Event {
    event(EventBody::ToolUse {
        tool: "Bash".into(),
        tool_use_id: id.map(Into::into),
        input: json!({"command": "ls"}),
        output,
        failed,
        duration_ms: None,
    })
}

#[test]
fn key_bytes_are_stable() {
    assert_eq!(hex(&OF.tool_result("toolu_1").0), "2c9ebe99045adf83cfe80ff57ed77cd7");
    assert_eq!(from_hex(&hex(&OF.prompt(Some("p"), "").0)), Some(OF.prompt(Some("p"), "").0));
}

#[test]
fn digest_separates_parts() {
    assert_ne!(digest(&[b"ab", b"c"]), digest(&[b"a", b"bc"]));
    assert_ne!(digest(&[b"ab"]), digest(&[b"ab", b""]));
}

#[test]
fn tool_use_id_gives_one_key() {
    let well = event_key(&tool(Some("t1"), json!({"stdout": ""}), false), None);
    let badly = event_key(&tool(Some("t1"), json!("Exit code 1"), true), None);
    assert_eq!(well, badly);
    assert_eq!(well, OF.tool_result("t1"));
    assert_ne!(well, OF.tool_result("t2"));
}

#[test]
fn tool_call_without_id_is_keyed_by_content() {
    let one = event_key(&tool(None, json!({"a": 1, "b": 2}), false), None);
    let same: serde_json::Value = serde_json::from_str(r#"{"b":2, "a":1}"#).unwrap();
    assert_eq!(one, event_key(&tool(None, same, false), None));
    assert_ne!(one, event_key(&tool(None, json!({"a": 1}), false), None));
}

#[test]
fn stops_of_one_turn_differ_by_message() {
    let stop = |prompt_id: Option<&str>, message: Option<&str>, message_id| {
        let mut event = event(EventBody::Stop { last_message: message.map(Into::into) });
        event.prompt_id = prompt_id.map(Into::into);
        event_key(&event, message_id)
    };
    assert_ne!(stop(Some("p"), Some("Done."), None), stop(Some("p"), Some("Done again."), None));
    assert_eq!(stop(Some("p"), Some("Done.\n"), None), stop(Some("p"), Some("Done."), Some("m")));
    // Two turns of an old client that end with the same text have different keys.
    assert_ne!(stop(None, Some("Done."), Some("m1")), stop(None, Some("Done."), Some("m2")));
}

#[test]
fn starts_and_ends_are_keyed_by_time() {
    let start = |at| {
        let mut event = event(EventBody::SessionStart { source: "resume".into() });
        event.at = Micros(at);
        event_key(&event, None)
    };
    assert_ne!(start(1), start(2));
    assert_eq!(start(1), start(1));
}

#[test]
fn keys_differ_by_session_and_client() {
    let other_session = SessionEventKeys { session: "s2", ..OF };
    let other_client = SessionEventKeys { client: "codex", ..OF };
    assert_ne!(OF.tool_result("t"), other_session.tool_result("t"));
    assert_ne!(OF.tool_result("t"), other_client.tool_result("t"));
}
