use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::{BilledUsage, ModelApi, ModelScript, ModelTurn, ScriptedModel, StopReason};

/// A response, read to the end of the connection.
pub(super) struct RawResponse {
    pub(super) head: String,
    pub(super) body: String,
}

impl RawResponse {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e} in {:?}", self.body))
    }

    /// The JSON of every `data:` line of an event stream.
    fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.filter_map(|data| serde_json::from_str(data).ok()).collect()
    }
}

pub(super) fn post(model: &ScriptedModel, path: &str, body: &Value) -> RawResponse {
    let wire = exchange(model, "POST", path, &body.to_string());
    let (head, body) = wire.split_once("\r\n\r\n").unwrap_or((wire.as_str(), ""));
    RawResponse { head: head.to_owned(), body: body.to_owned() }
}

pub(super) fn exchange(model: &ScriptedModel, method: &str, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", model.port())).unwrap();
    let length = body.len();
    write!(stream, "{method} {path} HTTP/1.1\r\nconnection: close\r\nX-Api-Key: k\r\n").unwrap();
    write!(stream, "content-length: {length}\r\n\r\n{body}").unwrap();
    let mut wire = Vec::new();
    // A connection that the model cuts may end in a reset; the bytes before it count.
    let _ = stream.read_to_end(&mut wire);
    String::from_utf8(wire).unwrap()
}

const BILL: BilledUsage = BilledUsage { input: 11, output: 7, cache_read: 3, cache_write: 2 };

fn turn() -> ModelTurn {
    ModelTurn::text("I look.").and_call("Read", json!({"file_path": "/a"})).usage(BILL)
}

#[test]
fn messages_api_answers_with_json() {
    let model = ScriptedModel::start(ModelScript::new().turn(turn().thinking("hm")));
    let answer = post(&model, "/v1/messages?beta=true", &json!({"model": "m", "messages": []}));
    assert!(answer.head.starts_with("HTTP/1.1 200 "), "{}", answer.head);
    let message = answer.json();
    let kinds: Vec<_> = message["content"].as_array().unwrap().iter().map(|b| &b["type"]).collect();
    assert_eq!(kinds, ["thinking", "text", "tool_use"]);
    assert_eq!(message["content"][2]["input"], json!({"file_path": "/a"}));
    assert_eq!(message["stop_reason"], "tool_use");
    assert_eq!(message["usage"]["input_tokens"], 11);
    assert_eq!(message["usage"]["cache_creation_input_tokens"], 2);
    assert_eq!(model.messages()[0].header("x-api-key"), Some("k"));
}

