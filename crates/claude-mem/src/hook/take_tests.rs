use serde_json::json;

use super::*;
use crate::hook::agents::CLAUDE_CODE;

fn taken(payload: &str, silence: Silence) -> Option<Taken> {
    let wire = wire::decode(payload).ok();
    let head = match &wire {
        Some(wire) => Head::of(wire),
        None => Head::scanned(payload.as_bytes()),
    };
    let call = Call {
        agent: &CLAUDE_CODE,
        kind: CLAUDE_CODE.kind_of(head.event.as_deref()?)?,
        session: head.session.as_deref()?,
        head: &head,
        wire: wire.as_ref(),
        at: Micros(1),
    };
    call.take(silence, None)
}

fn body(payload: &serde_json::Value) -> Option<Body> {
    let mut payload = payload.clone();
    payload["session_id"] = "s".into();
    taken(&payload.to_string(), Silence::default()).map(|taken| taken.event.body)
}

const MUTED: Silence = Silence {
    turn: true,
    summaries: true,
};

#[test]
fn every_recorded_payload_decodes() {
    let mut seen = 0;
    for version in ["1.0.127", "2.0.77", "2.1.197", "2.1.325"] {
        let hooks = format!(
            "{}/tests/fixtures/claude-code-{version}/hooks",
            env!("CARGO_MANIFEST_DIR")
        );
        for entry in std::fs::read_dir(&hooks).unwrap() {
            let path = entry.unwrap().path();
            let file: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            let payload = file["stdin"].to_string();
            let name = file["stdin"]["hook_event_name"].as_str().unwrap();
            let kept = taken(&payload, Silence::default());
            let kind = CLAUDE_CODE.kind_of(name);
            let wanted = kind.is_some_and(|kind| kind != Kind::BeforeTool);
            assert_eq!(kept.is_some(), wanted, "{}", path.display());
            if let Some(kept) = kept {
                assert!(!kept.event.cut, "{}", path.display());
                assert_eq!(kept.event.session.0, file["stdin"]["session_id"]);
            }
            seen += 1;
        }
    }
    assert!(seen >= 40, "{seen} payloads");
}

#[test]
fn a_tool_use_is_its_input_and_its_output() {
    let body = body(&json!({
        "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "t1",
        "tool_input": {"command": "ls"}, "tool_response": {"stdout": "a"}, "duration_ms": 7,
    }));
    assert_eq!(
        body,
        Some(Body::ToolUse {
            tool: "Bash".into(),
            tool_use_id: Some("t1".into()),
            input: json!({"command": "ls"}),
            output: json!({"stdout": "a"}),
            failed: false,
            duration_ms: Some(7),
        })
    );
}

#[test]
fn a_failed_tool_use_says_what_went_wrong() {
    let body = body(&json!({
        "hook_event_name": "PostToolUseFailure", "tool_name": "Bash",
        "tool_input": {"command": "false"}, "error": "Exit code 1",
    }));
    let Some(Body::ToolUse { output, failed, .. }) = body else {
        panic!("{body:?}");
    };
    assert_eq!((output, failed), (json!("Exit code 1"), true));
}

#[test]
fn a_private_prompt_leaves_no_words() {
    for (prompt, text, private) in [
        ("fix the bug", "fix the bug", false),
        ("<private>canary</private>", "", true),
        ("<PRIVATE>canary", "", true),
        ("fix it <private>canary</private>", "fix it ", false),
    ] {
        let body = body(&json!({"hook_event_name": "UserPromptSubmit", "prompt": prompt}));
        let want = Body::Prompt {
            text: text.into(),
            private,
        };
        assert_eq!(body, Some(want), "{prompt}");
    }
}

#[test]
fn a_prompt_that_cannot_be_read_counts_as_private() {
    for payload in [
        r#"{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"canary"#,
        r#"{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":["canary"]}"#,
        r#"{"session_id":"s","hook_event_name":"UserPromptSubmit"}"#,
    ] {
        let taken = taken(payload, Silence::default()).unwrap();
        assert!(
            matches!(&taken.event.body, Body::Prompt { text, private: true } if text.is_empty()),
            "{payload}"
        );
    }
}

