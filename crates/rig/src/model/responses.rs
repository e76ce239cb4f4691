//! Answers of OpenAI's Responses API, which Codex uses. They are always streamed.

use serde_json::{Value, json};

use super::anthropic::next_id;
use super::http::HttpReply;
use super::request::RecordedRequest;
use super::turn::{ModelTurn, ScriptedToolCall};

pub(crate) fn reply(request: &RecordedRequest, turn: &ModelTurn) -> HttpReply {
    let events = events(&request.model(), turn);
    let lines = events.iter().map(|event| {
        let kind = event["type"].as_str().unwrap_or_default();
        format!("event: {kind}\ndata: {event}\n\n")
    });
    HttpReply::events(lines)
}

fn events(model: &str, turn: &ModelTurn) -> Vec<Value> {
    let mut response = json!({
        "id": next_id("resp_"), "object": "response", "created_at": 0, "model": model,
        "status": "in_progress", "output": [],
    });
    let mut events = vec![json!({"type": "response.created", "response": response})];
    let text = turn.text.as_deref().map(message);
    let items: Vec<Value> = text.into_iter().chain(turn.calls.iter().map(tool_call)).collect();
    for (index, item) in items.iter().enumerate() {
        events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    response["status"] = "completed".into();
    response["output"] = Value::Array(items);
    if let Some(bill) = turn.billed_usage() {
        response["usage"] = json!({
            "input_tokens": bill.input, "input_tokens_details": {"cached_tokens": bill.cache_read},
            "output_tokens": bill.output, "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": bill.input + bill.output,
        });
    }
    events.push(json!({"type": "response.completed", "response": response}));
    events
}

fn message(text: &str) -> Value {
    json!({
        "type": "message", "id": next_id("msg_"), "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    })
}

/// A call with a text as input is one of a custom tool; a name such as `mcp__server__tool` has a namespace.
fn tool_call(call: &ScriptedToolCall) -> Value {
    let mut item = json!({"id": next_id("fc_"), "call_id": next_id("call_"), "status": "completed"});
    let (namespace, name) = match call.name.rsplit_once("__") {
        Some((namespace, name)) => (Some(namespace), name),
        None => (None, call.name.as_str()),
    };
    item["name"] = name.into();
    if let Some(namespace) = namespace {
        item["namespace"] = namespace.into();
    }
    match &call.input {
        Value::String(text) => {
            item["type"] = "custom_tool_call".into();
            item["input"] = text.as_str().into();
        }
        input => {
            item["type"] = "function_call".into();
            item["arguments"] = input.to_string().into();
        }
    }
    item
}
