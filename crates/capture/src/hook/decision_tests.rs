use serde_json::{Value, json};

use super::*;
use crate::payload::{self, PayloadHeader};
use claude_mem_core::agents::CLAUDE_CODE;
use claude_mem_core::clock::Micros;
use claude_mem_core::config;

use CaptureAction::{AnswerOnly, Capture, Ignore, IgnoreSession, RecallOnly};

/// Calls `check` with the decoded call.
fn with_call<T>(event: &str, fields: &Value, check: impl FnOnce(&DecodedHookCall<'_>) -> T) -> T {
    let mut payload = fields.clone();
    payload["session_id"] = "s".into();
    let payload = payload.to_string();
    let wire = payload::decode_payload(&payload).unwrap();
    let header = PayloadHeader::from_payload(&wire);
    check(&DecodedHookCall {
        agent: &CLAUDE_CODE,
        kind: CLAUDE_CODE.event_kind(event).unwrap(),
        session: "s",
        header: &header,
        payload: Some(&wire),
        at: Micros(1),
        prompt: std::cell::OnceCell::new(),
    })
}

fn settings(json: &str) -> HookSettings {
    HookSettings::from_settings(config::from_text(Some(json), |_| None).settings, false)
}

fn shop() -> ProjectHint {
    ProjectHint {
        name: "shop".into(),
        keys: vec!["path:/src/shop".into()],
        root: "/src/shop".into(),
        branch: None,
    }
}

fn ordinary() -> CaptureFacts {
    CaptureFacts { project: Some(shop()), home: "/home/me".into(), ..CaptureFacts::default() }
}

const MUTED: TurnSuppression = TurnSuppression { turn: true, summaries: true };

fn unreadable() -> HookSettings {
    HookSettings::from_settings(config::from_text(None, |_| None).settings, true)
}

fn session_rules() -> HookSettings {
    let mut settings = HookSettings::default();
    settings.has_session_rules = true;
    settings
}

const fn decision(action: CaptureAction) -> CaptureDecision {
    CaptureDecision { action, closes_transcript: false, is_unrecorded: false }
}

const fn closing(action: CaptureAction) -> CaptureDecision {
    CaptureDecision { closes_transcript: true, ..decision(action) }
}

const fn unrecorded(decision: CaptureDecision) -> CaptureDecision {
    CaptureDecision { is_unrecorded: true, ..decision }
}

/// One row: event, further payload fields, facts, decision.
type Case = (&'static str, Value, CaptureFacts, CaptureDecision);

fn check(cases: Vec<Case>) {
    for (event, fields, facts, want) in cases {
        let decided = with_call(event, &fields, |call| decide(call, &facts));
        assert_eq!(decided, want, "{event} {fields} {facts:?}");
    }
}

/// Every event, with the facts that `facts` makes.
fn of_every_event(facts: impl Fn() -> CaptureFacts, want: CaptureDecision) -> Vec<Case> {
    CLAUDE_CODE.events.iter().map(|(event, _)| (*event, json!({}), facts(), want)).collect()
}

#[test]
fn ordinary_call_is_captured() {
    for (event, kind) in CLAUDE_CODE.events {
        let want = match kind {
            HookEventKind::BeforeTool => AnswerOnly(SkipReason::NothingToCapture),
            _ => Capture,
        };
        check(vec![
            (event, json!({}), ordinary(), decision(want)),
            (event, json!({}), CaptureFacts { project: None, ..ordinary() }, decision(want)),
        ]);
    }
}

#[test]
fn disabled_memory_ignores_the_session_once() {
    let disabled = || CaptureFacts { is_disabled: true, ..CaptureFacts::default() };
    check(of_every_event(disabled, decision(IgnoreSession)));
    let marked = || CaptureFacts { is_session_ignored: true, ..disabled() };
    check(of_every_event(marked, decision(Ignore(SkipReason::MemoryDisabled))));
}

#[test]
fn ignored_session_is_ignored_before_any_other_reason() {
    let ignored = || CaptureFacts {
        is_session_ignored: true,
        is_paused: true,
        settings: unreadable(),
        is_project_uncertain: true,
        ..ordinary()
    };
    check(of_every_event(ignored, decision(Ignore(SkipReason::SessionIgnored))));
}

#[test]
fn ignored_project_closes_the_transcript() {
    let want = closing(Ignore(SkipReason::ProjectIgnored));
    for rules in [
        r#"{"ignore_projects": ["shop"]}"#,
        r#"{"ignore_projects": ["/src/*"]}"#,
        r#"{"ignore_paths": ["/src/shop"]}"#,
    ] {
        check(of_every_event(|| CaptureFacts { settings: settings(rules), ..ordinary() }, want));
    }
    // Another project, and no project at all.
    let elsewhere = || settings(r#"{"ignore_projects": ["office"]}"#);
    let by_rule = || settings(r#"{"ignore_projects": ["shop"]}"#);
    check(vec![
        ("Stop", json!({}), CaptureFacts { settings: elsewhere(), ..ordinary() }, decision(Capture)),
        (
            "Stop",
            json!({}),
            CaptureFacts { settings: by_rule(), project: None, ..ordinary() },
            decision(Capture),
        ),
        // The project comes before a pause: not even memories are shown.
        ("Stop", json!({}), CaptureFacts { settings: by_rule(), is_paused: true, ..ordinary() }, want),
    ]);
}

#[test]
fn uncertain_project_counts_as_ignored_if_there_are_rules() {
    let uncertain = || CaptureFacts { is_project_uncertain: true, ..ordinary() };
    let rules = || settings(r#"{"ignore_projects": ["office"]}"#);
    check(vec![
        (
            "Stop",
            json!({}),
            CaptureFacts { settings: rules(), ..uncertain() },
            closing(Ignore(SkipReason::ProjectIgnored)),
        ),
        ("Stop", json!({}), uncertain(), decision(Capture)),
        ("Stop", json!({}), CaptureFacts { settings: rules(), ..ordinary() }, decision(Capture)),
    ]);
}

#[test]
fn paused_memory_answers_and_records_nothing() {
    let want = unrecorded(closing(AnswerOnly(SkipReason::MemoryPaused)));
    check(of_every_event(|| CaptureFacts { is_paused: true, ..ordinary() }, want));
    let also_unreadable =
        || CaptureFacts { is_paused: true, settings: unreadable(), suppression: MUTED, ..ordinary() };
    check(of_every_event(also_unreadable, want));
}

#[test]
fn tool_about_to_run_is_only_answered() {
    let want = decision(AnswerOnly(SkipReason::NothingToCapture));
    let tool = || json!({"tool_name": "TodoRead", "tool_input": {"file_path": "/secret/x"}});
    check(vec![
        ("PreToolUse", tool(), ordinary(), want),
        ("PreToolUse", tool(), CaptureFacts { settings: unreadable(), ..ordinary() }, want),
        ("PreToolUse", tool(), CaptureFacts { settings: session_rules(), ..ordinary() }, want),
        ("PreToolUse", tool(), CaptureFacts { suppression: MUTED, ..ordinary() }, unrecorded(want)),
    ]);
}

#[test]
fn unreadable_settings_ignore_everything() {
    let want = closing(Ignore(SkipReason::SettingsUnreadable));
    for (event, kind) in CLAUDE_CODE.events {
        if *kind == HookEventKind::BeforeTool {
            continue;
        }
        let facts = || CaptureFacts { settings: unreadable(), ..ordinary() };
        let muted = CaptureFacts { suppression: MUTED, ..facts() };
        check(vec![
            (event, json!({"tool_name": "TodoRead"}), facts(), want),
            (event, json!({}), muted, unrecorded(want)),
        ]);
    }
}

#[test]
fn rules_of_one_session_close_its_transcript() {
    let facts = || CaptureFacts { settings: session_rules(), ..ordinary() };
    let skipped = json!({"tool_name": "TodoRead"});
    check(vec![
        ("Stop", json!({}), facts(), closing(Capture)),
        ("PostToolUse", skipped, facts(), closing(AnswerOnly(SkipReason::ToolSkipped))),
    ]);
}

#[test]
fn skipped_tool_is_only_answered() {
    let want = decision(AnswerOnly(SkipReason::ToolSkipped));
    for tool in ["TodoRead", "mcp__claude-mem__search"] {
        check(vec![
            ("PostToolUse", json!({"tool_name": tool}), ordinary(), want),
            ("PostToolUseFailure", json!({"tool_name": tool}), ordinary(), want),
            // Only the result of a tool call has a tool.
            ("Stop", json!({"tool_name": tool}), ordinary(), decision(Capture)),
        ]);
    }
    // The tool comes before its contents and before a private turn.
    let facts = CaptureFacts {
        settings: settings(r#"{"skip_tools": ["Read"], "ignore_paths": ["/secret"]}"#),
        suppression: MUTED,
        ..ordinary()
    };
    let read = json!({"tool_name": "Read", "tool_input": {"file_path": "/secret/x"}});
    check(vec![("PostToolUse", read, facts, unrecorded(want))]);
}

#[test]
fn ignored_path_is_recalled_for_and_not_captured() {
    let facts = || CaptureFacts { settings: settings(r#"{"ignore_paths": ["~/secret"]}"#), ..ordinary() };
    let want = decision(RecallOnly(SkipReason::PathIgnored));
    let named = || json!({"tool_name": "Bash", "tool_input": {"command": "cat /home/me/secret/x"}});
    let relative = json!({"tool_name": "Read", "cwd": "/home/me", "tool_input": {"file_path": "secret/x"}});
    let other = json!({"tool_name": "Bash", "tool_input": {"command": "cat /home/me/public/x"}});
    check(vec![
        ("PostToolUse", named(), facts(), want),
        ("PostToolUseFailure", named(), facts(), want),
        ("PostToolUse", relative, facts(), want),
        ("PostToolUse", other, facts(), decision(Capture)),
        ("PostToolUse", named(), ordinary(), decision(Capture)),
        ("PostToolUse", named(), CaptureFacts { suppression: MUTED, ..facts() }, unrecorded(want)),
    ]);
}

#[test]
fn private_turn_hides_what_was_done_in_it() {
    for (event, kind) in CLAUDE_CODE.events {
        let hidden = matches!(
            kind,
            HookEventKind::ToolUse
                | HookEventKind::ToolFailure
                | HookEventKind::SubagentStop
                | HookEventKind::PostCompact
        );
        let action = match kind {
            HookEventKind::BeforeTool => AnswerOnly(SkipReason::NothingToCapture),
            _ if hidden => AnswerOnly(SkipReason::TurnPrivate),
            _ => Capture,
        };
        let facts = CaptureFacts { suppression: MUTED, ..ordinary() };
        check(vec![(event, json!({}), facts, unrecorded(decision(action)))]);
        // Normalizing agrees: it is the second wall.
        let event_is_built = with_call(event, &json!({}), |call| {
            call.normalize(MUTED, None, &crate::session_words::SessionWords::default()).is_some()
        });
        assert_eq!(event_is_built, action == Capture, "{event}");
    }
}

#[test]
fn private_past_alone_leaves_the_turn_recorded() {
    let past = TurnSuppression { turn: false, summaries: true };
    let facts = || CaptureFacts { suppression: past, ..ordinary() };
    check(vec![
        ("Stop", json!({}), facts(), decision(Capture)),
        // Its summary is dropped when the event is built.
        ("PostCompact", json!({"compact_summary": "x"}), facts(), decision(Capture)),
    ]);
}

#[test]
fn prompt_sets_marks_by_its_privacy() {
    for (event, fields, is_disabled, want) in [
        ("UserPromptSubmit", json!({"prompt": "hello"}), false, Some(MarkChange::UnmuteTurn)),
        ("UserPromptSubmit", json!({"prompt": "<private>x</private>"}), false, Some(MarkChange::MuteTurn)),
        (
            "UserPromptSubmit",
            json!({"prompt": "look <private>x</private> here"}),
            false,
            Some(MarkChange::NotePrivatePart),
        ),
        // What cannot be read may be private.
        ("UserPromptSubmit", json!({}), false, Some(MarkChange::MuteTurn)),
        ("UserPromptSubmit", json!({"prompt": 7}), false, Some(MarkChange::MuteTurn)),
        ("UserPromptSubmit", json!({"prompt": "hello"}), true, None),
        ("Stop", json!({"prompt": "<private>x</private>"}), false, None),
        ("SessionStart", json!({}), false, None),
    ] {
        let change = with_call(event, &fields, |call| decide_marks(call, is_disabled));
        assert_eq!(change, want, "{event} {fields}");
    }
}
