//! Hook calls of the agents other than Claude Code, with made-up payloads of their shapes.

use std::path::Path;

use claude_mem_core::agents::{AGENTS, CodingAgent, ResponseFields};
use claude_mem_core::event::{Event, EventBody};
use rig::Sandbox;
use serde_json::{Value, json};

use crate::common::hooks::{captured_events, sandbox_with_real_clock};

/// Calls the hook of an agent and returns its answer.
fn call(home: &Sandbox, agent: &str, event: &str, payload: &Value) -> Value {
    let output = home.mem_with(&["hook", agent, event], payload.to_string()).ok();
    serde_json::from_str(&output.stdout).unwrap_or_else(|e| panic!("{e}: {:?}", output.stdout))
}

fn with(home: &Sandbox, event: &str, more: Value) -> Value {
    let mut payload = json!({ "session_id": "s-1", "cwd": home.project(), "hook_event_name": event });
    let Value::Object(more) = more else { panic!("an object") };
    payload.as_object_mut().unwrap().extend(more);
    payload
}

/// One turn of each agent: a prompt, a command that fails, an edit, the final message.
fn turn(home: &Sandbox, agent: &str) -> Vec<(&'static str, Value)> {
    let file = home.project().join("src/retry.py");
    let prompt = "Use 7 retry attempts, never 8, because the 8th trips the limiter.";
    let said = "I set ATTEMPTS to 7 in src/retry.py, because an 8th attempt trips the limiter.\n\n\
                Next step: document the limit in docs/limits.md.";
    let calls: Vec<(&str, Value)> = match agent {
        "codex" => {
            let rollout = home.write(
                home.home().join(".codex/sessions/rollout-2026-01-02-s-1.jsonl"),
                json!({ "type": "event_msg", "payload": { "type": "item_completed", "item": {
                    "type": "CommandExecution", "id": "call-1", "exit_code": 2,
                } } })
                .to_string()
                    + "\n",
            );
            let patch = format!(
                "*** Begin Patch\n*** Update File: {}\n@@\n-ATTEMPTS = 10\n+ATTEMPTS = 7\n*** End Patch",
                file.display()
            );
            vec![
                ("SessionStart", json!({ "source": "startup" })),
                ("UserPromptSubmit", json!({ "turn_id": "t-1", "prompt": prompt })),
                (
                    "PostToolUse",
                    json!({
                        "turn_id": "t-1", "tool_name": "Bash", "tool_input": { "command": "make test" },
                        "tool_response": "limiter tripped\n", "tool_use_id": "call-1", "transcript_path": rollout,
                    }),
                ),
                (
                    "PostToolUse",
                    json!({
                        "turn_id": "t-1", "tool_name": "apply_patch", "tool_input": { "command": patch },
                        "tool_response": "Exit code: 0\nOutput:\nSuccess.", "tool_use_id": "call-2",
                    }),
                ),
                ("Stop", json!({ "turn_id": "t-1", "last_assistant_message": said })),
            ]
        }
        "gemini-cli" => {
            let reported = format!("<hook_context>&lt;mem&gt;old&lt;/mem&gt;</hook_context>\n\n{prompt}");
            let failed = "<untrusted_context>\nOutput: limiter tripped\nExit Code: 2\nProcess Group PGID: 77\n</untrusted_context>";
            vec![
                ("SessionStart", json!({ "source": "startup" })),
                ("BeforeAgent", json!({ "prompt": reported })),
                ("PreCompress", json!({ "trigger": "auto" })),
                (
                    "AfterTool",
                    json!({
                        "tool_name": "run_shell_command", "tool_input": { "command": "make test" },
                        "tool_response": { "llmContent": failed, "returnDisplay": "limiter tripped" },
                    }),
                ),
                (
                    "AfterTool",
                    json!({
                        "tool_name": "replace",
                        "tool_input": { "file_path": file, "old_string": "ATTEMPTS = 10", "new_string": "ATTEMPTS = 7" },
                        "tool_response": { "llmContent": "Successfully modified file.", "returnDisplay": {} },
                    }),
                ),
                ("AfterAgent", json!({ "prompt": reported, "prompt_response": said })),
            ]
        }
        "opencode" => vec![
            ("session.created", json!({ "source": "startup" })),
            ("chat.message", json!({ "prompt_id": "m-1", "prompt": prompt })),
            (
                "tool.execute.after",
                json!({
                    "prompt_id": "m-1", "tool_name": "bash", "tool_input": { "command": "make test" },
                    "tool_response": "limiter tripped\n", "exit_code": 2, "tool_use_id": "call-1",
                }),
            ),
            (
                "tool.execute.after",
                json!({
                    "prompt_id": "m-1", "tool_name": "edit", "tool_use_id": "call-2",
                    "tool_input": { "filePath": file, "oldString": "ATTEMPTS = 10", "newString": "ATTEMPTS = 7" },
                    "tool_response": "Edit applied successfully.",
                }),
            ),
            ("session.idle", json!({ "prompt_id": "m-1", "last_assistant_message": said })),
        ],
        "qwen-code" => turn_of_qwen_code(&file, prompt, said),
        "copilot-cli" => turn_of_copilot_cli(home, &file, prompt, said),
        other => panic!("{other}"),
    };
    calls.into_iter().map(|(event, more)| (event, with(home, event, more))).collect()
}

