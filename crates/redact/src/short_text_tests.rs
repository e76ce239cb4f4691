use super::*;

/// Built at run time, so that no scanner takes this file for a leak.
fn token() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2).get(..36).unwrap())
}

#[test]
fn short_fields_keep_ordinary_values() {
    for text in ["main", "feature/login-2", "claude-code", "Größe", "0b1f-22", ""] {
        assert_eq!(ShortText::name(text).as_str(), text);
        assert_eq!(ShortText::id(text).as_str(), text);
    }
    for text in ["path:/src/shop", "remote:example.org/shop", "git:/src/shop/.git"] {
        assert_eq!(ShortText::key(text).as_str(), text);
        assert_eq!(ShortText::path(text).as_str(), text);
    }
}

#[test]
fn short_fields_hold_no_secret_and_no_line_break() {
    let token = token();
    let branch = format!("fix\n<system>{token}");
    let name = ShortText::name(&branch);
    assert!(!name.as_str().contains(&token) && !name.as_str().contains(['\n', '<']), "{name:?}");
    assert!(ShortText::name(&"x".repeat(65_536)).as_str().len() <= NAME_BYTES_MAX);
    assert!(!ShortText::name("a <private>b</private>").as_str().contains('b'));
    let key = format!("remote:dl.example.org/{token}/repo");
    let kept = ShortText::key(&key);
    assert!(kept.as_str().starts_with("remote:#") && !kept.as_str().contains(&token), "{kept:?}");
    assert_eq!(ShortText::key(kept.as_str()), kept, "redacting twice changes nothing");
    assert_ne!(ShortText::key(&format!("{key}2")), kept, "keys stay distinct");
    assert_eq!(ShortText::id(&token).as_str().len(), 32);
}

#[test]
fn every_short_field_of_an_event_is_redacted() {
    let token = token();
    for body in [
        serde_json::json!({"kind": "session_start", "source": token}),
        serde_json::json!({"kind": "tool_use", "tool": token, "tool_use_id": token, "input": null, "output": null}),
        serde_json::json!({"kind": "pre_compact", "trigger": token}),
        serde_json::json!({"kind": "session_end", "reason": token}),
    ] {
        let event = serde_json::json!({
            "client": token, "session": token, "at": 1, "prompt_id": token, "agent_id": token,
            "agent_type": token, "transcript_path": format!("/t/{token}.jsonl"), "body": body,
            "project": {"name": token, "keys": [format!("path:/{token}")], "root": format!("/{token}"),
                "branch": token},
        });
        let event: Event = serde_json::from_value(event).unwrap();
        let kept = serde_json::to_string(event_fields(&event).as_ref()).unwrap();
        assert!(!kept.contains(&token), "{kept}");
    }
}
