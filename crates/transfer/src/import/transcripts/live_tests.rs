//! The same session through hooks and transcript backfill, and through the import.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::tests::TranscriptImportFixture;
use super::*;
use claude_mem_capture::hook::{HookEnvironment, ingest_payload};
use claude_mem_capture::transcript::testing::task_notification;
use claude_mem_core::agents::CLAUDE_CODE;
use claude_mem_core::clock::Micros;
use claude_mem_ingest::heuristic_compressor::HeuristicCompressor;
use claude_mem_ingest::pipeline::EpisodePipeline;
use claude_mem_ingest::pipeline_observer::PipelineObserver;
use claude_mem_ingest::scheduler::Scheduler;
use claude_mem_ingest::shared_store::SharedStore;
use claude_mem_ingest::transcript_backfill::TranscriptBackfill;

/// 2026-01-31 10:00:00 UTC.
const START_SECONDS: i64 = 1_769_853_600;
const CWD: &str = "/work/shop";

/// One step of a client.
enum ClientStep {
    /// Appends a record to the transcript.
    Record(Value),
    /// Calls a hook.
    Hook(&'static str, Value),
    /// Writes the transcript of a subagent.
    Subagent(&'static str, Vec<Value>),
    /// The worker drains the queue.
    Drain,
}

/// A session as a client would run it.
struct ClientScript {
    session: &'static str,
    steps: Vec<ClientStep>,
    prompt_id: String,
    prompts: Cell<u32>,
}

#[derive(Debug)]
struct SilentObserver;
impl PipelineObserver for SilentObserver {}

impl ClientScript {
    fn new(session: &'static str) -> Self {
        Self { session, steps: Vec::new(), prompt_id: String::new(), prompts: Cell::new(0) }
    }

    fn record(&mut self, record: Value) -> &mut Self {
        self.steps.push(ClientStep::Record(record));
        self
    }

    fn hook(&mut self, event: &'static str, mut fields: Value) -> &mut Self {
        fields["prompt_id"] = self.prompt_id.as_str().into();
        self.steps.push(ClientStep::Hook(event, fields));
        self
    }

    /// A prompt that is submitted: the hook, then the record.
    fn prompt(&mut self, text: &str) -> &mut Self {
        self.prompts.set(self.prompts.get() + 1);
        self.prompt_id = format!("{}-p{}", self.session, self.prompts.get());
        let id = self.prompt_id.clone();
        self.hook("UserPromptSubmit", json!({"prompt": text}));
        self.record(json!({"type": "user", "promptId": id, "message": {"role": "user", "content": text}}))
    }

    fn call(&mut self, id: &str, tool: &str, input: &Value) -> &mut Self {
        self.record(
            json!({"type": "assistant", "message": {"id": format!("m-{id}"), "stop_reason": "tool_use",
            "content": [{"type": "tool_use", "id": id, "name": tool, "input": input}]}}),
        )
    }

    /// A tool call with its hook and its result.
    fn tool(&mut self, id: &str, tool: &str, input: &Value, output: &Value) -> &mut Self {
        self.call(id, tool, input);
        self.hook(
            "PostToolUse",
            json!({"tool_name": tool, "tool_use_id": id, "tool_input": input, "tool_response": output}),
        );
        self.record(json!({"type": "user", "toolUseResult": output, "message": {"role": "user",
            "content": [{"type": "tool_result", "tool_use_id": id, "content": "done"}]}}))
    }

    fn edit(&mut self, id: &str) -> &mut Self {
        let input = json!({"file_path": "/work/shop/src/price.rs", "old_string": "f64", "new_string": "i64"});
        self.tool(id, "Edit", &input, &json!({"filePath": "/work/shop/src/price.rs"}))
    }

    fn reject(&mut self, id: &str, words: &str) -> &mut Self {
        let told = format!(
            "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how \
             to proceed, the user said:\n{words}"
        );
        self.record(
            json!({"type": "user", "toolUseResult": "User rejected tool use", "message": {"role": "user",
            "content": [{"type": "tool_result", "tool_use_id": id, "is_error": true, "content": told}]}}),
        )
    }

    fn says(&mut self, text: &str) -> &mut Self {
        let id = format!("m-{}", self.steps.len());
        self.record(json!({"type": "assistant", "message": {
            "id": id, "stop_reason": null, "content": [{"type": "text", "text": text}]}}))
    }

    /// The agent's last message of the turn, and the worker at work on it.
    fn stop(&mut self, text: &str) -> &mut Self {
        self.says(text);
        self.hook("Stop", json!({"last_assistant_message": text}));
        self.steps.push(ClientStep::Drain);
        self
    }

    fn queue(&mut self, operation: &str, content: Option<&str>) -> &mut Self {
        self.record(json!({"type": "queue-operation", "operation": operation, "content": content}))
    }

    fn record_at(&self, seconds: i64, record: &Value) -> String {
        let at = jiff::Timestamp::from_second(START_SECONDS + seconds).unwrap();
        let mut record = record.clone();
        record["timestamp"] = at.to_string().into();
        record["sessionId"] = self.session.into();
        record["uuid"] = format!("{}-u{seconds}", self.session).into();
        record["cwd"] = CWD.into();
        record["version"] = "2.1.325".into();
        format!("{record}\n")
    }
}

/// Plays scripts one after the other, live and into transcripts.
struct LiveStage {
    fixture: TranscriptImportFixture,
    data: DataDir,
    session_events: usize,
}

impl LiveStage {
    fn new() -> Self {
        let fixture = TranscriptImportFixture::new();
        let data = fixture.data("live");
        std::fs::write(data.settings(), r#"{"worker": "manual"}"#).unwrap();
        std::fs::create_dir_all(fixture.folder().join("shop")).unwrap();
        Self { fixture, data, session_events: 0 }
    }

    fn transcript(&self, session: &str) -> PathBuf {
        self.fixture.folder().join("shop").join(format!("{session}.jsonl"))
    }

    /// Plays a session whose first step happens so many seconds after the start.
    fn play(&mut self, script: &ClientScript, from_seconds: i64) {
        for (step, seconds) in script.steps.iter().zip(from_seconds..) {
            match step {
                ClientStep::Record(record) => {
                    append(&self.transcript(script.session), &script.record_at(seconds, record));
                }
                ClientStep::Hook(event, fields) => self.hook(script.session, event, fields, seconds),
                ClientStep::Subagent(id, records) => {
                    let dir = self.transcript(script.session).with_extension("").join("subagents");
                    std::fs::create_dir_all(&dir).unwrap();
                    std::fs::write(dir.join(format!("agent-{id}.meta.json")), r#"{"agentType":"Explore"}"#)
                        .unwrap();
                    for record in records {
                        let mut record = record.clone();
                        record["agentId"] = (*id).into();
                        record["isSidechain"] = true.into();
                        append(&dir.join(format!("agent-{id}.jsonl")), &script.record_at(seconds, &record));
                    }
                }
                ClientStep::Drain => self.drain(),
            }
        }
        let last = from_seconds + i64::try_from(script.steps.len()).unwrap();
        self.hook(script.session, "SessionEnd", &json!({"reason": "other"}), last);
        self.session_events += 1;
        self.drain();
    }

    fn hook(&self, session: &str, event: &str, fields: &Value, seconds: i64) {
        let mut payload = fields.clone();
        payload["session_id"] = session.into();
        payload["cwd"] = CWD.into();
        payload["transcript_path"] = self.transcript(session).to_str().unwrap().into();
        let environment = HookEnvironment {
            started: Micros((START_SECONDS + seconds) * 1_000_000),
            env: |_: &str| None,
            notices: |_, _, _, _, _| Ok(Vec::new()),
        };
        let payload = payload.to_string();
        ingest_payload(&CLAUDE_CODE, event, payload.as_bytes(), &self.data, &environment).unwrap();
    }

    fn drain(&self) {
        let store = Arc::new(SharedStore::open(&self.data, Millis(0)).unwrap());
        let backfill = TranscriptBackfill::new(Arc::clone(&store), "/home/user".into());
        let pipeline = EpisodePipeline {
            store: Arc::clone(&store),
            backfill: Some(Arc::new(backfill)),
            compressor: Arc::new(HeuristicCompressor::default()),
            observer: Arc::new(SilentObserver),
        };
        let scheduler = Scheduler::start(pipeline, 1).unwrap();
        assert!(scheduler.flush(|| false).unwrap());
        scheduler.stop(Duration::from_secs(9));
        store.close().unwrap();
    }

    /// Imports the transcripts into a fresh store and compares both.
    fn assert_import_is_equal(&self) -> Vec<String> {
        let imported = self.fixture.data("imported");
        let mut store = Store::open(&imported.db()).unwrap();
        self.fixture.run(&mut store, &imported);
        let live = Store::open(&self.data.db()).unwrap();
        let (want, got) = (rows(&store), rows(&live));
        assert_eq!(got, want, "rows: live on the left, imported on the right");
        let (live, imported) = (seen(&self.data), seen(&imported));
        assert_eq!(imported.difference(&live).count(), 0, "events that only the import has");
        assert_eq!(live.len() - imported.len(), self.session_events, "events that only hooks have");
        got
    }
}

fn append(path: &Path, line: &str) {
    use std::io::Write as _;
    let mut file = std::fs::File::options().create(true).append(true).open(path).unwrap();
    file.write_all(line.as_bytes()).unwrap();
}

/// The keys of all events.
#[allow(clippy::disallowed_methods, reason = "the store does not list keys")]
fn seen(data: &DataDir) -> BTreeSet<Vec<u8>> {
    let db = rusqlite::Connection::open(data.db()).unwrap();
    let mut query = db.prepare("SELECT key FROM events_seen").unwrap();
    query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// The rows of a store without ids, times and marks of the import.
fn rows(store: &Store) -> Vec<String> {
    let mut text = Vec::new();
    crate::export::json::write_document(
        &store.read(),
        crate::export::ExportScope::default(),
        Millis(0),
        &mut text,
    )
    .unwrap();
    let document: Value = serde_json::from_slice(&text).unwrap();
    let mut lines = Vec::new();
    let kept: [(&str, &[&str]); 4] = [
        ("prompts", &["origin", "private", "text", "prompt_number"]),
        ("messages", &["agent_id", "agent_type", "prompt_number", "text"]),
        ("observations", &["type", "origin", "title", "narrative"]),
        ("summaries", &["request", "completed", "next_steps"]),
    ];
    for (list, fields) in kept {
        for row in document[list].as_array().unwrap() {
            let fields: Vec<String> = fields.iter().map(|field| row[*field].to_string()).collect();
            lines.push(format!("{list} {}", fields.join(" ")));
        }
    }
    lines.sort();
    lines
}

fn played(build: impl FnOnce(&mut ClientScript)) -> Vec<String> {
    let mut script = ClientScript::new("s");
    build(&mut script);
    let mut stage = LiveStage::new();
    stage.play(&script, 1);
    stage.assert_import_is_equal()
}

fn count(rows: &[String], list: &str) -> usize {
    rows.iter().filter(|row| row.starts_with(list)).count()
}

#[test]
fn rejected_call_and_answered_question_are_equal() {
    let questions = json!([{"question": "Which store?", "header": "Store",
        "options": [{"label": "SQLite", "description": "one file"}]}]);
    let rows = played(|script| {
        script.prompt("Count money in cents").says("I look at the price first.");
        script.call("t1", "Bash", &json!({"command": "rm -rf build"})).reject("t1", "Never delete build.");
        script.tool(
            "t2",
            "AskUserQuestion",
            &json!({"questions": questions}),
            &json!({"questions": questions, "answers": {"Which store?": "SQLite"}}),
        );
        script.edit("t3").stop("Amounts are cents now.");
    });
    assert_eq!((count(&rows, "prompts"), count(&rows, "messages")), (1, 1), "{rows:#?}");
}

#[test]
fn background_subagent_is_equal_and_not_the_user() {
    let rows = played(|script| {
        script.prompt("Look for the leak in the background");
        script.tool(
            "t1",
            "Task",
            &json!({"prompt": "look"}),
            &json!({"status": "async_launched", "agentId": "a1"}),
        );
        script.stop("Started.");
        let records = vec![
            json!({"type": "user", "message": {"role": "user", "content": "look"}}),
            json!({"type": "assistant", "message": {"id": "am", "stop_reason": "end_turn",
                "content": [{"type": "text", "text": "The cache never frees its rows."}]}}),
        ];
        script.steps.push(ClientStep::Subagent("a1", records));
        script.hook(
            "SubagentStop",
            json!({"agent_id": "a1", "agent_type": "Explore",
                "last_assistant_message": "The cache never frees its rows."}),
        );
        let report = task_notification("a1", "The cache never frees its rows.");
        script.queue("enqueue", Some(&report)).queue("dequeue", None);
        script.prompt(&report).stop("The cache leaks.");
    });
    assert_eq!(count(&rows, "prompts"), 1, "{rows:#?}");
    let reports = rows.iter().filter(|row| row.starts_with("messages") && row.contains("never frees"));
    assert_eq!(reports.count(), 1, "{rows:#?}");
    assert_eq!(rows.iter().filter(|row| row.contains("\"The cache leaks.\"")).count(), 1, "{rows:#?}");
}

#[test]
fn teammate_message_is_equal_and_not_the_user() {
    let rows = played(|script| {
        script.prompt("Review the price module").edit("t1").stop("Reviewed.");
        script.prompt("<teammate-message teammate_id=\"lead\">You only touch the tests.</teammate-message>");
        script.edit("t2").stop("Only the tests.");
    });
    assert_eq!(count(&rows, "prompts"), 1, "{rows:#?}");
    assert!(!rows.iter().any(|row| row.starts_with("observations") && row.contains("\"user\" \"You only")));
}

#[test]
fn queued_prompts_are_equal() {
    let rows = played(|script| {
        script.prompt("Count money in cents").queue("enqueue", Some("and keep the old names"));
        script.queue("remove", None).edit("t1").queue("enqueue", Some("now the invoices"));
        script.stop("Amounts are cents now.").queue("dequeue", None);
        script.prompt("now the invoices").edit("t2").stop("Invoices, too.");
    });
    assert_eq!(count(&rows, "prompts"), 2, "{rows:#?}");
}

#[test]
fn plan_handover_compaction_and_recap_are_equal() {
    let rows = played(|script| {
        script.prompt("Implement the following plan:\n\n# Plan: cents\n\nUse integers.").edit("t1");
        script.stop("Amounts are cents now.");
        script.record(json!({"type": "system", "subtype": "away_summary",
            "content": "Amounts are cents. Next: invoices. (disable recaps in /config)"}));
        script.prompt("now the invoices").edit("t2");
        script.hook(
            "PostCompact",
            json!({"trigger": "auto", "compact_summary":
            "<analysis>thinking</analysis>\n<summary>\n1. Amounts are cents.\n</summary>"}),
        );
        script.record(json!({"type": "user", "isCompactSummary": true, "isVisibleInTranscriptOnly": true,
            "message": {"role": "user", "content": "This session is being continued from a previous \
            conversation that ran out of context.\nSummary:\n1. Amounts are cents.\n\nIf you need specific \
            details from before compaction, read the full transcript."}}));
        script.edit("t3").stop("Invoices, too.");
    });
    let plan = rows.iter().find(|row| row.starts_with("prompts \"agent\""));
    assert!(plan.is_some_and(|plan| plan.contains("# Plan: cents")), "{rows:#?}");
    assert_eq!(rows.iter().filter(|row| row.contains("1. Amounts are cents.")).count(), 1, "{rows:#?}");
}

#[test]
fn interrupted_turn_is_equal() {
    played(|script| {
        script.prompt("Count money in cents").says("I begin with the price.").edit("t1");
        script.record(json!({"type": "user", "message": {"role": "user",
            "content": [{"type": "text", "text": "[Request interrupted by user]"}]}}));
        script.prompt("Use i128 instead").edit("t2").stop("Amounts are i128 now.");
    });
}

#[test]
fn resumed_and_forked_sessions_are_equal() {
    let mut first = ClientScript::new("first");
    first.prompt("Count money in cents").says("I begin.").edit("t1").stop("Amounts are cents now.");
    let mut again = ClientScript::new("first");
    again.prompts = Cell::new(1);
    again.prompt("now the invoices").says("The invoices follow.").edit("t2").stop("Invoices, too.");
    let mut stage = LiveStage::new();
    stage.play(&first, 1);
    stage.play(&again, 600);
    // The fork begins with a copy of the history under its own id.
    let history = std::fs::read_to_string(stage.transcript("first")).unwrap();
    append(&stage.transcript("fork"), &history.replace("\"sessionId\":\"first\"", "\"sessionId\":\"fork\""));
    let mut fork = ClientScript::new("fork");
    fork.prompt("try floats once more").says("Floats again.").edit("t3").stop("Floats are back.");
    stage.play(&fork, 1_200);
    let rows = stage.assert_import_is_equal();
    assert_eq!((count(&rows, "prompts"), count(&rows, "messages")), (3, 3), "{rows:#?}");
}

#[test]
fn lines_that_are_flushed_after_the_lease_are_taken_once() {
    let mut script = ClientScript::new("s");
    script.prompt("Count money in cents").edit("t1");
    // The hook comes first, the worker drains, and only then the client writes these lines.
    script.hook("Stop", json!({"last_assistant_message": "Amounts are cents now."}));
    script.steps.push(ClientStep::Drain);
    script.says("The price was a float.");
    script.call("t2", "Bash", &json!({"command": "rm -rf build"})).reject("t2", "Never delete build.");
    script.says("Amounts are cents now.");
    script.prompt("now the invoices").edit("t3").stop("Invoices, too.");
    let mut stage = LiveStage::new();
    stage.play(&script, 1);
    let imported = stage.fixture.data("imported");
    let mut store = Store::open(&imported.db()).unwrap();
    stage.fixture.run(&mut store, &imported);
    let (live, imported) = (seen(&stage.data), seen(&imported));
    assert_eq!(live.len() - imported.len(), stage.session_events);
    assert!(imported.is_subset(&live));
    let live = rows(&Store::open(&stage.data.db()).unwrap());
    assert_eq!((count(&live, "prompts"), count(&live, "messages")), (2, 2), "{live:#?}");
}
