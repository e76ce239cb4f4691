use crate::transcript::lines::TRANSCRIPT_LINE_BYTES_MAX;
use std::collections::HashSet;
use std::io::Write as _;
use std::path::PathBuf;

use insta::assert_snapshot;

use super::testing::TranscriptScript;
use super::*;
use crate::settings::HookSettings;
use claude_mem_core::clock::Millis;
use claude_mem_core::config::Settings;
use claude_mem_core::event::EventBody;
use claude_mem_core::event::{Event, EventKey};
use claude_mem_core::source::TextSource;

/// Collects every event once and formats one line per event.
#[derive(Default)]
pub(super) struct CollectedEvents {
    keys: HashSet<EventKey>,
    pub(super) events: Vec<Event>,
}

impl EventSink for CollectedEvents {
    fn is_known(&mut self, key: EventKey) -> bool {
        self.keys.contains(&key)
    }

    fn push(&mut self, key: EventKey, event: Event) {
        assert!(self.keys.insert(key), "taken twice: {event:?}");
        self.events.push(event);
    }
}

impl CollectedEvents {
    pub(super) fn lines(&self) -> String {
        let line = |event: &Event| {
            let agent = event.agent_type.as_ref().or(event.agent_id.as_ref());
            let agent = agent.map_or_else(String::new, |agent| format!(" [{agent}]"));
            let what = match &event.body {
                EventBody::Prompt { private: true, .. } => "prompt (private)".to_owned(),
                EventBody::Prompt { text, source: TextSource::Prompt, .. } => format!("prompt {text:?}"),
                EventBody::Prompt { text, source, .. } => {
                    format!("prompt [{}] {text:?}", source.traits().name)
                }
                EventBody::Text { source, text, about, .. } => {
                    let about = about.as_ref().map_or_else(String::new, |about| format!(" ({about})"));
                    format!("{}: {text:?}{about}", source.traits().name)
                }
                EventBody::ToolUse { tool, failed, input, output, .. } => {
                    let failed = if *failed { " failed" } else { "" };
                    format!("{tool}{failed} {} → {}", short(input), short(output))
                }
                EventBody::Stop { last_message } => format!("stop {last_message:?}"),
                EventBody::SubagentStop { last_message } => {
                    format!("subagent stop {last_message:?}")
                }
                EventBody::PostCompact { summary } => format!("compacted {summary:?}"),
                other => other.kind_name().to_owned(),
            };
            format!("{what}{agent}")
        };
        self.events.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

fn short(value: &serde_json::Value) -> String {
    value.to_string().chars().take(40).collect()
}

fn fixture(name: &str) -> PathBuf {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../claude-mem/tests/fixtures");
    PathBuf::from(fixtures).join(name)
}

pub(super) fn settings() -> HookSettings {
    HookSettings::from_settings(Settings::default(), false)
}

pub(super) fn rules<'a>(settings: &'a HookSettings, session: &'a str) -> ReadRules<'a> {
    ReadRules {
        client: "claude-code",
        session,
        settings,
        home: "/home/user",
        project: None,
        path: "/t.jsonl",
        agent: None,
        since: None,
        is_muted: &|_| false,
        ended: false,
        translate: None,
    }
}

fn session_of(path: &Path) -> String {
    read_header(path).unwrap().unwrap().session.unwrap()
}

fn told(name: &str) -> String {
    let path = fixture(name);
    let (session, settings) = (session_of(&path), settings());
    let mut told = CollectedEvents::default();
    let end =
        read_transcript(&path, ReadPosition::default(), &rules(&settings, &session), &mut told).unwrap();
    assert_eq!(end.offset, std::fs::metadata(&path).unwrap().len());
    told.lines()
}

#[test]
fn the_newest_client_is_understood() {
    assert_snapshot!(told("claude-code-2.1.325/transcripts/full.jsonl"));
}

#[test]
fn other_record_types_change_nothing() {
    assert_eq!(
        told("claude-code-2.1.325/transcripts/conversation-only.jsonl"),
        told("claude-code-2.1.325/transcripts/full.jsonl"),
    );
}

#[test]
fn older_clients_are_understood() {
    assert_snapshot!(told("claude-code-2.1.197/transcripts/session.jsonl"));
    assert_snapshot!(told("claude-code-2.0.77/transcripts/session.jsonl"));
    assert_snapshot!(told("claude-code-1.0.127/transcripts/session.jsonl"));
}

#[test]
fn resumed_compacted_and_cleared_sessions_are_understood() {
    assert_snapshot!(told("claude-code-2.1.325/transcripts/resumed-and-compacted.jsonl"));
    assert_snapshot!(told("claude-code-2.1.325/transcripts/cleared-before.jsonl"));
    assert_snapshot!(told("claude-code-2.1.325/transcripts/cleared-after.jsonl"));
}

fn agents_told(main: &str) -> String {
    let main = fixture(main);
    let (session, settings) = (session_of(&main), settings());
    let mut told = CollectedEvents::default();
    for file in subagent_transcripts(&main, &session, std::time::UNIX_EPOCH).unwrap() {
        let rules = ReadRules { agent: Some(&file.agent), ..rules(&settings, &session) };
        read_transcript(&file.path, ReadPosition::default(), &rules, &mut told).unwrap();
    }
    told.lines()
}

#[test]
fn subagents_tell_what_they_did_and_who_they_are() {
    assert_snapshot!(told("claude-code-2.1.325/transcripts/with-subagent.jsonl"));
    assert_snapshot!(agents_told("claude-code-2.1.325/transcripts/with-subagent.jsonl"));
}

#[test]
fn agents_that_only_warm_up_say_nothing() {
    let beside = fixture("claude-code-2.0.77/transcripts/session.beside");
    let settings = settings();
    let mut told = CollectedEvents::default();
    let mut paths: Vec<_> = std::fs::read_dir(beside).unwrap().flatten().collect();
    paths.sort_by_key(std::fs::DirEntry::path);
    for path in paths.iter().map(std::fs::DirEntry::path) {
        let head = read_header(&path).unwrap().unwrap();
        let agent = Subagent { id: head.agent.unwrap(), kind: None };
        let session = head.session.unwrap();
        let rules = ReadRules { agent: Some(&agent), ..rules(&settings, &session) };
        read_transcript(&path, ReadPosition::default(), &rules, &mut told).unwrap();
    }
    assert_snapshot!(told.lines());
}

impl TranscriptScript {
    pub(super) fn read(&self, from: ReadPosition, told: &mut CollectedEvents) -> ReadPosition {
        let settings = settings();
        read_transcript(&self.path(), from, &rules(&settings, "s"), told).unwrap()
    }

    pub(super) fn told(&self) -> String {
        let mut told = CollectedEvents::default();
        self.read(ReadPosition::default(), &mut told);
        told.lines()
    }
}

#[test]
fn incremental_read_equals_whole_read() {
    let whole = std::fs::read(fixture("claude-code-2.1.325/transcripts/full.jsonl")).unwrap();
    let session = session_of(&fixture("claude-code-2.1.325/transcripts/full.jsonl"));
    let want = told("claude-code-2.1.325/transcripts/full.jsonl");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.jsonl");
    for step in [1_000, 4_096, 20_000] {
        let settings = settings();
        let mut told = CollectedEvents::default();
        let mut position = ReadPosition::default();
        let mut at = 0;
        while at < whole.len() {
            at = (at + step).min(whole.len());
            std::fs::write(&path, &whole[..at]).unwrap();
            position = read_transcript(&path, position, &rules(&settings, &session), &mut told).unwrap();
        }
        assert_eq!(told.lines(), want, "{step} bytes at a time");
        assert_eq!(position.offset, whole.len() as u64);
    }
}

#[test]
fn a_private_turn_leaves_nothing_but_its_place() {
    let mut script = TranscriptScript::new();
    script
        .user("<private>my salary is 100</private>")
        .calls("t1", "Bash", serde_json::json!({"command": "echo 100"}))
        .result("t1", "100")
        .says("Your salary is 100.", Some("end_turn"))
        .user("And now in public")
        .says("In public.", Some("end_turn"));
    let summary = "This session is being continued from a previous conversation.\nSummary:\nsalary 100";
    script.write(serde_json::json!({
        "type": "user", "isCompactSummary": true, "message": {"role": "user", "content": summary}
    }));
    assert_snapshot!(script.told());
    assert!(!script.told().contains("100"));
}

#[test]
fn private_turn_stays_private_on_resume() {
    let mut script = TranscriptScript::new();
    let mut told = CollectedEvents::default();
    script.user("<private>secret</private>");
    let middle = script.read(ReadPosition::default(), &mut told);
    script
        .calls("t1", "Bash", serde_json::json!({"command": "secret"}))
        .result("t1", "secret")
        .says("secret", Some("end_turn"));
    script.read(middle, &mut told);
    assert_eq!(told.lines(), "prompt (private)");
}

#[test]
fn turn_muted_by_hook_is_muted() {
    let mut script = TranscriptScript::new();
    script.user("looks harmless").says("is not", Some("end_turn"));
    let settings = settings();
    let rules = ReadRules { is_muted: &|id| id == "p0", ..rules(&settings, "s") };
    let mut told = CollectedEvents::default();
    read_transcript(&script.path(), ReadPosition::default(), &rules, &mut told).unwrap();
    assert_eq!(told.lines(), "prompt (private)");
}

#[test]
fn skipped_tools_ignored_paths_and_our_own_tools_stay_out() {
    let mut script = TranscriptScript::new();
    script.user("go");
    for (id, tool, input) in [
        ("t1", "TodoRead", serde_json::json!({})),
        ("t2", "mcp__claude-mem__search", serde_json::json!({})),
        ("t3", "Read", serde_json::json!({"file_path": "/x/secrets/a"})),
        ("t4", "Read", serde_json::json!({"file_path": "/x/open/a"})),
    ] {
        script.calls(id, tool, input).result(id, "output");
    }
    let settings = Settings { ignore_paths: vec!["secrets".to_owned()], ..Settings::default() };
    let settings = HookSettings::from_settings(settings, false);
    let mut told = CollectedEvents::default();
    read_transcript(&script.path(), ReadPosition::default(), &rules(&settings, "s"), &mut told).unwrap();
    assert_snapshot!(told.lines());
}

#[test]
fn messages_about_ignored_paths_are_dropped() {
    let mut script = TranscriptScript::new();
    script
        .user("what is in /x/secrets/a?")
        .says("Reading /x/secrets/a now.", None)
        .calls("t1", "Read", serde_json::json!({"file_path": "/x/open/a"}))
        .result("t1", "output")
        .says("The file /x/secrets/a says x.", Some("end_turn"))
        .recaps("We read /x/secrets/a.")
        .compacts("The session read /x/secrets/a.")
        .user("and the rest?")
        .says("All tests pass.", Some("end_turn"));
    let settings = Settings { ignore_paths: vec!["secrets".to_owned()], ..Settings::default() };
    let settings = HookSettings::from_settings(settings, false);
    let mut told = CollectedEvents::default();
    read_transcript(&script.path(), ReadPosition::default(), &rules(&settings, "s"), &mut told).unwrap();
    assert_snapshot!(told.lines(), @r#"
    prompt "what is in /x/secrets/a?"
    Read {"file_path":"/x/open/a"} → "output"
    stop None
    prompt "and the rest?"
    stop Some("All tests pass.")
    "#);
}

#[test]
fn secrets_are_masked() {
    let mut script = TranscriptScript::new();
    script
        .user("the password is password=hunter2hunter2x")
        .says("Noted: api_key=Zk4vQ9mXr2Lw8sTb6Yn1Ce5Ug7Hd3Pf0", Some("end_turn"));
    let told = script.told();
    assert!(!told.contains("Zk4vQ9mXr2Lw8sTb") && !told.contains("hunter2hunter2x"), "{told}");
}

#[test]
fn a_cut_off_turn_has_no_last_words_and_a_refused_call_did_not_happen() {
    let mut script = TranscriptScript::new();
    script
        .user("do it")
        .says("I will", None)
        .calls("t1", "Bash", serde_json::json!({"command": "rm -rf build"}))
        .write(serde_json::json!({"type": "user", "message": {"role": "user", "content": [{
            "type": "tool_result", "tool_use_id": "t1", "is_error": true,
            "content": "The user doesn't want to proceed with this tool use. The tool use was rejected."
        }]}}))
        .write(serde_json::json!({"type": "user", "message": {"role": "user", "content":
            [{"type": "text", "text": "[Request interrupted by user for tool use]"}]}}))
        .user("something else")
        .says("fine", Some("end_turn"));
    assert_snapshot!(script.told());
}

#[test]
fn words_without_an_end_are_the_last_only_if_nothing_follows() {
    let mut script = TranscriptScript::new();
    script.user("old client").says("perhaps the last", None);
    let mut told = CollectedEvents::default();
    let position = script.read(ReadPosition::default(), &mut told);
    assert_eq!(told.lines(), "prompt \"old client\"");
    script.user("next");
    let position = script.read(position, &mut told);
    assert_eq!(told.events.len(), 3, "{}", told.lines());
    script.says("the very last", None);
    let settings = settings();
    let rules = ReadRules { ended: true, ..rules(&settings, "s") };
    read_transcript(&script.path(), position, &rules, &mut told).unwrap();
    assert_snapshot!(told.lines());
}

#[test]
fn history_of_another_session_is_skipped() {
    let mut script = TranscriptScript::new();
    script.user("old").says("old answer", Some("end_turn")).user("new").says("new answer", Some("end_turn"));
    let settings = settings();
    let rules = ReadRules {
        since: Some(Millis("2026-01-31T10:00:03Z".parse::<jiff::Timestamp>().unwrap().as_millisecond())),
        ..rules(&settings, "s")
    };
    let mut told = CollectedEvents::default();
    read_transcript(&script.path(), ReadPosition::default(), &rules, &mut told).unwrap();
    assert_eq!(told.events.len(), 2, "{}", told.lines());
    let other = ReadRules { session: "another", ..rules };
    let mut told = CollectedEvents::default();
    read_transcript(&script.path(), ReadPosition::default(), &other, &mut told).unwrap();
    assert_eq!(told.lines(), "");
}

#[test]
fn api_error_is_not_a_last_message() {
    let mut script = TranscriptScript::new();
    script.user("hello").write(serde_json::json!({
        "type": "assistant", "isApiErrorMessage": true, "message": {"id": "m", "model": "<synthetic>",
        "stop_reason": "stop_sequence", "content": [{"type": "text", "text": "API Error: 529"}]}
    }));
    assert_eq!(script.told(), "prompt \"hello\"");
}

#[test]
fn malformed_lines_are_skipped() {
    let mut script = TranscriptScript::new();
    script.user("before");
    let mut file = std::fs::File::options().append(true).open(script.path()).unwrap();
    for line in [
        "{",
        "null",
        "[]",
        "{\"type\":\"user\"}",
        "{\"type\":\"user\",\"sessionId\":\"s\",\"timestamp\":3,\"message\":{}}",
        "{\"type\":7,\"message\":\"x\"}",
        "{\"type\":\"assistant\",\"sessionId\":\"s\",\"timestamp\":\"2026-01-31T10:00:30Z\",\"message\":{\"content\":[1,2]}}",
        "{\"type\":\"user\",\"sessionId\":\"s\",\"timestamp\":\"2026-01-31T10:00:30Z\",\"message\":{\"content\":[{\"type\":\"tool_result\"}]}}",
    ] {
        writeln!(file, "{line}").unwrap();
    }
    file.write_all(b"\xff\xfe\n").unwrap();
    script.user("after");
    assert_eq!(script.told(), "prompt \"before\"\nprompt \"after\"");
}

#[test]
fn unreadable_prompt_mutes_its_turn() {
    let long = "x".repeat(TRANSCRIPT_LINE_BYTES_MAX);
    let of_user =
        |text: &str| format!("{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{text}");
    let half = |rest: &str| format!("{{\"type\":\"user\",\"sessionId\":\"s\",{rest}}}");
    let at = "\"timestamp\":\"2026-01-31T10:00:30Z\"";
    let said = "\"message\":{\"role\":\"user\",\"content\":\"<private>my salary</private>\"}";
    for unreadable in [
        of_user("<private>my salary"),
        of_user(&long),
        half(&format!("\"timestamp\":3,{said}")),
        half(&format!("{at},\"message\":7")),
        half(&format!(
            "{at},\"message\":{{\"role\":\"user\",\"content\":[\"<private>my salary</private>\"]}}"
        )),
    ] {
        let mut script = TranscriptScript::new();
        script.user("before").says("Done.", Some("end_turn"));
        let mut file = std::fs::File::options().append(true).open(script.path()).unwrap();
        writeln!(file, "{unreadable}").unwrap();
        script
            .calls("t1", "Bash", serde_json::json!({"command": "pay"}))
            .result("t1", "100")
            .says("It is 100.", Some("end_turn"))
            .user("after");
        let told = script.told();
        assert!(!told.contains("100"), "{told}");
        assert!(told.ends_with("prompt \"after\""), "{told}");
    }
}

#[test]
fn truncated_transcript_stays_private() {
    let mut script = TranscriptScript::new();
    script.user("in public");
    let from = ReadPosition {
        offset: 1 << 20,
        state: ReaderState {
            prompt_id: Some("p".into()),
            muted: true,
            had_private: true,
            private_prompts: vec!["p".into()],
            ..ReaderState::default()
        },
    };
    let settings = settings();
    let mut told = CollectedEvents::default();
    let after = read_transcript(&script.path(), from, &rules(&settings, "s"), &mut told).unwrap();
    assert_eq!(told.lines(), "prompt \"in public\"");
    assert!(after.state.had_private);
    assert_eq!(after.state.private_prompts, ["p"]);
}

#[test]
fn repeated_words_of_a_private_block_are_masked() {
    let mut script = TranscriptScript::new();
    script.user("use <private>canary7351</private> to log in");
    script.calls("t1", "Bash", serde_json::json!({"command": "login canary7351"}));
    script.result("t1", "welcome, canary7351");
    script.says("I used canary7351 to log in.", Some("end_turn"));
    let settings = settings();
    let mut told = CollectedEvents::default();
    let rules = rules(&settings, "s");
    let after = read_transcript(&script.path(), ReadPosition::default(), &rules, &mut told).unwrap();
    let lines = told.lines();
    assert!(lines.contains("[redacted:private-word]") && !lines.contains("canary"), "{lines}");
    // The words are known when reading resumes, and are not part of what is stored.
    assert!(!serde_json::to_string(&after.state).unwrap().contains("canary"));
    script.user("go on");
    script.says("canary7351 works.", Some("end_turn"));
    let mut told = CollectedEvents::default();
    read_transcript(&script.path(), after, &rules, &mut told).unwrap();
    assert!(!told.lines().contains("canary"), "{}", told.lines());
}
