use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::thread::JoinHandle;

use serde_json::{Value, json};

use super::*;
use crate::hook::skip_reason::SkipReason;
use crate::hook_database::testing::OPENED;
use claude_mem_core::agents::CLAUDE_CODE;
use claude_mem_core::clock::{Micros, Millis};
use claude_mem_store::testing::{WorkerScratch, observation, scratch};
use claude_mem_store::{NewRowContext, Store};

const QUESTION: &str =
    "Customers complain about invoices: the cents look truncated, check the rounding of invoices";
const DECISION: &str = "Invoices are always rounded up to whole cents with ceil, never truncated";

/// A data directory, a project in it, and the environment of a hook.
struct HookStage {
    scratch: WorkerScratch,
    project: PathBuf,
    now: std::cell::Cell<i64>,
}

/// What one hook did.
#[derive(Debug)]
struct Observed {
    text: String,
    skip_reason: Option<SkipReason>,
    databases_opened: u32,
}

impl HookStage {
    /// A stage without a database.
    fn new() -> Self {
        let scratch = scratch();
        let project = scratch.dir.root().join("shop");
        std::fs::create_dir_all(&project).unwrap();
        scratch.dir.create().unwrap();
        Self { scratch, project, now: std::cell::Cell::new(1_000_000_000) }
    }

    /// A stage whose project has a decision about invoices.
    fn with_memory() -> Self {
        let stage = Self::new();
        let mut store = Store::open(&stage.scratch.dir.db()).unwrap();
        let hint = claude_mem_core::project::identify(&stage.project);
        let made = store.write(|tx| {
            let project = tx.ensure_project(&hint, Millis(1))?;
            let meta = NewRowContext { project: Some(project), ..NewRowContext::default() };
            tx.create_observation(&observation(DECISION, Millis(1)), &meta)
        });
        made.unwrap();
        store.close().unwrap();
        stage
    }

    fn socket(&self) -> PathBuf {
        self.scratch.dir.worker_sock(&self.project)
    }

    fn hook(&self, event: &str, fields: &Value) -> Observed {
        self.hook_with(event, fields, &[])
    }

    fn hook_with(&self, event: &str, fields: &Value, env: &[(&str, &str)]) -> Observed {
        let mut payload = fields.clone();
        payload["session_id"] = "s".into();
        payload["cwd"] = self.project.to_str().unwrap().into();
        self.now.set(self.now.get() + 1_000_000);
        let environment = HookEnvironment {
            started: Micros(self.now.get()),
            env: |name: &str| match name {
                // A test must not start this test program as a worker.
                "CLAUDE_MEM_WORKER" => Some("manual".into()),
                _ => env.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()),
            },
            notices: |_, _, _, _, _| Ok(Vec::new()),
        };
        let before = OPENED.get();
        let payload = payload.to_string();
        let handled =
            ingest_payload(&CLAUDE_CODE, event, payload.as_bytes(), &self.scratch.dir, &environment).unwrap();
        let text = match handled.response {
            HookResponse::Neutral => String::new(),
            HookResponse::Context { text, .. } | HookResponse::Message { text, .. } => text,
        };
        Observed { text, skip_reason: handled.skip_reason, databases_opened: OPENED.get() - before }
    }

    fn times_shown(&self) -> usize {
        let store = Store::open_read_only(&self.scratch.dir.db()).unwrap();
        store.read().feedback_for_session("s").unwrap().len()
    }
}

/// A worker that replies to recall requests with `reply`, or never.
struct FakeWorker {
    socket: PathBuf,
    serving: JoinHandle<Vec<String>>,
}

impl FakeWorker {
    fn start(stage: &HookStage, reply: Option<&'static str>) -> Self {
        let socket = stage.socket();
        let listener = UnixListener::bind(&socket).unwrap();
        let serving = std::thread::spawn(move || {
            let mut calls = Vec::new();
            for stream in listener.incoming() {
                match serve(&stream.unwrap(), reply) {
                    end if end == "end" => break,
                    said => calls.push(said),
                }
            }
            calls
        });
        Self { socket, serving }
    }

