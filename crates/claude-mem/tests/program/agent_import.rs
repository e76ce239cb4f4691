//! `import transcripts` of the agents other than Claude Code, with made-up transcripts of their shapes.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

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
            "payload": { "id": "s-1", "cwd": home.project(), "cli_version": "0.169.0" },
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

const QWEN: TranscriptCase = TranscriptCase {
    agent: "qwen-code",
    path: ".qwen/projects/-work/chats/s-1.jsonl",
    header: |home| {
        vec![json!({
            "type": "user", "provenance": "system", "sessionId": "s-1", "timestamp": at(0, 0), "version": "0.24.4",
            "cwd": home.project(), "message": { "parts": [{ "text": "never a memory again" }] },
        })]
    },
    turn: |turn| {
        let record = |second: u32, kind: &str, parts: Value| json!({ "type": kind, "sessionId": "s-1", "timestamp": at(turn, second), "message": { "parts": parts } });
        let context =
            "<qwen:user-prompt-submit-context>never a memory again</qwen:user-prompt-submit-context>";
        let command = format!("deploy{turn} --token {SECRET}");
        let framed = "Command: x\nDirectory: (root)\nOutput: limiter tripped\nError: (none)\nExit Code: 1";
        let id = format!("c-{turn}");
        vec![
            record(1, "user", json!([{ "text": prompt(turn) }, { "text": context }])),
            record(
                3,
                "assistant",
                json!([{ "functionCall": { "id": id, "name": "run_shell_command", "args": { "command": command } } }]),
            ),
            record(
                4,
                "tool_result",
                json!([{ "functionResponse": { "id": id, "name": "run_shell_command", "response": { "error": framed } } }]),
            ),
            record(
                5,
                "assistant",
                json!([{ "text": format!("Set the limit of module{turn} to {turn} in src/retry.py.") }]),
            ),
        ]
    },
};

