use super::*;

fn head(payload: &str) -> Option<Head> {
    decode(payload).ok().map(|wire| Head::of(&wire))
}

#[test]
fn a_sound_payload_gives_its_fields_and_leaves_its_contents_unread() {
    let payload = r#"{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash",
        "tool_use_id":"t1","duration_ms":12.7,"tool_input":{"command":"ls"},"new_field":[1,2]}"#;
    let wire = decode(payload).unwrap();
    assert_eq!(wire.tool_input.unwrap().get(), r#"{"command":"ls"}"#);
    assert!(wire.tool_response.is_none());
    let head = Head::of(&wire);
    assert_eq!(head.session.as_deref(), Some("s"));
    assert_eq!(head.event.as_deref(), Some("PostToolUse"));
    assert_eq!(head.tool.as_deref(), Some("Bash"));
    assert_eq!(head.tool_use_id.as_deref(), Some("t1"));
    assert_eq!(head.duration_ms, Some(12));
}

#[test]
fn a_field_of_an_unexpected_type_is_a_missing_one() {
    let head =
        head(r#"{"session_id":"s","cwd":null,"prompt_id":5,"agent_id":{},"duration_ms":"x"}"#);
    let head = head.unwrap();
    assert_eq!(head.session.as_deref(), Some("s"));
    let missing = [head.cwd, head.prompt_id, head.agent_id];
    assert_eq!(missing, [None, None, None]);
    assert_eq!(head.duration_ms, None);
}

#[test]
fn what_follows_the_value_is_not_looked_at() {
    for payload in [
        "{\"session_id\":\"s\"}\n",
        "\u{feff}{\"session_id\":\"s\"} garbage {",
    ] {
        assert_eq!(head(payload).unwrap().session.as_deref(), Some("s"));
    }
}

#[test]
fn a_name_that_occurs_twice_is_not_sound_and_the_first_one_is_scanned() {
    let payload = r#"{"session_id":"a","session_id":"b"}"#;
    assert!(decode(payload).is_err());
    assert_eq!(
        Head::scanned(payload.as_bytes()).session.as_deref(),
        Some("a")
    );
}

#[test]
fn depth_is_no_problem_and_nonsense_is_an_error() {
    let deep = format!(
        r#"{{"session_id":"s","tool_input":{}{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert_eq!(head(&deep).unwrap().session.as_deref(), Some("s"));
    for payload in [
        "",
        "null",
        "[]",
        "5",
        "\"x\"",
        "{",
        "{\"a\":\"\u{0}\"}",
        "{'a':1}",
    ] {
        assert!(decode(payload).is_err(), "{payload:?}");
    }
}

#[test]
fn an_overlong_id_is_no_id() {
    let payload = format!(r#"{{"session_id":"{}"}}"#, "x".repeat(FIELD_BYTES_MAX));
    assert_eq!(head(&payload).unwrap().session, None);
}