/// A turn of Qwen Code, which reports an empty prompt after every tool.
fn turn_of_qwen_code(file: &Path, prompt: &str, said: &str) -> Vec<(&'static str, Value)> {
    let framed =
        "Command: make test\nDirectory: (root)\nOutput: limiter tripped\nError: (none)\nExit Code: 2";
    let between = ("UserPromptSubmit", json!({ "prompt_id": "s-1#0", "prompt": "" }));
    vec![
        ("SessionStart", json!({ "source": "startup" })),
        ("UserPromptSubmit", json!({ "prompt_id": "s-1#0", "prompt": prompt, "submitted_prompt": prompt })),
        (
            "PostToolUseFailure",
            json!({
                "prompt_id": "s-1#0", "tool_name": "run_shell_command", "tool_input": { "command": "make test" },
                "tool_use_id": "toolu_1", "tool_call_id": "call-1", "error": framed,
            }),
        ),
        between.clone(),
        (
            "PostToolUse",
            json!({
                "prompt_id": "s-1#0", "tool_name": "edit", "tool_use_id": "toolu_2", "tool_call_id": "call-2",
                "tool_input": { "file_path": file, "old_string": "ATTEMPTS = 10", "new_string": "ATTEMPTS = 7" },
                "tool_response": { "llmContent": "The file has been updated.", "returnDisplay": {} },
            }),
        ),
        between,
        ("Stop", json!({ "prompt_id": "s-1#0", "last_assistant_message": said })),
    ]
}

/// A turn of Copilot CLI, whose hooks leave the final message to the event log.
fn turn_of_copilot_cli(home: &Sandbox, file: &Path, prompt: &str, said: &str) -> Vec<(&'static str, Value)> {
    let log = home.write(
        home.home().join(".copilot/session-state/s-1/events.jsonl"),
        format!("{}\n", json!({ "type": "assistant.message", "data": { "content": said } })),
    );
    let result = |text: &str| json!({ "result_type": "success", "text_result_for_llm": text });
    let of_subagent = |prompt: &str| json!({ "prompt": prompt, "agent_id": "a-1", "parent_agent_id": "s-1" });
    vec![
        ("SessionStart", json!({ "source": "new", "initial_prompt": prompt })),
        ("UserPromptSubmit", json!({ "prompt": prompt })),
        ("UserPromptSubmit", of_subagent("Look for the limiter")),
        (
            "PostToolUse",
            json!({
                "tool_name": "Bash", "tool_input": { "command": "make test" },
                "tool_result": result("limiter tripped\n<shellId: 0 completed with exit code 2>"),
            }),
        ),
        (
            "PostToolUse",
            json!({
                "tool_name": "Edit", "tool_result": result("File updated with changes."),
                "tool_input": { "path": file, "old_str": "ATTEMPTS = 10", "new_str": "ATTEMPTS = 7" },
            }),
        ),
        ("Stop", json!({ "transcript_path": log, "stop_reason": "end_turn" })),
    ]
}