    /// What was said on each connection.
    fn calls(self) -> Vec<String> {
        UnixStream::connect(&self.socket).unwrap().write_all(b"end").unwrap();
        std::fs::remove_file(&self.socket).unwrap();
        self.serving.join().unwrap()
    }
}

fn serve(mut stream: &UnixStream, reply: Option<&str>) -> String {
    let mut lines = BufReader::new(stream);
    let mut said = String::new();
    lines.read_line(&mut said).unwrap();
    if let (true, Some(reply)) = (said.starts_with("recall "), reply) {
        stream.write_all(reply.as_bytes()).unwrap();
        lines.read_line(&mut said).unwrap();
        // A hook that could not use the reply has gone.
        let _ = stream.write_all(b"noted\n");
    }
    lines.read_to_string(&mut said).unwrap();
    said
}

fn prompt() -> Value {
    json!({"prompt": QUESTION})
}

fn failure() -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "error": "error: invoices truncated to cents in ceil"})
}

/// The connection carries one request and the acknowledgement, and no other wake is needed.
fn assert_one_recall(calls: &[String], acknowledged: bool) {
    let [call] = calls else { panic!("one connection, not {calls:?}") };
    let lines: Vec<_> = call.lines().collect();
    assert!(lines[0].starts_with("recall "), "{call}");
    assert_eq!(&lines[1..], if acknowledged { &["heard"][..] } else { &[] }, "{call}");
}

#[test]
fn prompt_wakes_and_asks_the_worker_on_one_connection() {
    let stage = HookStage::with_memory();
    for (event, fields) in [("UserPromptSubmit", prompt()), ("PostToolUseFailure", failure())] {
        let worker = FakeWorker::start(&stage, Some("{\"text\":\"only the worker knows\"}\n"));
        let observed = stage.hook(event, &fields);
        assert_eq!(observed.text, "only the worker knows", "{event}");
        assert_eq!((observed.skip_reason, observed.databases_opened), (None, 0), "{event}");
        assert_one_recall(&worker.calls(), true);
    }
    assert_eq!(stage.times_shown(), 0, "the worker records it");
}

#[test]
fn worker_with_nothing_to_show_is_believed() {
    let stage = HookStage::with_memory();
    let worker = FakeWorker::start(&stage, Some("{\"text\":\"\"}\n"));
    let observed = stage.hook("UserPromptSubmit", &prompt());
    assert_eq!((observed.text.as_str(), observed.databases_opened), ("", 0));
    assert_one_recall(&worker.calls(), true);
}

#[test]
fn silent_worker_is_replaced_by_local_search() {
    let stage = HookStage::with_memory();
    let worker = FakeWorker::start(&stage, None);
    let observed = stage.hook("UserPromptSubmit", &prompt());
    assert!(observed.text.contains("never truncated"), "{observed:?}");
    assert_eq!(observed.databases_opened, 1);
    assert_one_recall(&worker.calls(), false);
    assert_eq!(stage.times_shown(), 1);
}

#[test]
fn garbage_of_a_worker_is_replaced_by_local_search() {
    let stage = HookStage::with_memory();
    let worker = FakeWorker::start(&stage, Some("{\"text\":7}\n"));
    let observed = stage.hook("UserPromptSubmit", &prompt());
    assert!(observed.text.contains("never truncated"), "{observed:?}");
    assert_one_recall(&worker.calls(), false);
    let log = std::fs::read_dir(stage.scratch.dir.logs()).unwrap().next().unwrap().unwrap().path();
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.contains("recall request to the worker failed"), "{log}");
    assert!(!log.contains("invoices"), "{log}");
}

#[test]
fn hook_without_recall_only_wakes_the_worker() {
    let stage = HookStage::with_memory();
    let off = [("CLAUDE_MEM_RECALL_PROMPT", "off"), ("CLAUDE_MEM_RECALL_FAILURE", "off")];
    for (event, fields, env) in [
        ("Stop", json!({"last_assistant_message": "Done."}), &[][..]),
        ("SessionStart", json!({"source": "startup"}), &[]),
        ("PostToolUse", json!({"tool_name": "Bash", "tool_input": {}, "tool_response": {}}), &[]),
        ("UserPromptSubmit", prompt(), &off),
        ("PostToolUseFailure", failure(), &off),
        ("UserPromptSubmit", json!({"prompt": "<private>x</private>"}), &[]),
        ("UserPromptSubmit", prompt(), &[("CLAUDE_MEM_DISABLED", "1")]),
    ] {
        let worker = FakeWorker::start(&stage, None);
        stage.hook_with(event, &fields, env);
        assert_eq!(worker.calls(), ["wake\n"], "{event}");
    }
}

