//! `import transcripts` of Codex and Gemini CLI, with made-up transcripts of their shapes.

use std::fmt::Write as _;

use rig::Sandbox;
use serde_json::{Value, json};

use crate::common::sandbox;

const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

struct TranscriptCase {
    agent: &'static str,
    path: &'static str,
    header: fn(&Sandbox) -> Vec<Value>,
    turn: fn(u32) -> Vec<Value>,
}

fn at(turn: u32, second: u32) -> String {
    format!("2026-01-02T03:{turn:02}:{second:02}.000Z")
}

fn prompt(turn: u32) -> String {
    format!(
        "Use {turn} retry attempts in module{turn}, never more, because the limiter of module{turn} trips."
    )
}

const CODEX: TranscriptCase = TranscriptCase {
    agent: "codex",
    path: ".codex/sessions/2026/01/02/rollout-2026-01-02T03-00-00-s-1.jsonl",
    header: |home| {
        vec![json!({
            "timestamp": at(0, 0), "type": "session_meta",
            "payload": { "id": "s-1", "cwd": home.project(), "cli_version": "0.166.0" },
        })]
    },
    turn: |turn| {
        let id = json!({ "turn_id": format!("t-{turn}"), "content_item_kinds": ["user.text"] });
        let item = |second: u32, payload: Value| json!({ "timestamp": at(turn, second), "type": "response_item", "payload": payload });
        let message = |role: &str, text: String| {
            json!({
                "type": "message", "role": role, "content": [{ "type": "input_text", "text": text }],
                "internal_chat_message_metadata_passthrough": id,
            })
        };
        vec![
            item(1, message("user", prompt(turn))),
            item(2, message("developer", "Memory of earlier sessions: never a memory again".to_owned())),
            item(
                3,
                json!({
                    "type": "function_call", "name": "exec_command", "call_id": format!("c-{turn}"),
                    "arguments": json!({ "cmd": format!("deploy --token {SECRET}") }).to_string(),
                }),
            ),
            item(
                4,
                json!({
                    "type": "function_call_output", "call_id": format!("c-{turn}"),
                    "output": "Process exited with code 1\nOutput:\nlimiter tripped\n",
                }),
            ),
            item(
                5,
                message("assistant", format!("Set the limit of module{turn} to {turn} in src/retry.py.")),
            ),
        ]
    },
};

const GEMINI: TranscriptCase = TranscriptCase {
    agent: "gemini-cli",
    path: ".gemini/tmp/project/chats/session-2026-01-02T03-00-s-1.jsonl",
    header: |home| {
        home.write(
            home.home().join(".gemini/tmp/project/.project_root"),
            home.project().to_string_lossy().as_bytes(),
        );
        vec![json!({ "sessionId": "s-1", "startTime": at(0, 0), "lastUpdated": at(0, 0), "kind": "main" })]
    },
    turn: |turn| {
        let typed = format!(
            "<hook_context>Memory of earlier sessions: never a memory again</hook_context>\n\n{}",
            prompt(turn)
        );
        let output = "Output: limiter tripped\nExit Code: 1\nProcess Group PGID: 7";
        vec![
            json!({ "id": "u", "timestamp": at(turn, 1), "type": "user", "content": [{ "text": typed }] }),
            json!({ "$set": { "lastUpdated": at(turn, 1) } }),
            json!({
                "id": "g", "timestamp": at(turn, 3), "type": "gemini", "content": "",
                "toolCalls": [{
                    "name": "run_shell_command", "status": "success",
                    "args": { "command": format!("deploy{turn} --token {SECRET}") },
                    "result": [{ "functionResponse": { "response": { "output": output } } }],
                }],
            }),
            json!({
                "id": "h", "timestamp": at(turn, 5), "type": "gemini",
                "content": format!("Set the limit of module{turn} to {turn} in src/retry.py."),
            }),
        ]
    },
};

fn lines(records: Vec<Value>) -> String {
    records.iter().fold(String::new(), |mut text, record| {
        writeln!(text, "{record}").expect("a string accepts everything");
        text
    })
}

fn import(home: &Sandbox, case: &TranscriptCase) -> Value {
    home.mem(&["import", "transcripts", "--agent", case.agent, "--json"]).ok().json()
}

fn adds_up(report: &Value) -> bool {
    let sessions = &report["kinds"]["sessions"];
    let skipped: u64 =
        sessions["skipped"].as_object().into_iter().flatten().filter_map(|(_, n)| n.as_u64()).sum();
    sessions["found"].as_u64().unwrap_or(0) == sessions["imported"].as_u64().unwrap_or(0) + skipped
}

/// Everything that a search can return of the session.
fn stored(home: &Sandbox, case: &TranscriptCase) -> String {
    let filter = format!("agent:{}", case.agent);
    home.mem(&["search", "--json", "--limit", "100", &filter]).ok().stdout
}

#[test]
fn past_sessions_are_imported_once() {
    for case in [&CODEX, &GEMINI] {
        let home = sandbox();
        let path = home.home().join(case.path);
        let mut text =
            lines((case.header)(&home)) + &lines((case.turn)(3)) + "half a line that is still writ";
        home.write(&path, &text);
        let report = import(&home, case);
        assert_eq!(report["kinds"]["sessions"]["imported"], 1, "{report:#}");
        assert!(adds_up(&report), "{report:#}");
        let prompts = report["learnt"]["prompts"].as_u64();
        assert_eq!(prompts, Some(1), "{report:#}");
        let first = stored(&home, case);
        assert!(first.contains("module3"), "{}: {first}", case.agent);

        let again = import(&home, case);
        assert_eq!(again["kinds"]["sessions"]["imported"], 0, "{again:#}");
        assert!(adds_up(&again), "{again:#}");
        assert_eq!(stored(&home, case), first, "{}", case.agent);

        // The session goes on; only what is new is read.
        text.truncate(text.rfind('\n').unwrap() + 1);
        text += &lines((case.turn)(4));
        home.write(&path, &text);
        let more = import(&home, case);
        assert_eq!(more["learnt"]["prompts"].as_u64(), Some(1), "{more:#}");
        let all = stored(&home, case);
        assert!(all.contains("module3") && all.contains("module4"), "{}: {all}", case.agent);
        for never in [SECRET, "hook_context", "never a memory again"] {
            assert!(!all.contains(never), "{}: {never} in {all}", case.agent);
        }
        let database = std::fs::read(home.data_dir().join("claude-mem.db")).unwrap();
        assert!(memchr::memmem::find(&database, SECRET.as_bytes()).is_none(), "{}", case.agent);
        // The other agent's search finds nothing of it.
        let other = if case.agent == "codex" { "agent:claude" } else { "agent:codex" };
        let found = home.mem(&["search", "--json", other, "retry"]).ok().json();
        assert_eq!(found["results"], json!([]), "{found:#}");
    }
}

#[test]
fn transcripts_are_found_by_their_place() {
    let home = sandbox();
    home.write(home.home().join(CODEX.path), lines((CODEX.header)(&home)) + &lines((CODEX.turn)(3)));
    let place = home.home().join(".codex/sessions");
    let report = home.mem(&["import", "transcripts", &place.to_string_lossy(), "--json"]).ok().json();
    assert_eq!(report["kinds"]["sessions"]["imported"], 1, "{report:#}");
    let unreadable = home.mem(&["import", "transcripts", "--agent", "opencode"]);
    assert!(unreadable.stderr.contains("claude-code, codex, gemini-cli"), "{unreadable}");
}