fn others() -> impl Iterator<Item = &'static CodingAgent> {
    AGENTS.iter().copied().filter(|agent| agent.rewrite_payload.is_some())
}

fn kind(event: &Event) -> &'static str {
    event.body.kind_name()
}

#[test]
fn turn_of_every_agent_becomes_the_same_events() {
    for agent in others() {
        let home = sandbox_with_real_clock();
        for (event, payload) in turn(&home, agent.name) {
            call(&home, agent.name, event, &payload);
        }
        let events = captured_events(&home);
        let kinds: Vec<&str> = events.iter().map(kind).collect();
        assert_eq!(kinds, ["session_start", "prompt", "tool_use", "tool_use", "stop"], "{}", agent.name);
        assert!(events.iter().all(|event| event.client == agent.name));
        let EventBody::Prompt { text, .. } = &events[1].body else { panic!() };
        assert_eq!(
            text, "Use 7 retry attempts, never 8, because the 8th trips the limiter.",
            "{}",
            agent.name
        );
        let EventBody::ToolUse { tool, failed, output, .. } = &events[2].body else { panic!() };
        assert_eq!((tool.as_str(), *failed), ("Bash", true), "{}", agent.name);
        assert!(output.to_string().contains("limiter tripped"), "{output}");
        let EventBody::ToolUse { tool, input, failed, .. } = &events[3].body else { panic!() };
        let touched = claude_mem_core::episode::touched_file(tool, input).expect("an edited file");
        assert!(touched.edited && touched.path.ends_with("src/retry.py") && !failed, "{tool} {input}");
        let EventBody::Stop { last_message } = &events[4].body else { panic!() };
        assert!(last_message.as_ref().unwrap().starts_with("I set ATTEMPTS to 7"));
    }
}

#[test]
fn next_session_of_any_agent_receives_the_memory() {
    for agent in others() {
        let home = sandbox_with_real_clock();
        for (event, payload) in turn(&home, agent.name) {
            call(&home, agent.name, event, &payload);
        }
        home.mem(&["worker", "run", "--until-drained"]).ok();
        for next in AGENTS {
            let start = next.event_name(claude_mem_core::agents::HookEventKind::SessionStart);
            let mut payload = with(&home, start, json!({ "source": "startup" }));
            payload["session_id"] = format!("next-{}", next.name).into();
            let answer = call(&home, next.name, start, &payload);
            let is_plain = next.response == ResponseFields::PlainContext;
            let told = if is_plain { &answer } else { &answer["hookSpecificOutput"] };
            assert!(is_plain || told["hookEventName"] == start, "{answer}");
            let text = told["additionalContext"].as_str().unwrap_or_default();
            // The rule, the account of the other agent's session, and what it left open.
            for told in ["never 8", "## Last session", "Document the limit in docs/limits.md"] {
                assert!(text.contains(told), "{told}: {} after {}: {text}", next.name, agent.name);
            }
            let has_flow = answer.get("continue").is_some();
            let wants = next.response == ResponseFields::WithFlow;
            assert_eq!(has_flow, wants, "{answer}");
        }
    }
}

#[test]
fn broken_payloads_get_a_neutral_answer() {
    let long = format!("{{\"session_id\":\"s\",\"prompt\":\"{}", "x".repeat(1 << 16));
    let deep = format!("{{\"session_id\":\"s\",\"tool_input\":{}", "[".repeat(4_000));
    let hostile = [
        "",
        "null",
        "[]",
        "{",
        "{}",
        "\u{feff}{\"session_id\": 3}",
        "{\"session_id\":\"../../etc\",\"cwd\":\"relative\",\"prompt\":{\"a\":1}}",
        "{\"session_id\":\"s\",\"prompt\":\"a\",\"prompt\":\"b\"}",
        "{\"session_id\":\"s\",\"tool_name\":\"run_shell_command\",\"tool_response\":[[[]]]}",
        "{\"session_id\":\"s\",\"tool_name\":7,\"tool_input\":\"x\",\"tool_response\":null}",
        "{\"session_id\":\"s\",\"prompt\":\"\\ud800\"}",
        &long,
        &deep,
    ];
    for agent in AGENTS {
        let home = sandbox_with_real_clock();
        for (event, _) in agent.events {
            for payload in hostile {
                let output = home.mem_with(&["hook", agent.name, event], payload).ok();
                let answer: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|e| {
                    panic!("{e}: {} {event} {payload:.60}: {:?}", agent.name, output.stdout)
                });
                let context = answer.get("hookSpecificOutput").or(answer.get("additionalContext"));
                assert_eq!(context, None, "{answer}");
            }
        }
        let unknown = home.mem_with(&["hook", agent.name, "NoSuchEvent"], "{\"session_id\":\"s\"}").ok();
        assert_eq!(unknown.stdout, agent.response.neutral());
    }
}