#[test]
fn hook_without_an_event_leaves_the_worker_alone() {
    let stage = HookStage::with_memory();
    let worker = FakeWorker::start(&stage, None);
    let skipped = stage.hook("PostToolUse", &json!({"tool_name": "TodoRead"}));
    assert_eq!(skipped.skip_reason, Some(SkipReason::ToolSkipped));
    stage.hook("PreToolUse", &json!({"tool_name": "Read", "tool_input": {"file_path": "/x"}}));
    assert_eq!(worker.calls(), [""; 0]);
}

#[test]
fn hook_opens_the_database_at_most_once() {
    let known = || HookStage::with_memory();
    for (stage, event, fields, want) in [
        // Records the compaction, reads the context, records what was shown.
        (known(), "SessionStart", json!({"source": "compact"}), 1),
        (known(), "SessionStart", json!({"source": "startup"}), 1),
        // Drains the spool, then reads, then records the welcome.
        (HookStage::new(), "SessionStart", json!({"source": "startup"}), 1),
        (HookStage::new(), "SessionStart", json!({"source": "compact"}), 1),
        // Drains the spool, recalls, records what was shown.
        (known(), "UserPromptSubmit", prompt(), 1),
        // The events wait in the spool.
        (known(), "Stop", json!({"last_assistant_message": "Done."}), 0),
        (known(), "SessionEnd", json!({"reason": "clear"}), 1),
        (known(), "PostToolUseFailure", failure(), 1),
        // A tool hook without recall needs no database.
        (known(), "PostToolUse", json!({"tool_name": "Bash", "tool_input": {}, "tool_response": {}}), 0),
    ] {
        let observed = stage.hook(event, &fields);
        assert_eq!(observed.databases_opened, want, "{event} {fields}: {observed:?}");
    }
    let stage = known();
    let file = stage.project.join("invoice.rs");
    std::fs::write(&file, "// invoices\n".repeat(400)).unwrap();
    let read = json!({"tool_name": "Read", "tool_input": {"file_path": file}});
    assert_eq!(stage.hook("PreToolUse", &read).databases_opened, 1);
}

#[test]
fn one_connection_does_all_that_three_did() {
    let stage = HookStage::with_memory();
    let observed = stage.hook("UserPromptSubmit", &prompt());
    assert!(observed.text.contains("never truncated"), "{observed:?}");
    assert_eq!(stage.times_shown(), 1, "recorded");
    assert!(crate::spool::is_empty(&stage.scratch.dir).unwrap(), "drained");
    assert_eq!(stage.hook("UserPromptSubmit", &prompt()).text, "", "once");
    // After a compaction the agent no longer knows it.
    stage.hook("SessionStart", &json!({"source": "compact"}));
    assert!(stage.hook("UserPromptSubmit", &prompt()).text.contains("never truncated"));
}

/// Without a worker and without commands, the spool stays small.
#[test]
fn full_spool_is_drained_at_the_end_of_a_turn() {
    let stage = HookStage::with_memory();
    let tool = |n: u32| json!({"tool_name": "Bash", "tool_use_id": n.to_string(), "tool_input": {}});
    let stop = |n: u32| stage.hook("Stop", &json!({"last_assistant_message": format!("Done {n}.")}));
    for n in 0..63 {
        stage.hook("PostToolUse", &tool(n));
    }
    assert_eq!(stop(0).databases_opened, 0, "64 entries wait");
    assert!(!crate::spool::is_empty(&stage.scratch.dir).unwrap());
    assert_eq!(stop(1).databases_opened, 1, "one more is too many");
    // A slow machine may have time for one batch of 64 only.
    assert!(!crate::spool::holds_more_than(&stage.scratch.dir, 1).unwrap());
}

