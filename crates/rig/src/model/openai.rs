//! Answers of the chat completions API of OpenAI and compatible servers.

use serde_json::{Value, json};

use super::anthropic::{next_id, split_into_deltas};
use super::http::HttpReply;
use super::request::RecordedRequest;
use super::turn::{ModelTurn, StopReason};

pub(crate) fn reply(request: &RecordedRequest, turn: &ModelTurn) -> HttpReply {
    if request.body["stream"] == true {
        let chunks = chunks(&request.model(), turn);
        let events = chunks.iter().map(|chunk| format!("data: {chunk}\n\n"));
        return HttpReply::events(events.chain(["data: [DONE]\n\n".to_owned()]));
    }
    let mut whole = json!({
        "id": next_id("chatcmpl-"), "object": "chat.completion", "created": 0, "model": request.model(),
        "choices": [{"index": 0, "message": message(turn), "finish_reason": finish_reason(turn)}],
    });
    add_usage(&mut whole, turn);
    HttpReply::json(200, &whole)
}

pub(crate) fn error(status: u16) -> HttpReply {
    let (kind, code) = match status {
        401 => ("invalid_request_error", "invalid_api_key"),
        402 => ("insufficient_quota", "insufficient_quota"),
        404 => ("invalid_request_error", "model_not_found"),
        429 => ("requests", "rate_limit_exceeded"),
        400..=499 => ("invalid_request_error", "invalid_request"),
        _ => ("server_error", "server_error"),
    };
    let error = json!({"message": "scripted error", "type": kind, "param": null, "code": code});
    HttpReply::json(status, &json!({"error": error}))
}

fn message(turn: &ModelTurn) -> Value {
    let refused = turn.stop == StopReason::Refusal;
    let mut message = json!({
        "role": "assistant",
        "content": if refused { Value::Null } else { json!(turn.text) },
        "refusal": if refused { json!(turn.text) } else { Value::Null },
    });
    if !turn.calls.is_empty() {
        message["tool_calls"] = Value::Array(tool_calls(turn));
    }
    message
}

fn tool_calls(turn: &ModelTurn) -> Vec<Value> {
    let one = |(index, call): (usize, &super::turn::ScriptedToolCall)| {
        let function = json!({"name": call.name, "arguments": call.input.to_string()});
        json!({"index": index, "id": next_id("call_"), "type": "function", "function": function})
    };
    turn.calls.iter().enumerate().map(one).collect()
}

fn finish_reason(turn: &ModelTurn) -> &'static str {
    match turn.stop {
        _ if !turn.calls.is_empty() => "tool_calls",
        StopReason::EndTurn => "stop",
        StopReason::MaxTokens => "length",
        StopReason::Refusal => "content_filter",
    }
}

fn chunks(model: &str, turn: &ModelTurn) -> Vec<Value> {
    let id = next_id("chatcmpl-");
    let chunk = |delta: Value, finish: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        json!({"id": id, "object": "chat.completion.chunk", "created": 0, "model": model, "choices": [choice]})
    };
    let mut chunks = vec![chunk(json!({"role": "assistant", "content": ""}), None)];
    for piece in split_into_deltas(turn.text.as_deref().unwrap_or_default()) {
        chunks.push(chunk(json!({"content": piece}), None));
    }
    if !turn.calls.is_empty() {
        chunks.push(chunk(json!({"tool_calls": tool_calls(turn)}), None));
    }
    let mut last = chunk(json!({}), Some(finish_reason(turn)));
    add_usage(&mut last, turn);
    chunks.push(last);
    chunks
}

fn add_usage(value: &mut Value, turn: &ModelTurn) {
    if let Some(bill) = turn.billed_usage() {
        value["usage"] = json!({
            "prompt_tokens": bill.input, "completion_tokens": bill.output,
            "total_tokens": bill.input + bill.output,
            "prompt_tokens_details": {"cached_tokens": bill.cache_read},
        });
    }
}