/// A client that dies while it writes leaves a part of its payload, and a disk may change a byte of it.
#[test]
fn cut_and_garbled_payloads_never_break_the_agent() {
    for agent in others() {
        let home = sandbox_with_real_clock();
        for (event, payload) in turn(&home, agent.name) {
            let whole = payload.to_string().into_bytes();
            let cuts = [1, whole.len() / 3, whole.len() / 2, whole.len() - 1];
            let mut broken: Vec<Vec<u8>> = cuts.iter().map(|end| whole[..*end].to_vec()).collect();
            for at in [whole.len() / 4, whole.len() * 3 / 4] {
                let mut garbled = whole.clone();
                garbled[at] = 0xff;
                broken.push(garbled);
            }
            for bytes in broken {
                let output = home.mem_with(&["hook", agent.name, event], &bytes).ok();
                let answer: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|e| {
                    panic!("{e}: {} {event} {:?}", agent.name, String::from_utf8_lossy(&bytes))
                });
                assert!(answer.is_object() && output.stderr.is_empty(), "{answer} {}", output.stderr);
            }
        }
        // The agent's next session is captured as if nothing had happened.
        for (event, mut payload) in turn(&home, agent.name) {
            payload["session_id"] = "s-2".into();
            call(&home, agent.name, event, &payload);
        }
        let events = captured_events(&home).into_iter().filter(|event| event.session.0 == "s-2");
        let kinds: Vec<&str> = events.map(|event| kind(&event)).collect();
        assert_eq!(kinds, ["session_start", "prompt", "tool_use", "tool_use", "stop"], "{}", agent.name);
    }
}

#[test]
fn private_and_secret_words_stay_out() {
    for agent in others() {
        let home = sandbox_with_real_clock();
        for (event, mut payload) in turn(&home, agent.name) {
            if let Some(prompt) = payload["prompt"].as_str() {
                let prompt = prompt.replace("Use 7", "<private>the codename is Heron</private> Use 7");
                payload["prompt"] = prompt.into();
            }
            if let Some(input) = payload["tool_input"]["command"].as_str().filter(|line| *line == "make test")
            {
                payload["tool_input"]["command"] =
                    format!("{input} --token ghp_0123456789abcdefghijABCDEFGHIJ012345").into();
            }
            call(&home, agent.name, event, &payload);
        }
        let events = format!("{:?}", captured_events(&home));
        assert!(!events.contains("Heron") && !events.contains("ghp_0123456789"), "{}: {events}", agent.name);
        assert!(events.contains("never 8"), "{}", agent.name);
    }
}

/// Qwen Code reports an empty prompt after every tool: it neither ends a private turn nor begins one.
#[test]
fn private_turn_with_empty_prompts_leaves_nothing() {
    let home = sandbox_with_real_clock();
    for (event, mut payload) in turn(&home, "qwen-code") {
        if payload["prompt"].as_str().is_some_and(|prompt| !prompt.is_empty()) {
            payload["prompt"] = "<private>Use 7 retry attempts, the codename is Heron</private>".into();
        }
        call(&home, "qwen-code", event, &payload);
    }
    let events = captured_events(&home);
    let kinds: Vec<&str> = events.iter().map(kind).collect();
    assert!(!kinds.contains(&"tool_use"), "{kinds:?}");
    let events = format!("{events:?}");
    for never in ["Heron", "limiter tripped", "ATTEMPTS"] {
        assert!(!events.contains(never), "{never}: {events}");
    }
}
