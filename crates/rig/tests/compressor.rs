//! `claude -p` with stream-json on stdin and stdout: the real client and the fake one.

#![allow(clippy::disallowed_methods, reason = "the child registry belongs to the product")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use rig::client::{self, CURRENT};
use rig::fake_claude::{FakeClaude, FakeClaudeEvent, FakeClaudeScript, FakeClaudeStep};
use rig::model::{ModelScript, ModelTurn, ScriptedModel};
use rig::{ProcessOutput, Sandbox, process};
use serde_json::{Value, json};

const ARGS: [&str; 17] = [
    "-p",
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--verbose",
    "--model",
    "claude-haiku-4-5",
    "--tools",
    "",
    "--strict-mcp-config",
    "--setting-sources",
    "",
    "--disable-slash-commands",
    "--no-session-persistence",
    "--system-prompt",
    "You distil.",
];

fn message(text: &str) -> String {
    json!({"type": "user", "message": {"role": "user", "content": text}}).to_string() + "\n"
}

fn result(output: &ProcessOutput) -> Value {
    let lines = output.json_lines();
    lines.into_iter().find(|line| line["type"] == "result").unwrap_or_default()
}

#[test]
fn real_client_compresses_with_scripted_model() {
    let Some(client) = client::or_skip(CURRENT) else {
        return;
    };
    let model = ScriptedModel::start(ModelScript::new().turn(ModelTurn::text("<observation/>")));
    let home = Sandbox::new()
        .with_client(&client)
        .with_model(&model)
        .with_env("MAX_THINKING_TOKENS", "0")
        .with_env("CLAUDE_CODE_MAX_RETRIES", "0");
    home.watch_hooks(&["SessionStart", "Stop"]);
    let output = home.claude(&ARGS, &message("OBSERVATION 1")).ok();
    let answer = result(&output);
    assert_eq!((&answer["is_error"], &answer["result"]), (&json!(false), &json!("<observation/>")));
    assert_eq!(answer["usage"]["input_tokens"], 100);
    let asked = model.messages();
    assert!(asked[0].last_user().contains("OBSERVATION 1") && asked[0].system().contains("You distil."));
    assert!(home.fired_hooks().is_empty(), "no settings, no hooks");

    model.push(ModelTurn::error(529));
    let answer = result(&home.claude(&ARGS, &message("OBSERVATION 2")));
    assert_eq!((&answer["subtype"], &answer["is_error"]), (&json!("success"), &json!(true)), "{answer}");
}

#[test]
fn fake_client_answers_like_the_real_one() {
    let dir = tempfile::tempdir().unwrap();
    let steps = [
        FakeClaudeStep::answer("one"),
        FakeClaudeStep::ApiError { status: 529 },
        FakeClaudeStep::answer("three"),
    ];
    let fake = FakeClaude::install_in(dir.path(), steps);
    let mut child = Command::new(fake.executable())
        .args(ARGS)
        .env("MARK", "me")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ask = |text: &str| {
        stdin.write_all(message(text).as_bytes()).unwrap();
        loop {
            let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            if line["type"] == "result" {
                return line;
            }
        }
    };
    assert_eq!(ask("a")["result"], "one");
    let error = ask("b");
    assert_eq!((&error["subtype"], &error["is_error"]), (&json!("success"), &json!(true)));
    assert_eq!(ask("c")["result"], "three");
    drop(stdin);
    assert!(child.wait().unwrap().success());
    assert_eq!(fake.messages(), ["a", "b", "c"]);
    let FakeClaudeEvent::Start { args, env, .. } = &fake.events()[0] else {
        panic!("the first event is not a start")
    };
    assert_eq!(args[1..], ARGS);
    assert!(env.contains(&("MARK".into(), "me".into())));
}

#[test]
fn fake_client_misbehaves_as_scripted() {
    let dir = tempfile::tempdir().unwrap();
    let steps = [
        FakeClaudeStep::Exit { code: 7 },
        FakeClaudeStep::ExitMidway { code: 1 },
        FakeClaudeStep::Garbage { text: "Segmentation fault".to_owned() },
        FakeClaudeStep::Hang,
        FakeClaudeStep::answer("well again"),
    ];
    let fake = FakeClaude::install_in(dir.path(), steps);
    let run = |limit_millis: u64| {
        let command = Command::new(fake.executable());
        process::run(command, message("x").as_bytes(), std::time::Duration::from_millis(limit_millis))
    };
    // Each run is a new process; the script continues where the last one stopped.
    assert_eq!(run(20_000).to_string(), "[exit 7]");
    let midway = run(20_000);
    assert_eq!(midway.code, Some(1));
    assert!(midway.stdout.contains("\"init\"") && !midway.stdout.ends_with('\n'), "{midway}");
    assert_eq!(run(20_000).to_string(), "Segmentation fault\n[exit 0]");
    assert_eq!(run(20_000).to_string(), "[exit 0]", "a hanging one leaves when stdin closes");
    assert_eq!(result(&run(20_000))["result"], "well again");
    let otherwise = FakeClaudeStep::Deaf;
    fake.set_script(&FakeClaudeScript { steps: Vec::new(), otherwise, refuses: None });
    assert!(run(500).timed_out, "a deaf one does not leave");
    fake.set_script(&FakeClaudeScript {
        steps: Vec::new(),
        otherwise: FakeClaudeStep::Endless,
        refuses: None,
    });
    assert!(!run(500).stdout.contains('\n'), "a line that does not end");
    let refuses = Some((3, "not logged in".to_owned()));
    fake.set_script(&FakeClaudeScript { steps: Vec::new(), otherwise: FakeClaudeStep::Hang, refuses });
    assert_eq!(run(20_000).to_string(), "[stderr]\nnot logged in\n[exit 3]");
}
