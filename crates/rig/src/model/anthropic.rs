//! Answers of Anthropic's Messages API: one message, as JSON or as server-sent events.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::http::HttpReply;
use super::request::RecordedRequest;
use super::turn::{BilledUsage, ModelTurn, StopReason};

/// Length of one text delta in a stream.
const DELTA_CHARS: usize = 60;

pub(crate) fn reply(request: &RecordedRequest, turn: &ModelTurn) -> HttpReply {
    let message = message(&request.model(), turn);
    if request.body["stream"] == true {
        let events = events(&message);
        return HttpReply::events(
            events.iter().map(|e| format!("event: {}\ndata: {e}\n\n", e["type"].as_str().unwrap_or("?"))),
        );
    }
    HttpReply::json(200, &message)
}

pub(crate) fn error(status: u16) -> HttpReply {
    let kind = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    let error = json!({"type": kind, "message": "scripted error"});
    HttpReply::json(status, &json!({"type": "error", "error": error}))
}

/// A new id. Ids are unique in the process, because a client's session may outlive one model, and of
/// constant length, because tests cut answers at byte positions.
pub(crate) fn next_id(prefix: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("{prefix}{:024}", NEXT.fetch_add(1, Ordering::Relaxed))
}

fn message(model: &str, turn: &ModelTurn) -> Value {
    let stop = match turn.stop {
        _ if !turn.calls.is_empty() => "tool_use",
        StopReason::EndTurn => "end_turn",
        StopReason::MaxTokens => "max_tokens",
        StopReason::Refusal => "refusal",
    };
    json!({
        "id": next_id("msg_"), "type": "message", "role": "assistant", "model": model,
        "content": blocks(turn), "stop_reason": stop, "stop_sequence": null, "usage": usage(turn.billed_usage()),
    })
}

fn blocks(turn: &ModelTurn) -> Vec<Value> {
    let mut blocks = Vec::new();
    if let Some(thinking) = &turn.thinking {
        blocks.push(json!({"type": "thinking", "thinking": thinking, "signature": "c2lnbmVk"}));
    }
    if let Some(text) = &turn.text {
        blocks.push(json!({"type": "text", "text": text}));
    }
    for call in &turn.calls {
        blocks.push(
            json!({"type": "tool_use", "id": next_id("toolu_"), "name": call.name, "input": call.input}),
        );
    }
    blocks
}

fn usage(bill: Option<BilledUsage>) -> Value {
    bill.map_or(Value::Null, |bill| {
        json!({
            "input_tokens": bill.input, "output_tokens": bill.output,
            "cache_read_input_tokens": bill.cache_read, "cache_creation_input_tokens": bill.cache_write,
        })
    })
}

fn events(message: &Value) -> Vec<Value> {
    let mut start = message.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    if message["usage"].is_object() {
        start["usage"]["output_tokens"] = json!(1);
    }
    let mut events = vec![json!({"type": "message_start", "message": start})];
    for (index, block) in message["content"].as_array().into_iter().flatten().enumerate() {
        let (empty, deltas) = stream_block(block);
        events.push(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        for delta in deltas {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let delta = json!({"stop_reason": message["stop_reason"], "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": delta, "usage": message["usage"]}));
    events.push(json!({"type": "message_stop"}));
    events
}

/// Splits a content block into its empty start and the deltas that fill it.
fn stream_block(block: &Value) -> (Value, Vec<Value>) {
    let mut empty = block.clone();
    let deltas = match block["type"].as_str() {
        Some("thinking") => {
            empty["thinking"] = json!("");
            empty["signature"] = json!("");
            vec![
                json!({"type": "thinking_delta", "thinking": block["thinking"]}),
                json!({"type": "signature_delta", "signature": block["signature"]}),
            ]
        }
        Some("text") => {
            empty["text"] = json!("");
            let pieces = split_into_deltas(block["text"].as_str().unwrap_or_default());
            pieces.iter().map(|piece| json!({"type": "text_delta", "text": piece})).collect()
        }
        _ => {
            empty["input"] = json!({});
            vec![json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})]
        }
    };
    (empty, deltas)
}

pub(crate) fn split_into_deltas(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(DELTA_CHARS).map(|piece| piece.iter().collect()).collect()
}
