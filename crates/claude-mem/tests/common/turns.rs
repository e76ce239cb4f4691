//! Sends whole turns through the hooks, and reads the rows that the worker made of them.

use std::time::{Duration, Instant};

use claude_mem_store::{Observation, PageRequest, RowFilter, SpendRow, Store, StoreCounts};
use rig::Sandbox;
use serde_json::{Value, json};

use super::{configure, sandbox};

/// A sandbox with the real clock, whose worker uses a model at this URL.
pub(crate) fn sandbox_with_provider(provider: &str, url: &str) -> Sandbox {
    let mut home = sandbox();
    home.unset_env("CLAUDE_MEM_NOW");
    // These tests do not need vectors, which would take most of the time.
    configure(&home, &json!({ "provider": provider, "base_url": url, "model": "m-1", "vectors": false }));
    home
}

/// Calls a hook of one session, as the client would.
pub(crate) fn hook(home: &Sandbox, session: &str, event: &str, more: &Value) {
    let mut payload = json!({
        "session_id": session,
        "hook_event_name": event,
        "cwd": home.project(),
        "transcript_path": "/nowhere.jsonl",
    });
    for (name, value) in more.as_object().expect("fields") {
        payload[name] = value.clone();
    }
    home.hook(event, payload.to_string()).ok();
}

/// Sends a prompt, an edit and the agent's last message.
pub(crate) fn turn(home: &Sandbox, session: &str, number: u32) {
    let prompt_id = format!("{session}-{number}");
    let prompt = json!({"prompt": format!("Ask {number}"), "prompt_id": prompt_id});
    hook(home, session, "UserPromptSubmit", &prompt);
    let edit = json!({
        "tool_name": "Edit",
        "tool_use_id": format!("toolu_{session}_{number}"),
        "tool_input": {"file_path": "src/a.rs", "old_string": "a", "new_string": "b"},
        "tool_response": {},
    });
    hook(home, session, "PostToolUse", &edit);
    let stop = json!({"last_assistant_message": format!("Done {number}."), "prompt_id": prompt_id});
    hook(home, session, "Stop", &stop);
}

pub(crate) fn store(home: &Sandbox) -> Store {
    Store::open_read_only(&home.data_dir().join("claude-mem.db")).expect("a store")
}

pub(crate) fn counts(home: &Sandbox) -> StoreCounts {
    store(home).read().counts().expect("counted")
}

/// The observations, newest first.
pub(crate) fn observations(home: &Sandbox) -> Vec<Observation> {
    let all = store(home).read().observations(&RowFilter::default(), PageRequest::first(500));
    all.expect("read").items
}

/// The spend rows, newest first.
pub(crate) fn spend(home: &Sandbox) -> Vec<SpendRow> {
    let rows = store(home).read().spend_rows(PageRequest::first(500));
    rows.expect("read").items
}

pub(crate) fn drain(home: &Sandbox) {
    home.mem(&["worker", "run", "--until-drained"]).ok();
}

pub(crate) fn pid(home: &Sandbox) -> Option<u64> {
    let status = home.mem(&["worker", "status", "--json"]).ok();
    let status: Value = serde_json::from_str(&status.stdout).expect("JSON");
    status["pid"].as_u64()
}

/// Waits until a condition holds, as long as a loaded machine may need.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(40);
    while !is_so() {
        assert!(Instant::now() < until, "{what} did not come to be");
        std::thread::sleep(Duration::from_millis(10));
    }
}
