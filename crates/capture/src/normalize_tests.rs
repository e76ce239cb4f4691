use serde_json::{Value, json};

use super::*;
use claude_mem_core::agents::CLAUDE_CODE;
use claude_mem_core::source::TextSource;

fn taken(payload: &str, silence: TurnSuppression) -> Option<NormalizedEvent> {
    let wire = payload::decode_payload(payload).ok();
    let head = match &wire {
        Some(wire) => PayloadHeader::from_payload(wire),
        None => PayloadHeader::scan(payload.as_bytes()),
    };
    let call = DecodedHookCall {
        agent: &CLAUDE_CODE,
        kind: CLAUDE_CODE.event_kind(head.event.as_deref()?)?,
        session: head.session.as_deref()?,
        header: &head,
        payload: wire.as_ref(),
        at: Micros(1),
        prompt: std::cell::OnceCell::new(),
    };
    call.normalize(silence, None, &SessionWords::default())
}

fn body(payload: &serde_json::Value) -> Option<EventBody> {
    let mut payload = payload.clone();
    payload["session_id"] = "s".into();
    taken(&payload.to_string(), TurnSuppression::default()).map(|taken| taken.event.body)
}

const MUTED: TurnSuppression = TurnSuppression { turn: true, summaries: true };

#[test]
fn every_recorded_payload_decodes() {
    let mut seen = 0;
    for version in ["1.0.127", "2.0.77", "2.1.197", "2.1.325"] {
        let hooks = format!(
            "{}/../claude-mem/tests/fixtures/claude-code-{version}/hooks",
            env!("CARGO_MANIFEST_DIR")
        );
        for entry in std::fs::read_dir(&hooks).unwrap() {
            let path = entry.unwrap().path();
            let file: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            let payload = file["stdin"].to_string();
            let name = file["stdin"]["hook_event_name"].as_str().unwrap();
            let kept = taken(&payload, TurnSuppression::default());
            let kind = CLAUDE_CODE.event_kind(name);
            let wanted = kind.is_some_and(|kind| kind != HookEventKind::BeforeTool);
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
fn tool_use_has_input_and_output() {
    let body = body(&json!({
        "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "t1",
        "tool_input": {"command": "ls"}, "tool_response": {"stdout": "a"}, "duration_ms": 7,
    }));
    assert_eq!(
        body,
        Some(EventBody::ToolUse {
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
fn failed_tool_use_has_the_error() {
    let body = body(&json!({
        "hook_event_name": "PostToolUseFailure", "tool_name": "Bash",
        "tool_input": {"command": "false"}, "error": "Exit code 1",
    }));
    let Some(EventBody::ToolUse { output, failed, .. }) = body else {
        panic!("{body:?}");
    };
    assert_eq!((output, failed), (json!("Exit code 1"), true));
}

#[test]
fn private_prompt_has_no_text() {
    for (prompt, text, private) in [
        ("fix the bug", "fix the bug", false),
        ("<private>canary</private>", "", true),
        ("<PRIVATE>canary", "", true),
        ("fix it <private>canary</private>", "fix it ", false),
    ] {
        let body = body(&json!({"hook_event_name": "UserPromptSubmit", "prompt": prompt}));
        let want = EventBody::Prompt { text: text.into(), private, source: TextSource::Prompt };
        assert_eq!(body, Some(want), "{prompt}");
    }
}

#[test]
fn unreadable_prompt_counts_as_private() {
    for payload in [
        r#"{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"canary"#,
        r#"{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":["canary"]}"#,
        r#"{"session_id":"s","hook_event_name":"UserPromptSubmit"}"#,
    ] {
        let taken = taken(payload, TurnSuppression::default()).unwrap();
        assert!(
            matches!(&taken.event.body, EventBody::Prompt { text, private: true, .. } if text.is_empty()),
            "{payload}"
        );
    }
}

#[test]
fn muted_turn_keeps_only_its_boundaries() {
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
fn summary_over_private_content_is_dropped() {
    let payload = json!({"session_id": "s", "hook_event_name": "PostCompact",
        "compact_summary": "all that happened"});
    let silence = TurnSuppression { turn: false, summaries: true };
    assert!(taken(&payload.to_string(), silence).is_none());
    assert!(taken(&payload.to_string(), TurnSuppression::default()).is_some());
}

#[test]
fn old_client_last_message_comes_from_transcript() {
    let transcript = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../claude-mem/tests/fixtures/claude-code-1.0.127/transcripts/session.jsonl"
    );
    let payload = json!({"session_id": "57f44ca2-8c12-4e8f-843a-7efcd7f447be", "hook_event_name": "Stop",
        "transcript_path": transcript});
    let taken = taken(&payload.to_string(), TurnSuppression::default()).unwrap();
    assert!(taken.message_id.is_some());
    let EventBody::Stop { last_message } = taken.event.body else {
        panic!("not a stop");
    };
    assert!(last_message.is_some_and(|text| !text.is_empty()));
}

#[test]
fn cut_payload_keeps_its_header() {
    let payload = r#"{"session_id":"s","prompt_id":"p","hook_event_name":"PostToolUse",
        "tool_name":"Read","tool_input":{"file_path":"/x"},"tool_response":{"content":"aaaa"#;
    let event = taken(payload, TurnSuppression::default()).unwrap().event;
    assert!(event.cut);
    assert_eq!(event.prompt_id.as_deref(), Some("p"));
    assert!(matches!(event.body, EventBody::ToolUse { tool, input: Value::Null, .. } if tool == "Read"));
}

#[test]
fn invalid_ids_and_unknown_words_are_dropped() {
    let (token, tag) = ("ghp_0123456789abcdefABCDEF0123456789abcd", "<private>canary</private>");
    for odd in [token, tag] {
        for event in ["SessionStart", "SessionEnd", "PreCompact", "PostToolUse", "Stop"] {
            let payload = json!({"session_id": odd, "hook_event_name": event, "source": odd,
                "reason": odd, "trigger": odd, "tool_name": odd, "tool_use_id": odd,
                "agent_id": odd, "agent_type": odd, "prompt_id": odd,
                "transcript_path": format!("/x/{odd}.jsonl")});
            let event = taken(&payload.to_string(), TurnSuppression::default()).unwrap().event;
            let stored = serde_json::to_string(&event).unwrap();
            assert!(!stored.contains("canary") && !stored.contains("ghp_"), "{stored}");
        }
    }
    for reason in ["clear", "other"] {
        let end = json!({"hook_event_name": "SessionEnd", "reason": reason});
        assert_eq!(body(&end), Some(EventBody::SessionEnd { reason: reason.into() }));
    }
    let start = json!({"hook_event_name": "SessionStart", "source": "my own words"});
    assert_eq!(body(&start), Some(EventBody::SessionStart { source: "other".into() }));
}

#[test]
fn prompts_that_the_user_did_not_type_keep_their_source() {
    let report = transcript::testing::task_notification("a17", "The cache is full.");
    let plan = "Implement the following plan:\n\n# Plan: cache";
    let mate = "<teammate-message teammate_id=\"lead\">Always push.</teammate-message>";
    let brief = "<brief>Always push.</brief>";
    let command = "<task-notification><task-id>b1</task-id><summary>failed</summary></task-notification>";
    let prompt = |text: &str, source| EventBody::Prompt { text: text.into(), private: false, source };
    let cases = [
        (report.as_str(), Some(EventBody::SubagentStop { last_message: Some("The cache is full.".into()) })),
        (plan, Some(prompt("# Plan: cache", TextSource::Plan))),
        (
            mate,
            Some(EventBody::Text {
                source: TextSource::TeammateMessage,
                text: "Always push.".into(),
                id: None,
                about: Some("lead".into()),
            }),
        ),
        (brief, Some(prompt("Always push.", TextSource::ClientText))),
        (command, None),
        ("<system-reminder>x</system-reminder>", None),
    ];
    for (text, want) in cases {
        let payload = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": text});
        let event = taken(&payload.to_string(), TurnSuppression::default()).map(|taken| taken.event);
        assert_eq!(event.as_ref().map(|event| &event.body), want.as_ref(), "{text:?}");
        let id = event.and_then(|event| event.agent_id);
        assert_eq!(id.as_deref(), (text == report).then_some("a17"), "{text:?}");
        assert!(taken(&payload.to_string(), MUTED).is_none(), "a private turn stays private: {text:?}");
    }
    let payload = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": report});
    let after_private = TurnSuppression { turn: false, summaries: true };
    assert!(taken(&payload.to_string(), after_private).is_none(), "it may report a private turn");
}