#[test]
fn messages_api_streams_the_same_message() {
    let long = "wörter ".repeat(40);
    let script = ModelScript::new().turn(ModelTurn::text(&long).and_call("Bash", json!({"command": "ls"})));
    let model = ScriptedModel::start(script);
    let answer = post(&model, "/v1/messages", &json!({"model": "m", "stream": true, "messages": []}));
    let events = answer.events();
    let text: String = events.iter().filter_map(|e| e["delta"]["text"].as_str()).collect();
    assert_eq!(text, long);
    let input = events.iter().find_map(|e| e["delta"]["partial_json"].as_str()).unwrap();
    assert_eq!(input, r#"{"command":"ls"}"#);
    assert_eq!(events[0]["type"], "message_start");
    let [.., delta, stop] = events.as_slice() else { panic!("too few events") };
    assert_eq!((&delta["delta"]["stop_reason"], &stop["type"]), (&json!("tool_use"), &json!("message_stop")));
    assert!(delta["usage"]["output_tokens"].as_u64().unwrap() > 40);
}

#[test]
fn chat_completions_api_answers_and_streams() {
    let model = ScriptedModel::start(ModelScript::new().turns([turn(), turn()]));
    let whole = post(&model, "/v1/chat/completions", &json!({"model": "gpt", "messages": []})).json();
    let choice = &whole["choices"][0];
    assert_eq!(choice["message"]["content"], "I look.");
    assert_eq!(choice["message"]["tool_calls"][0]["function"]["arguments"], r#"{"file_path":"/a"}"#);
    assert_eq!(choice["finish_reason"], "tool_calls");
    assert_eq!(whole["usage"]["total_tokens"], 18);
    let body = json!({"model": "gpt", "stream": true, "messages": []});
    let streamed = post(&model, "/api/v1/chat/completions", &body);
    let pieces: Vec<_> = streamed.events();
    let text: String = pieces.iter().filter_map(|e| e["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!(text, "I look.");
    assert!(streamed.body.contains("data: [DONE]"));
}

#[test]
fn gemini_api_answers_and_streams() {
    let model = ScriptedModel::start(ModelScript::new().turns([turn(), turn()]));
    let body = json!({
        "systemInstruction": {"parts": [{"text": "be brief"}]},
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
    });
    let whole = post(&model, "/v1beta/models/gemini-x:generateContent", &body).json();
    assert_eq!(whole["candidates"][0]["content"]["parts"][0]["text"], "I look.");
    assert_eq!(whole["usageMetadata"]["promptTokenCount"], 11);
    let path = "/v1beta/models/gemini-x:streamGenerateContent?alt=sse";
    assert_eq!(post(&model, path, &body).events()[0]["modelVersion"], "gemini-x");
    let seen = &model.messages()[0];
    assert_eq!((seen.api, seen.model().as_str()), (ModelApi::Gemini, "gemini-x"));
    assert_eq!((seen.system().as_str(), seen.last_user().as_str()), ("be brief", "hi"));
}

#[test]
fn refusals_and_missing_usage_follow_each_api() {
    let refusal = || ModelTurn::text("I cannot.").stop(StopReason::Refusal).without_usage();
    let model = ScriptedModel::start(ModelScript::new().fallback(refusal()));
    let body = json!({"model": "m", "messages": []});
    let messages = post(&model, "/v1/messages", &body).json();
    assert_eq!((&messages["stop_reason"], &messages["usage"]), (&json!("refusal"), &Value::Null));
    let chat = post(&model, "/v1/chat/completions", &body).json();
    assert_eq!(chat["choices"][0]["message"]["refusal"], "I cannot.");
    assert_eq!((&chat["choices"][0]["finish_reason"], chat.get("usage")), (&json!("content_filter"), None));
    let gemini = post(&model, "/v1beta/models/g:generateContent", &body).json();
    assert_eq!(gemini["candidates"][0], json!({"index": 0, "finishReason": "SAFETY"}));
}

#[test]
fn probes_and_token_counts_take_no_turn() {
    let model = ScriptedModel::start(ModelScript::new().turn(ModelTurn::text("kept")));
    assert!(exchange(&model, "HEAD", "/", "").starts_with("HTTP/1.1 200"));
    assert!(exchange(&model, "GET", "/v1/models", "").contains(r#""data":[]"#));
    assert!(exchange(&model, "GET", "/elsewhere", "").starts_with("HTTP/1.1 404"));
    let counted = post(&model, "/v1/messages/count_tokens", &json!({"messages": ["a long one"]}));
    assert!(counted.json()["input_tokens"].as_u64().unwrap() > 1);
    assert_eq!((model.requests().len(), model.messages().len(), model.turns_left()), (4, 0, 1));
}

#[test]
fn connection_serves_many_requests() {
    let model =
        ScriptedModel::start(ModelScript::new().turns([ModelTurn::text("one"), ModelTurn::text("two")]));
    let mut stream = TcpStream::connect(("127.0.0.1", model.port())).unwrap();
    let body = r#"{"messages":[{"role":"user","content":"é"}]}"#;
    write!(stream, "POST /v1/messages HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    write!(stream, "POST /v1/messages HTTP/1.1\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n")
        .unwrap();
    let (first, second) = body.as_bytes().split_at(9);
    for part in [first, second, &[]] {
        write!(stream, "{:x}\r\n", part.len()).unwrap();
        stream.write_all(part).unwrap();
        write!(stream, "\r\n").unwrap();
    }
    let mut wire = String::new();
    stream.read_to_string(&mut wire).unwrap();
    assert!(wire.contains(r#""text":"one""#) && wire.contains(r#""text":"two""#), "{wire}");
    assert!(model.messages().iter().all(|request| request.last_user() == "é"));
}

#[test]
fn responses_api_streams_text_and_calls() {
    let turn = ModelTurn::text("I look.")
        .and_call("exec_command", json!({"cmd": "ls"}))
        .and_call("apply_patch", json!("*** Begin Patch"))
        .and_call("mcp__notes__find", json!({}));
    let model = ScriptedModel::start(ModelScript::new().turn(turn));
    let answer = post(&model, "/v1/responses", &json!({"model": "m", "stream": true, "input": []}));
    let events = answer.events();
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!((kinds[0], kinds[5]), ("response.created", "response.completed"), "{kinds:?}");
    assert_eq!(events[1]["item"]["content"][0]["text"], "I look.");
    assert_eq!(events[2]["item"]["arguments"], r#"{"cmd":"ls"}"#);
    assert_eq!(events[3]["item"]["input"], "*** Begin Patch");
    assert_eq!(
        (&events[4]["item"]["namespace"], &events[4]["item"]["name"]),
        (&json!("mcp__notes"), &json!("find"))
    );
    assert_eq!(model.messages()[0].api, ModelApi::Responses);
}
