//! Answers of Gemini's `generateContent` and `streamGenerateContent`.

use serde_json::{Value, json};

use super::http::HttpReply;
use super::request::RecordedRequest;
use super::turn::{ModelTurn, StopReason};

pub(crate) fn reply(request: &RecordedRequest, turn: &ModelTurn) -> HttpReply {
    let answer = answer(request, turn);
    if request.path.contains(":streamGenerateContent") {
        return HttpReply::events([format!("data: {answer}\r\n\r\n")]);
    }
    HttpReply::json(200, &answer)
}

pub(crate) fn error(status: u16) -> HttpReply {
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
    HttpReply::json(status, &json!({"error": error}))
}

fn answer(request: &RecordedRequest, turn: &ModelTurn) -> Value {
    let finish = match turn.stop {
        StopReason::EndTurn => "STOP",
        StopReason::MaxTokens => "MAX_TOKENS",
        StopReason::Refusal => "SAFETY",
    };
    let mut candidate = json!({"index": 0, "finishReason": finish});
    // A refused candidate has no content.
    if turn.stop != StopReason::Refusal {
        candidate["content"] = json!({"role": "model", "parts": parts(turn)});
    }
    let mut answer = json!({"candidates": [candidate], "modelVersion": request.model()});
    if let Some(bill) = turn.billed_usage() {
        answer["usageMetadata"] = json!({
            "promptTokenCount": bill.input, "candidatesTokenCount": bill.output,
            "cachedContentTokenCount": bill.cache_read, "totalTokenCount": bill.input + bill.output,
        });
    }
    answer
}

fn parts(turn: &ModelTurn) -> Vec<Value> {
    let text = turn.text.iter().map(|text| json!({"text": text}));
    let calls =
        turn.calls.iter().map(|call| json!({"functionCall": {"name": call.name, "args": call.input}}));
    text.chain(calls).collect()
}
