//! Tests of the rig with the real clients: hooks, context and MCP servers work as in production.

#![allow(clippy::expect_used, reason = "test helpers")]

use rig::client::{self, CURRENT, OLDER, OLDEST};
use rig::model::{ModelScript, ModelTurn, ScriptedModel};
use rig::sandbox::{EVENTS, FiredHook};
use rig::{ProcessOutput, Sandbox};
use serde_json::json;

/// A session that writes a file, runs a command that passes and one that fails, and reads.
struct RecordedSession {
    home: Sandbox,
    model: ScriptedModel,
    output: ProcessOutput,
}

fn run_session(version: &str) -> Option<RecordedSession> {
    let client = client::or_skip(version)?;
    let model = ScriptedModel::start(ModelScript::session());
    let home = Sandbox::new().with_client(&client).with_model(&model);
    let file = home.project().join("hello.txt");
    for turn in [
        ModelTurn::text("I write a file.")
            .and_call("Write", json!({"file_path": file, "content": "hello world\n"})),
        ModelTurn::call("Bash", json!({"command": "wc -c hello.txt", "description": "count"})),
        ModelTurn::call("Bash", json!({"command": "echo oops >&2; exit 3", "description": "fail"})),
        ModelTurn::call("Read", json!({"file_path": file})),
        ModelTurn::text("All done."),
    ] {
        model.push(turn);
    }
    home.watch_hooks(&EVENTS);
    let output = home.prompt("Write hello.txt and look at it.");
    Some(RecordedSession { home, model, output })
}

fn check(version: &str) {
    let Some(RecordedSession { home, model, output }) = run_session(version) else {
        return;
    };
    let story = model.request_log();
    let output = output.ok();
    assert_eq!((output.stdout.trim(), output.stderr.as_str()), ("All done.", ""), "{story}");
    assert_eq!(home.read("hello.txt"), "hello world\n");
    assert_eq!(model.turns_left(), 0, "{story}");
    assert!(model.messages().iter().all(|m| m.header("x-api-key") == Some(rig::sandbox::DUMMY_KEY)));

    let fired = home.fired_hooks();
    assert_eq!(names(&fired), HOOKS, "{story}");
    let session = &fired[0].payload["session_id"];
    for hook in &fired {
        assert_eq!(hook.payload["hook_event_name"], hook.event.as_str());
        assert_eq!(hook.payload["cwd"], json!(home.project()));
        assert_eq!(&hook.payload["session_id"], session);
        assert!(hook.env.contains(&("CLAUDE_PROJECT_DIR".into(), home.project().display().to_string())));
    }

    let last = model.messages().pop().expect("the client asked the model");
    for event in ["SessionStart", "UserPromptSubmit", "PostToolUse"] {
        assert!(last.contains_text(&format!("MEMORY-FROM-{event}")), "{event} is not in {:#}", last.body);
    }
    let failed: Vec<_> = last.tool_results().iter().map(|result| result.is_error).collect();
    assert_eq!(failed, [false, false, true, false], "{story}");
    home.assert_no_processes();
    println!("{version}: {} hooks in {:?}", fired.len(), output.wall);
}

const HOOKS: [&str; 12] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse Write",
    "PostToolUse Write",
    "PreToolUse Bash",
    "PostToolUse Bash",
    "PreToolUse Bash",
    "PostToolUseFailure Bash",
    "PreToolUse Read",
    "PostToolUse Read",
    "Stop",
    "SessionEnd",
];

fn names(fired: &[FiredHook]) -> Vec<String> {
    let name = |f: &FiredHook| match f.payload["tool_name"].as_str() {
        Some(tool) => format!("{} {tool}", f.event),
        None => f.event.clone(),
    };
    // The oldest client warms up subagents, which end at any time.
    let main = fired.iter().filter(|f| f.event != "SubagentStop");
    main.map(name).collect()
}

#[test]
fn hook_context_reaches_the_model_on_current_client() {
    check(CURRENT);
}

#[test]
fn hook_context_reaches_the_model_on_older_client() {
    check(OLDER);
}

#[test]
fn hook_context_reaches_the_model_on_oldest_client() {
    check(OLDEST);
}

#[test]
fn model_calls_mcp_server_through_client() {
    for version in [CURRENT, OLDEST] {
        let Some(client) = client::or_skip(version) else {
            continue;
        };
        let script = ModelScript::session()
            .turn(ModelTurn::call("mcp__claude-mem__search", json!({"query": "greet"})))
            .turn(ModelTurn::text("Found."));
        let model = ScriptedModel::start(script);
        let home = Sandbox::new().with_client(&client).with_model(&model);
        home.install_mcp_server(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stand-in.sh").as_ref());
        home.prompt("What do we know of greet?").ok();
        let last = model.messages().pop().expect("the client asked the model");
        assert!(last.tool_names().contains(&"mcp__claude-mem__search"), "{version}: {}", model.request_log());
        assert_eq!(last.tool_results()[0].text, "FOUND-IN-MEMORY", "{version}: {}", model.request_log());
        home.assert_no_processes();
    }
}