#[test]
fn private_turn_is_muted_even_if_the_rest_fails() {
    let stage = HookStage::with_memory();
    // The settings cannot be read.
    std::fs::create_dir_all(stage.scratch.dir.settings()).unwrap();
    let secret = json!({"prompt": "<private>x</private>"});
    let observed = stage.hook("UserPromptSubmit", &secret);
    assert_eq!(observed.skip_reason, Some(SkipReason::SettingsUnreadable));
    std::fs::remove_dir(stage.scratch.dir.settings()).unwrap();
    let tool = json!({"tool_name": "Bash", "tool_input": {}, "tool_response": {}});
    assert_eq!(stage.hook("PostToolUse", &tool).skip_reason, Some(SkipReason::TurnPrivate));
}

#[test]
fn only_a_prompt_of_the_user_ends_a_private_turn() {
    let foreign = [
        crate::transcript::testing::task_notification("a1", "It is 100."),
        "<teammate-message teammate_id=\"lead\">Is it 100?</teammate-message>".to_owned(),
        "Implement the following plan:\n\n# Pay 100".to_owned(),
        "<brief>Pay 100.</brief>".to_owned(),
    ];
    for prompt in foreign {
        let stage = HookStage::new();
        let edit = || stage.hook("PostToolUse", &json!({"tool_name": "Edit", "tool_use_id": "t1"}));
        stage.hook("UserPromptSubmit", &json!({"prompt": "<private>my salary</private>"}));
        let skipped = stage.hook("UserPromptSubmit", &json!({ "prompt": prompt }));
        assert_eq!(skipped.skip_reason, Some(SkipReason::NothingToCapture), "{prompt:?}");
        assert_eq!(edit().skip_reason, Some(SkipReason::TurnPrivate), "{prompt:?}");
        stage.hook("UserPromptSubmit", &json!({"prompt": "in public"}));
        assert_eq!(edit().skip_reason, None, "{prompt:?}");
    }
}

#[test]
fn repeated_words_of_a_private_block_are_masked_in_later_hooks() {
    let stage = HookStage::new();
    stage.hook(
        "UserPromptSubmit",
        &json!({"prompt": "use <private>canary7351</private> to log in", "prompt_id": "p"}),
    );
    stage.hook(
        "PostToolUse",
        &json!({"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "login canary7351"},
            "tool_response": {"stdout": "welcome canary7351", "stderr": ""}}),
    );
    stage.hook("Stop", &json!({"last_assistant_message": "I used canary7351."}));
    let mut stored = Vec::new();
    let mut open = vec![stage.scratch.dir.root().to_owned()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            stored.extend(std::fs::read(&path).unwrap());
        }
    }
    let stored = String::from_utf8_lossy(&stored);
    assert!(stored.contains("[redacted:private-word]"), "nothing was captured");
    assert!(!stored.contains("canary7351"));
}

#[test]
fn message_about_an_ignored_path_is_dropped() {
    for (message, kept) in [("I read /src/prod/.env and it says x.", false), ("All tests pass.", true)] {
        let stage = HookStage::new();
        let rules = [("CLAUDE_MEM_IGNORE_PATHS", "**/.env*")];
        stage.hook_with("Stop", &json!({"last_assistant_message": message}), &rules);
        let mut store = Store::open(&stage.scratch.dir.db()).unwrap();
        crate::enqueue::drain_spool(&stage.scratch.dir, &mut store, Millis(1)).unwrap();
        let said = store.read().pending(None, claude_mem_store::PageRequest::first(10)).unwrap();
        assert_eq!(said.items.len(), 1, "the end of the turn is captured");
        drop(store);
        let bytes = std::fs::read(stage.scratch.dir.db()).unwrap();
        let wal = claude_mem_core::paths::with_suffix(&stage.scratch.dir.db(), "-wal");
        let all = [bytes, std::fs::read(wal).unwrap_or_default()].concat();
        let found = memchr::memmem::find(&all, message.as_bytes()).is_some();
        assert_eq!(found, kept, "{message}");
    }
}
