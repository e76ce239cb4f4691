use serde_json::{Value, json};

use super::tests::{CollectedEvents, rules, settings};
use super::*;
use claude_mem_core::agents::{CODEX, CodingAgent, GEMINI_CLI};
use claude_mem_core::event::EventBody;

fn codex_item(second: u32, payload: &Value) -> String {
    let at = format!("2026-01-02T03:04:{second:02}.000Z");
    json!({ "timestamp": at, "type": "response_item", "payload": payload }).to_string() + "\n"
}

fn codex_message(second: u32, role: &str, text: &str) -> String {
    let turn = json!({ "turn_id": format!("t-{}", second / 10) });
    let content = json!([{ "type": "input_text", "text": text }]);
    codex_item(
        second,
        &json!({
            "type": "message", "role": role, "content": content,
            "internal_chat_message_metadata_passthrough": turn,
        }),
    )
}

fn codex_call(second: u32, output: &str) -> String {
    let call = json!({
        "type": "function_call", "name": "exec_command", "call_id": format!("c-{second}"),
        "arguments": "{\"cmd\":\"make\"}",
    });
    let result =
        json!({ "type": "function_call_output", "call_id": format!("c-{second}"), "output": output });
    codex_item(second, &call) + &codex_item(second + 1, &result)
}

/// Reads a text from a position and returns the events and where to go on.
fn read(agent: &CodingAgent, text: &str, from: ReadPosition) -> (Vec<EventBody>, ReadPosition) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.jsonl");
    std::fs::write(&path, text).unwrap();
    let settings = settings();
    let translate = agent.transcripts.unwrap().translate;
    let rules = ReadRules { client: agent.name, ended: true, translate, ..rules(&settings, "s") };
    let mut told = CollectedEvents::default();
    let end = read_transcript(&path, from, &rules, &mut told).unwrap();
    (told.events.into_iter().map(|event| event.body).collect(), end)
}

fn kinds(bodies: &[EventBody]) -> Vec<&'static str> {
    bodies.iter().map(EventBody::kind_name).collect()
}

#[test]
fn turn_of_codex_is_read() {
    let text = codex_message(10, "user", "Fix the login")
        + &codex_message(11, "developer", "What memory tells")
        + &codex_call(12, "Process exited with code 2\nOutput:\nboom\n")
        + &codex_message(15, "assistant", "Fixed.");
    let (bodies, end) = read(&CODEX, &text, ReadPosition::default());
    assert_eq!(kinds(&bodies), ["prompt", "tool_use", "stop"]);
    assert!(matches!(&bodies[1], EventBody::ToolUse { tool, failed: true, .. } if tool == "Bash"));
    assert_eq!(end.offset, text.len() as u64);
    let (again, _) = read(&CODEX, &text, end);
    assert_eq!(kinds(&again), Vec::<&str>::new());
}

#[test]
fn private_turn_of_another_client_leaves_nothing() {
    let text = codex_message(10, "user", "<private>The codename is Heron</private>")
        + &codex_call(12, "Process exited with code 0\nOutput:\nHeron\n")
        + &codex_message(15, "assistant", "Heron it is.")
        + &codex_message(20, "user", "Next");
    let (bodies, _) = read(&CODEX, &text, ReadPosition::default());
    assert!(!format!("{bodies:?}").contains("Heron"), "{bodies:?}");
    assert_eq!(kinds(&bodies), ["prompt", "prompt"]);
}

#[test]
fn unreadable_line_that_may_be_a_prompt_mutes_the_turn() {
    for (agent, broken) in [
        (&CODEX, "{\"type\":\"response_item\",\"payload\":{\"role\":\"user\",\"content\":[{\n"),
        (&GEMINI_CLI, "{\"id\":\"m\",\"type\":\"user\",\"content\":[{\"text\":\n"),
    ] {
        let answer = match agent.name {
            "codex" => codex_message(12, "assistant", "Heron it is."),
            _ => {
                let at = "2026-01-02T03:04:05.000Z";
                json!({ "id": "g", "timestamp": at, "type": "gemini", "content": "Heron it is." }).to_string()
                    + "\n"
            }
        };
        let (bodies, _) = read(agent, &(broken.to_owned() + &answer), ReadPosition::default());
        assert_eq!(kinds(&bodies), Vec::<&str>::new(), "{}", agent.name);
        let (bodies, _) = read(agent, &answer, ReadPosition::default());
        assert_eq!(kinds(&bodies), ["stop"], "{}", agent.name);
    }
}
