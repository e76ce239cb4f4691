use super::*;

fn head(payload: &str) -> Option<PayloadHeader> {
    decode_payload(payload).ok().map(|wire| PayloadHeader::from_payload(&wire))
}

#[test]
fn valid_payload_has_fields_and_raw_contents() {
    let payload = r#"{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash",
        "tool_use_id":"t1","duration_ms":12.7,"tool_input":{"command":"ls"},"new_field":[1,2]}"#;
    let wire = decode_payload(payload).unwrap();
    assert_eq!(wire.tool_input.unwrap().get(), r#"{"command":"ls"}"#);
    assert!(wire.tool_response.is_none());
    let head = PayloadHeader::from_payload(&wire);
    assert_eq!(head.session.as_deref(), Some("s"));
    assert_eq!(head.event.as_deref(), Some("PostToolUse"));
    assert_eq!(head.tool.as_deref(), Some("Bash"));
    assert_eq!(head.tool_use_id.as_deref(), Some("t1"));
    assert_eq!(head.duration_ms, Some(12));
}

#[test]
fn field_of_unexpected_type_is_missing() {
    let head = head(r#"{"session_id":"s","cwd":null,"prompt_id":5,"agent_id":{},"duration_ms":"x"}"#);
    let head = head.unwrap();
    assert_eq!(head.session.as_deref(), Some("s"));
    let missing = [head.cwd, head.prompt_id, head.agent_id];
    assert_eq!(missing, [None, None, None]);
    assert_eq!(head.duration_ms, None);
}

#[test]
fn bytes_after_the_value_are_ignored() {
    for payload in ["{\"session_id\":\"s\"}\n", "\u{feff}{\"session_id\":\"s\"} garbage {"] {
        assert_eq!(head(payload).unwrap().session.as_deref(), Some("s"));
    }
}

#[test]
fn duplicate_field_is_invalid_and_scanned_once() {
    let payload = r#"{"session_id":"a","session_id":"b"}"#;
    assert!(decode_payload(payload).is_err());
    assert_eq!(PayloadHeader::scan(payload.as_bytes()).session.as_deref(), Some("a"));
}

#[test]
fn deep_payload_decodes_and_garbage_fails() {
    let deep = format!(r#"{{"session_id":"s","tool_input":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(head(&deep).unwrap().session.as_deref(), Some("s"));
    for payload in ["", "null", "[]", "5", "\"x\"", "{", "{\"a\":\"\u{0}\"}", "{'a':1}"] {
        assert!(decode_payload(payload).is_err(), "{payload:?}");
    }
}

#[test]
fn overlong_id_is_dropped() {
    let payload = format!(r#"{{"session_id":"{}"}}"#, "x".repeat(FIELD_BYTES_MAX));
    assert_eq!(head(&payload).unwrap().session, None);
}
