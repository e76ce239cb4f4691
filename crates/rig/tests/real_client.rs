//! The rig itself, with the real clients: what the stage promises, they keep.

#![allow(clippy::expect_used, reason = "helpers of tests")]

use rig::client::{self, CURRENT, OLDER, OLDEST};
use rig::model::{Script, ScriptedModel, Turn};
use rig::sandbox::{EVENTS, Fired};
use rig::{Output, Sandbox};
use serde_json::json;

/// A session that writes a file, runs a command that passes and one that fails, and reads.
struct Played {
    home: Sandbox,
    model: ScriptedModel,
    output: Output,
}

fn play(version: &str) -> Option<Played> {
    let client = client::or_skip(version)?;
    let model = ScriptedModel::start(Script::session());
    let home = Sandbox::new().with_client(&client).with_model(&model);
    let file = home.project().join("hello.txt");
    for turn in [
        Turn::text("I write a file.").and_call(
            "Write",
            json!({"file_path": file, "content": "hello world\n"}),
        ),
        Turn::call(
            "Bash",
            json!({"command": "wc -c hello.txt", "description": "count"}),
        ),
        Turn::call(
            "Bash",
            json!({"command": "echo oops >&2; exit 3", "description": "fail"}),
        ),
        Turn::call("Read", json!({"file_path": file})),
        Turn::text("All done."),
    ] {
        model.push(turn);
    }
    home.watch_hooks(&EVENTS);
    let output = home.prompt("Write hello.txt and look at it.");
    Some(Played {
        home,
        model,
        output,
    })
}

fn check(version: &str) {
    let Some(Played {
        home,
        model,
        output,
    }) = play(version)
    else {
        return;
    };
    let story = model.story();
    let output = output.ok();
    assert_eq!(
        (output.stdout.trim(), output.stderr.as_str()),
        ("All done.", ""),
        "{story}"
    );
    assert_eq!(home.read("hello.txt"), "hello world\n");
    assert_eq!(model.turns_left(), 0, "{story}");
    assert!(
        model
            .messages()
            .iter()
            .all(|m| m.header("x-api-key") == Some(rig::sandbox::DUMMY_KEY))
    );

    let fired = home.fired();
    assert_eq!(names(&fired), HOOKS, "{story}");
    let session = &fired[0].payload["session_id"];
    for hook in &fired {
        assert_eq!(hook.payload["hook_event_name"], hook.event.as_str());
        assert_eq!(hook.payload["cwd"], json!(home.project()));
        assert_eq!(&hook.payload["session_id"], session);
        assert!(hook.env.contains(&(
            "CLAUDE_PROJECT_DIR".into(),
            home.project().display().to_string()
        )));
    }

    let last = model.messages().pop().expect("the client asked the model");
    for event in ["SessionStart", "UserPromptSubmit", "PostToolUse"] {
        assert!(
            last.says(&format!("MEMORY-FROM-{event}")),
            "{event} is not in {:#}",
            last.body
        );
    }
    let failed: Vec<_> = last
        .tool_results()
        .iter()
        .map(|result| result.is_error)
        .collect();
    assert_eq!(failed, [false, false, true, false], "{story}");
    home.assert_alone();
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

fn names(fired: &[Fired]) -> Vec<String> {
    let name = |f: &Fired| match f.payload["tool_name"].as_str() {
        Some(tool) => format!("{} {tool}", f.event),
        None => f.event.clone(),
    };
    // The oldest client warms up subagents, which end whenever they end.
    let main = fired.iter().filter(|f| f.event != "SubagentStop");
    main.map(name).collect()
}

#[test]
fn hooks_of_the_current_client_fire_and_their_context_reaches_the_model() {
    check(CURRENT);
}

#[test]
fn hooks_of_the_older_client_fire_and_their_context_reaches_the_model() {
    check(OLDER);
}

#[test]
fn hooks_of_the_oldest_client_fire_and_their_context_reaches_the_model() {
    check(OLDEST);
}

#[test]
fn the_model_reaches_an_mcp_server_of_the_sandbox_through_the_client() {
    for version in [CURRENT, OLDEST] {
        let Some(client) = client::or_skip(version) else {
            continue;
        };
        let script = Script::session()
            .turn(Turn::call(
                "mcp__claude-mem__search",
                json!({"query": "greet"}),
            ))
            .turn(Turn::text("Found."));
        let model = ScriptedModel::start(script);
        let home = Sandbox::new().with_client(&client).with_model(&model);
        home.mcp_for(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stand-in.sh").as_ref());
        home.prompt("What do we know of greet?").ok();
        let last = model.messages().pop().expect("the client asked the model");
        assert!(
            last.tool_names().contains(&"mcp__claude-mem__search"),
            "{version}: {}",
            model.story()
        );
        assert_eq!(
            last.tool_results()[0].text,
            "FOUND-IN-MEMORY",
            "{version}: {}",
            model.story()
        );
        home.assert_alone();
    }
}
