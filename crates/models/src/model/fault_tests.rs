use serde_json::json;

use super::*;

const NOW: Millis = Millis(1_000_000_000_000); // 2001-09-09 01:46:40 UTC

#[test]
fn retry_after_is_seconds_or_a_date() {
    let seconds = |value| parse_retry_after(value, NOW).map(|wait| wait.as_secs());
    for (value, want) in [
        ("0", Some(0)),
        ("30", Some(30)),
        (" 7 ", Some(7)),
        ("99999999", Some(MODEL_WAIT_SECONDS_MAX)),
        ("Sun, 09 Sep 2001 01:47:10 GMT", Some(30)),
        ("Sun, 09 Sep 2001 01:00:00 GMT", Some(0)),
        ("Fri, 01 Jan 2100 00:00:00 GMT", Some(MODEL_WAIT_SECONDS_MAX)),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("", None),
    ] {
        assert_eq!(seconds(value), want, "{value:?}");
    }
}

fn decide(status: u16, retry_after: Option<&str>, body: &Value) -> ModelError {
    HttpFault { status, retry_after, body, now: NOW }.classify()
}

#[test]
fn each_status_is_classified() {
    let body = json!({"error": {"type": "some_error", "message": "words"}});
    for (status, want) in [
        (302, "misconfigured"),
        (400, "rejected"),
        (401, "auth"),
        (402, "quota"),
        (403, "auth"),
        (404, "misconfigured"),
        (408, "retry"),
        (413, "too long"),
        (418, "garbled"),
        (422, "rejected"),
        (429, "retry"),
        (500, "retry"),
        (503, "retry"),
        (529, "retry"),
        (204, "garbled"),
    ] {
        let got = match decide(status, None, &body) {
            ModelError::Retry { .. } => "retry",
            ModelError::Quota { .. } => "quota",
            ModelError::Auth { .. } => "auth",
            ModelError::Misconfigured { .. } => "misconfigured",
            ModelError::Rejected { .. } => "rejected",
            ModelError::TooLong => "too long",
            ModelError::Garbled { .. } => "garbled",
            other => panic!("{other:?}"),
        };
        assert_eq!(got, want, "HTTP {status}");
    }
}

#[test]
fn long_wait_is_a_quota() {
    let after = Some(Duration::from_mins(1));
    let why = "HTTP 429".to_owned();
    assert_eq!(decide(429, Some("60"), &Value::Null), ModelError::Retry { after, why: why.clone() });
    let after = Some(Duration::from_hours(1));
    assert_eq!(decide(429, Some("3600"), &Value::Null), ModelError::Quota { after, why });
}

#[test]
fn body_decides_ambiguous_statuses() {
    let says = |status, error| decide(status, None, &json!({"error": error}));
    assert!(matches!(
        says(429, json!({"code": "insufficient_quota", "message": "…"})),
        ModelError::Quota { .. }
    ));
    assert!(matches!(
        says(400, json!({"type": "invalid_request_error", "message": "Your credit balance is too low"})),
        ModelError::Quota { .. }
    ));
    assert_eq!(says(400, json!({"code": "context_length_exceeded"})), ModelError::TooLong);
    assert_eq!(says(400, json!({"message": "prompt is too long: 9 tokens"})), ModelError::TooLong);
    assert!(matches!(
        says(400, json!({"message": "API key not valid.", "status": "INVALID_ARGUMENT"})),
        ModelError::Auth { .. }
    ));
    assert!(matches!(says(400, json!("plain words")), ModelError::Rejected { .. }));
    let gemini = json!([{"error": {
        "code": 429, "status": "RESOURCE_EXHAUSTED",
        "details": [{"@type": "x"}, {"retryDelay": "33.2s"}],
    }}]);
    assert_eq!(
        decide(429, None, &gemini),
        ModelError::Retry { after: Some(Duration::from_secs(34)), why: "HTTP 429 RESOURCE_EXHAUSTED".into() }
    );
    let per_day = json!({"error": {"details": [{"quotaId": "GenerateRequestsPerDayPerProject"}]}});
    assert!(matches!(decide(429, None, &per_day), ModelError::Quota { .. }));
}

#[test]
fn server_text_is_not_passed_on() {
    for error in [
        json!({"type": "Incorrect key sk-abc", "message": "Incorrect key sk-abc"}),
        json!({"code": "sk abc", "message": "sk-abc"}),
        json!({"code": "x".repeat(400)}),
        json!("sk-abc"),
        json!({"code": {"deep": "sk-abc"}}),
    ] {
        let shown = format!("{:?}", decide(401, None, &json!({"error": error})));
        assert_eq!(shown, "Auth { why: \"HTTP 401\" }", "{error}");
    }
}
