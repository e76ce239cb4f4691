use std::io::Read;
use std::io::pipe;

use super::*;

fn context(text: &str) -> HookResponse {
    HookResponse::Context { event: "SessionStart", text: text.into() }
}

#[test]
fn neutral_response_has_exact_bytes() {
    assert_eq!(
        HookResponse::Neutral.to_json(ResponseFields::WithFlow),
        r#"{"continue":true,"suppressOutput":true}"#
    );
    assert_eq!(context("").to_json(ResponseFields::WithFlow), ResponseFields::WithFlow.neutral());
}

#[test]
fn context_names_its_event() {
    let sent: serde_json::Value =
        serde_json::from_str(&context("a \"b\"\n").to_json(ResponseFields::WithFlow)).unwrap();
    assert_eq!(sent["hookSpecificOutput"]["hookEventName"], "SessionStart");
    assert_eq!(sent["hookSpecificOutput"]["additionalContext"], "a \"b\"\n");
    assert_eq!(sent["continue"], true);
}

#[test]
fn message_needs_no_context() {
    let answer =
        HookResponse::Message { event: "SessionStart", text: String::new(), message: "3 memories".into() };
    let sent: serde_json::Value = serde_json::from_str(&answer.to_json(ResponseFields::WithFlow)).unwrap();
    assert_eq!(
        sent,
        serde_json::json!({"continue": true, "suppressOutput": true, "systemMessage": "3 memories"})
    );
}

#[test]
fn client_that_rejects_flow_fields_gets_none() {
    assert_eq!(HookResponse::Neutral.to_json(ResponseFields::ContextOnly), "{}");
    let sent = context("seen").to_json(ResponseFields::ContextOnly);
    assert_eq!(sent, r#"{"hookSpecificOutput":{"additionalContext":"seen","hookEventName":"SessionStart"}}"#);
}

#[test]
fn plain_context_is_a_field_of_the_answer() {
    assert_eq!(HookResponse::Neutral.to_json(ResponseFields::PlainContext), "{}");
    let sent = context("seen").to_json(ResponseFields::PlainContext);
    assert_eq!(sent, r#"{"additionalContext":"seen"}"#);
}

#[test]
fn long_context_is_truncated() {
    let sent = context(&"é".repeat(20_000)).to_json(ResponseFields::WithFlow);
    let sent: serde_json::Value = serde_json::from_str(&sent).unwrap();
    let text = sent["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert_eq!(text.chars().count(), CONTEXT_CHARS_MAX);
}

#[test]
fn slow_reader_gets_every_byte() {
    let (mut from, to) = pipe().unwrap();
    rustix::io::ioctl_fionbio(&to, true).unwrap();
    let sent = vec![b'x'; 1 << 20];
    let reader = std::thread::spawn(move || {
        let mut got = Vec::new();
        from.read_to_end(&mut got).unwrap();
        got
    });
    write_all(&to, &sent).unwrap();
    drop(to);
    assert_eq!(reader.join().unwrap(), sent);

    let (from, to) = pipe().unwrap();
    drop(from);
    assert!(write_all(&to, b"x").is_err());
}
