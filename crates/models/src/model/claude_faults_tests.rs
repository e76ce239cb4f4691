use super::*;

const NOW: Millis = Millis(1_760_000_000_000);

fn of(result: &str, status: Option<u16>) -> ModelError {
    let result = json!({
        "type": "result", "subtype": "success", "is_error": true, "result": result,
        "api_error_status": status, "api_error_type": "scripted_error",
    });
    classify_result(&result, NOW)
}

#[test]
fn client_errors_are_classified() {
    let hours = |h| Some(Duration::from_hours(h));
    let limit = |after| ModelError::Quota { after, why: "claude's usage limit is reached".into() };
    let login = || ModelError::Auth { why: "claude is not logged in".into() };
    for (text, status, want) in [
        ("Invalid API key · Please run /login", None, login()),
        ("OAuth token has expired", Some(401), login()),
        ("Claude AI usage limit reached|1760007200", None, limit(hours(2))),
        ("Claude AI usage limit reached|1", None, limit(None)),
        ("You've hit your limit · resets 3pm", Some(429), limit(None)),
        ("Credit balance is too low", Some(400), limit(None)),
        ("Prompt is too long", None, ModelError::TooLong),
        ("API Error: Connection error.", None, ModelError::unreachable("claude cannot reach its service")),
        ("something new", None, ModelError::Retry { after: None, why: "claude reports an error".into() }),
        (
            "API Error: 529 Overloaded",
            Some(529),
            ModelError::Retry { after: None, why: "HTTP 529 scripted_error".into() },
        ),
        ("API Error: 401", Some(401), ModelError::Auth { why: "HTTP 401 scripted_error".into() }),
        (
            "API Error: 404 no such model",
            Some(404),
            ModelError::misconfigured("no such model or address (HTTP 404 scripted_error)"),
        ),
    ] {
        assert_eq!(of(text, status), want, "{text}");
    }
}

#[test]
fn exit_tells_whether_tokens_may_be_spent() {
    use super::super::FailureCost;
    for (code, complaint, in_the_middle, want, spent) in [
        (Some(127), "", false, "Misconfigured", FailureCost::Nothing),
        (Some(126), "", false, "Misconfigured", FailureCost::Nothing),
        (Some(1), "error: unknown option '--tools'", false, "Misconfigured", FailureCost::Nothing),
        (Some(1), "please run /login", false, "Auth", FailureCost::Nothing),
        (Some(1), "", false, "Unreachable", FailureCost::Nothing),
        (None, "", false, "Unreachable", FailureCost::Nothing),
        (Some(1), "", true, "Garbled", FailureCost::Unknown),
    ] {
        let error = classify_exit(code, complaint, in_the_middle);
        assert!(format!("{error:?}").starts_with(want), "{code:?} {complaint}: {error:?}");
        assert_eq!(error.cost(), spent);
    }
}