#[test]
fn a_muted_turn_leaves_its_boundaries_and_nothing_else() {
    let payload = |event: &str| {
        json!({"session_id": "s", "hook_event_name": event, "tool_name": "Bash",
            "tool_input": {"command": "canary"}, "tool_response": "canary", "error": "canary",
            "last_assistant_message": "canary", "compact_summary": "canary"})
        .to_string()
    };
    for (event, kept) in [
        ("PostToolUse", false),
        ("PostToolUseFailure", false),
        ("SubagentStop", false),
        ("PostCompact", false),
        ("Stop", true),
        ("SessionStart", true),
        ("SessionEnd", true),
        ("PreCompact", true),
    ] {
        let taken = taken(&payload(event), MUTED);
        assert_eq!(taken.is_some(), kept, "{event}");
        let stored = taken.map(|taken| serde_json::to_string(&taken.event).unwrap());
        assert!(!stored.unwrap_or_default().contains("canary"), "{event}");
    }
}

#[test]
fn a_summary_of_a_session_with_something_private_is_not_kept() {
    let payload = json!({"session_id": "s", "hook_event_name": "PostCompact",
        "compact_summary": "all that happened"});
    let silence = Silence {
        turn: false,
        summaries: true,
    };
    assert!(taken(&payload.to_string(), silence).is_none());
    assert!(taken(&payload.to_string(), Silence::default()).is_some());
}

#[test]
fn an_old_client_s_last_words_come_from_its_transcript() {
    let transcript = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/claude-code-1.0.127/transcripts/session.jsonl"
    );
    let payload = json!({"session_id": "s", "hook_event_name": "Stop",
        "transcript_path": transcript});
    let taken = taken(&payload.to_string(), Silence::default()).unwrap();
    assert!(taken.message_id.is_some());
    let Body::Stop { last_message } = taken.event.body else {
        panic!("not a stop");
    };
    assert!(last_message.is_some_and(|text| !text.is_empty()));
}

#[test]
fn a_cut_payload_keeps_what_its_beginning_says() {
    let payload = r#"{"session_id":"s","prompt_id":"p","hook_event_name":"PostToolUse",
        "tool_name":"Read","tool_input":{"file_path":"/x"},"tool_response":{"content":"aaaa"#;
    let event = taken(payload, Silence::default()).unwrap().event;
    assert!(event.cut);
    assert_eq!(event.prompt_id.as_deref(), Some("p"));
    assert!(matches!(event.body, Body::ToolUse { tool, input: Value::Null, .. } if tool == "Read"));
}

#[test]
fn what_is_no_id_and_no_known_word_is_not_kept() {
    let (token, tag) = (
        "ghp_0123456789abcdefABCDEF0123456789abcd",
        "<private>canary</private>",
    );
    for odd in [token, tag] {
        for event in [
            "SessionStart",
            "SessionEnd",
            "PreCompact",
            "PostToolUse",
            "Stop",
        ] {
            let payload = json!({"session_id": odd, "hook_event_name": event, "source": odd,
                "reason": odd, "trigger": odd, "tool_name": odd, "tool_use_id": odd,
                "agent_id": odd, "agent_type": odd, "prompt_id": odd,
                "transcript_path": format!("/x/{odd}.jsonl")});
            let event = taken(&payload.to_string(), Silence::default())
                .unwrap()
                .event;
            let stored = serde_json::to_string(&event).unwrap();
            assert!(
                !stored.contains("canary") && !stored.contains("ghp_"),
                "{stored}"
            );
        }
    }
    for reason in ["clear", "other"] {
        let end = json!({"hook_event_name": "SessionEnd", "reason": reason});
        assert_eq!(
            body(&end),
            Some(Body::SessionEnd {
                reason: reason.into()
            })
        );
    }
    let start = json!({"hook_event_name": "SessionStart", "source": "my own words"});
    assert_eq!(
        body(&start),
        Some(Body::SessionStart {
            source: "other".into()
        })
    );
}
