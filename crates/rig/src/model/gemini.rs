//! Gemini's `generateContent` and `streamGenerateContent`.

use serde_json::{Value, json};

use super::http::Reply;
use super::request::Request;
use super::turn::{Stop, Turn};

pub(crate) fn reply(request: &Request, turn: &Turn) -> Reply {
    let answer = answer(request, turn);
    if request.path.contains(":streamGenerateContent") {
        return Reply::events([format!("data: {answer}\r\n\r\n")]);
    }
    Reply::json(200, &answer)
}

pub(crate) fn error(status: u16) -> Reply {
    let name = match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        _ => "INTERNAL",
    };
    let error = json!({"code": status, "message": "scripted error", "status": name});
    Reply::json(status, &json!({"error": error}))
}

fn answer(request: &Request, turn: &Turn) -> Value {
    let finish = match turn.stop {
        Stop::EndTurn => "STOP",
        Stop::MaxTokens => "MAX_TOKENS",
        Stop::Refusal => "SAFETY",
    };
    let mut candidate = json!({"index": 0, "finishReason": finish});
    // A refused candidate comes without content.
    if turn.stop != Stop::Refusal {
        candidate["content"] = json!({"role": "model", "parts": parts(turn)});
    }
    let mut answer = json!({"candidates": [candidate], "modelVersion": request.model()});
    if let Some(bill) = turn.bill() {
        answer["usageMetadata"] = json!({
            "promptTokenCount": bill.input, "candidatesTokenCount": bill.output,
            "cachedContentTokenCount": bill.cache_read, "totalTokenCount": bill.input + bill.output,
        });
    }
    answer
}

fn parts(turn: &Turn) -> Vec<Value> {
    let text = turn.text.iter().map(|text| json!({"text": text}));
    let calls = turn
        .calls
        .iter()
        .map(|call| json!({"functionCall": {"name": call.name, "args": call.input}}));
    text.chain(calls).collect()
}