const COPILOT: TranscriptCase = TranscriptCase {
    agent: "copilot-cli",
    path: ".copilot/session-state/s-1/events.jsonl",
    header: |home| {
        vec![json!({
            "type": "session.start", "timestamp": at(0, 0),
            "data": { "sessionId": "s-1", "copilotVersion": "1.0.102", "context": { "cwd": home.project() } },
        })]
    },
    turn: |turn| {
        let event = |second: u32, kind: &str, data: Value| json!({ "type": kind, "timestamp": at(turn, second), "data": data });
        let context = "<system_reminder>never a memory again</system_reminder>";
        let command = format!("deploy{turn} --token {SECRET}");
        let id = format!("c-{turn}");
        let output = "limiter tripped\n<shellId: 0 completed with exit code 1>\n\n\
                      Tool \"bash\" succeeded. Additional guidance from postToolUse hooks:\nnever a memory again";
        let mut of_subagent = event(2, "user.message", json!({ "content": "never a memory again" }));
        of_subagent["agentId"] = "a-1".into();
        vec![
            event(
                1,
                "user.message",
                json!({ "content": prompt(turn), "transformedContent": format!("{}{context}", prompt(turn)) }),
            ),
            of_subagent,
            event(
                3,
                "tool.execution_start",
                json!({ "toolCallId": id, "toolName": "bash", "arguments": { "command": command } }),
            ),
            event(
                4,
                "tool.execution_complete",
                json!({ "toolCallId": id, "success": true, "result": { "content": output } }),
            ),
            event(
                5,
                "assistant.message",
                json!({ "content": format!("Set the limit of module{turn} to {turn} in src/retry.py.") }),
            ),
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
    for case in [&CODEX, &GEMINI, &QWEN, &COPILOT] {
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
    let unreadable = home.mem(&["import", "transcripts", "--agent", "nobody"]);
    assert!(
        unreadable.stderr.contains("claude-code, codex, gemini-cli, opencode, qwen-code, copilot-cli"),
        "{unreadable}"
    );
}

/// The database of OpenCode, with what a test says in it.
struct OpenCodeDatabase {
    path: PathBuf,
}

impl OpenCodeDatabase {
    fn create(home: &Sandbox) -> Self {
        let path = home.home().join(".local/share/opencode/opencode.db");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let database = Self { path };
        database.run(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, version TEXT,
               time_created INTEGER, time_updated INTEGER);
             CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
             CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT);",
        );
        database
    }

    #[allow(clippy::disallowed_methods, reason = "the client's database, not ours")]
    fn run(&self, sql: &str) {
        rusqlite::Connection::open(&self.path).unwrap().execute_batch(sql).unwrap();
    }

    fn session(&self, id: &str, parent: &str, directory: &Path) {
        let directory = directory.display();
        self.run(&format!(
            "INSERT INTO session VALUES ('{id}', nullif('{parent}', ''), '{directory}', '1.18.33', 1767300000000, 1767300000000)"
        ));
    }

    fn message(&self, session: &str, id: &str, role: &str, parts: &[Value]) {
        let (step, turn) = id.split_at(1);
        let seconds = turn.parse::<u64>().unwrap() * 60 + u64::from(step.as_bytes()[0]);
        let at = 1_767_300_000_000 + seconds * 1_000;
        let data = json!({ "role": role });
        self.run(&format!("INSERT INTO message VALUES ('{id}', '{session}', {at}, '{data}')"));
        for (number, part) in parts.iter().enumerate() {
            let part = part.to_string().replace('\'', "''");
            self.run(&format!(
                "INSERT INTO part VALUES ('{id}-{number}', '{id}', '{session}', {at}, '{part}')"
            ));
        }
        self.run(&format!("UPDATE session SET time_updated = {at} WHERE id = '{session}'"));
    }

    fn turn(&self, session: &str, turn: u32) {
        let text = |text: String| json!({ "type": "text", "text": text });
        let added = json!({ "type": "text", "synthetic": true, "text": "never a memory again" });
        self.message(session, &format!("a{turn}"), "user", &[added, text(prompt(turn))]);
        let call = json!({
            "type": "tool", "tool": "bash", "callID": format!("c-{turn}"), "state": {
                "status": "completed", "input": { "command": format!("deploy --token {SECRET}") },
                "output": "limiter tripped\n", "metadata": { "exit": 1 },
            },
        });
        self.message(session, &format!("b{turn}"), "assistant", &[json!({ "type": "step-start" }), call]);
        let said = format!("Set the limit of module{turn} to {turn} in src/retry.py.");
        self.message(session, &format!("c{turn}"), "assistant", &[text(said)]);
    }
}

#[test]
fn past_sessions_in_a_database_are_imported_once() {
    let home = sandbox();
    let database = OpenCodeDatabase::create(&home);
    database.session("s-1", "", home.project());
    database.turn("s-1", 3);
    database.session("s-2", "s-1", home.project());
    database.turn("s-2", 9);
    let import = || home.mem(&["import", "transcripts", "--agent", "opencode", "--json"]).ok().json();
    let stored = || home.mem(&["search", "--json", "--limit", "100", "agent:opencode"]).ok().stdout;

    let report = import();
    assert_eq!(report["kinds"]["sessions"]["found"], 1, "without that of the subagent: {report:#}");
    assert_eq!(report["kinds"]["sessions"]["imported"], 1, "{report:#}");
    assert_eq!(report["learnt"]["prompts"], 1, "{report:#}");
    let first = stored();
    assert!(first.contains("module3") && !first.contains("module9"), "{first}");
    let again = import();
    assert_eq!(again["kinds"]["sessions"]["imported"], 0, "{again:#}");
    assert!(adds_up(&again), "{again:#}");
    assert_eq!(stored(), first);

    // The session goes on, and the client shortens what it had kept.
    database.run("UPDATE part SET data = json_set(data, '$.state.output', '') WHERE id = 'b3-1'");
    database.turn("s-1", 4);
    let more = import();
    assert_eq!(more["learnt"]["prompts"], 1, "{more:#}");
    let all = stored();
    assert!(all.contains("module3") && all.contains("module4"), "{all}");
    for never in [SECRET, "never a memory again"] {
        assert!(!all.contains(never), "{never} in {all}");
    }
    let ours = std::fs::read(home.data_dir().join("claude-mem.db")).unwrap();
    assert!(memchr::memmem::find(&ours, SECRET.as_bytes()).is_none());
    let files = std::fs::read_dir(database.path.parent().unwrap()).unwrap().count();
    assert_eq!(files, 1, "nothing is left beside the client's database");

    let redone = home.mem(&["redo", "--local", "--json"]).ok().json();
    assert_eq!(redone["sessions"], 1, "{redone:#}");
    // Messages that were taken back are not read again from the start.
    database.run("DELETE FROM message WHERE id >= 'b'");
    let less = import();
    assert_eq!(less["kinds"]["sessions"]["imported"], 0, "{less:#}");
    assert_eq!(less["learnt"]["prompts"], 0, "{less:#}");
}

#[test]
fn database_of_another_layout_is_named() {
    let home = sandbox();
    let database = OpenCodeDatabase::create(&home);
    database.run("ALTER TABLE part RENAME TO piece");
    let refused = home.mem(&["import", "transcripts", "--agent", "opencode"]);
    assert!(refused.stderr.contains("unknown layout"), "{refused}");
}
