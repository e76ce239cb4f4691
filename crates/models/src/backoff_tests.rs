use super::*;

fn retry(after_seconds: Option<u64>) -> ModelError {
    ModelError::Retry { after: after_seconds.map(Duration::from_secs), why: "HTTP 529".into() }
}

/// Why the provider is not called, and until when.
fn blocked_reason(backoff: &Backoff, now: Millis) -> Option<(&str, Option<Millis>)> {
    match &backoff.state {
        BackoffState::Paused { until, why } if now < *until => Some((why, Some(*until))),
        BackoffState::Stopped { why, .. } => Some((why, None)),
        _ => None,
    }
}

#[test]
fn waits_one_two_four_seconds_then_for_new_work() {
    let mut backoff = Backoff::default();
    let mut now = Millis(0);
    for seconds in [1, 2, 4] {
        assert_eq!(backoff.advice(now), BackoffAdvice::Ask);
        backoff.record_error(&ModelError::TimedOut, now, 0);
        let until = now.plus_seconds(seconds);
        assert_eq!(backoff.advice(now), BackoffAdvice::WaitUntil(until));
        now = until;
    }
    assert_eq!(backoff.advice(now), BackoffAdvice::Ask);
    backoff.record_error(&ModelError::TimedOut, now, 0);
    let never = now.plus_seconds(1_000_000);
    assert!(matches!(backoff.advice(never), BackoffAdvice::FallBack { .. }));

    backoff.new_work(now);
    assert!(matches!(backoff.advice(never), BackoffAdvice::FallBack { .. }), "old work is no new work");
    backoff.new_work(Millis(now.0 + 1));
    assert_eq!(backoff.advice(now), BackoffAdvice::Ask, "one more try");
    backoff.record_error(&ModelError::TimedOut, now, 0);
    assert!(matches!(backoff.advice(now), BackoffAdvice::FallBack { .. }), "and no second one");
}

#[test]
fn success_resets_the_backoff() {
    let mut backoff = Backoff::default();
    backoff.record_error(&retry(None), Millis(0), 0);
    backoff.record_error(&retry(None), Millis(0), 0);
    backoff.record_success();
    backoff.record_error(&retry(None), Millis(0), 0);
    assert_eq!(backoff.advice(Millis(0)), BackoffAdvice::WaitUntil(Millis(1_000)));
}

#[test]
fn retry_after_extends_the_wait() {
    let mut backoff = Backoff::default();
    backoff.record_error(&retry(Some(30)), Millis(0), 0);
    assert_eq!(backoff.advice(Millis(0)), BackoffAdvice::WaitUntil(Millis(30_000)));
    let mut backoff = Backoff::default();
    backoff.record_error(&retry(Some(0)), Millis(0), 0);
    assert_eq!(backoff.advice(Millis(0)), BackoffAdvice::WaitUntil(Millis(1_000)));
}

#[test]
fn jitter_adds_up_to_a_quarter() {
    let until = |random| {
        let mut backoff = Backoff::default();
        backoff.record_error(&ModelError::TimedOut, Millis(0), random);
        backoff.advice(Millis(0))
    };
    assert_eq!(until(0), BackoffAdvice::WaitUntil(Millis(1_000)));
    assert_eq!(until(255), BackoffAdvice::WaitUntil(Millis(1_250)));
}

#[test]
fn quota_and_credentials_pause_with_a_reason() {
    let auth = ModelError::Auth { why: "HTTP 401".into() };
    let quota = ModelError::Quota { after: Some(Duration::from_hours(5)), why: "HTTP 429".into() };
    for (error, until) in [(auth, PAUSE_AUTH_SECONDS), (quota, 5 * 60 * 60)] {
        let until = Millis(0).plus_seconds(until as i64);
        let mut backoff = Backoff::default();
        backoff.record_error(&error, Millis(0), 0);
        assert!(matches!(backoff.advice(Millis(0)), BackoffAdvice::FallBack { .. }), "{error}");
        assert_eq!(blocked_reason(&backoff, Millis(0)), Some((error.to_string().as_str(), Some(until))));
        assert_eq!(backoff.advice(until), BackoffAdvice::Ask);
        assert_eq!(blocked_reason(&backoff, until), None);
    }
}

#[test]
fn short_pause_is_waited_for() {
    let mut backoff = Backoff::default();
    let after = Some(Duration::from_secs(200));
    backoff.record_error(&ModelError::Quota { after, why: String::new() }, Millis(0), 0);
    assert_eq!(backoff.advice(Millis(0)), BackoffAdvice::WaitUntil(Millis(200_000)));
}

#[test]
fn rejected_request_does_not_affect_the_provider() {
    let mut backoff = Backoff::default();
    for error in [
        ModelError::Refused { usage: None },
        ModelError::TooLong,
        ModelError::Rejected { why: String::new() },
    ] {
        backoff.record_error(&error, Millis(0), 0);
    }
    assert_eq!(backoff, Backoff::default());
}

#[test]
fn invalid_answer_counts_as_failure() {
    let mut backoff = Backoff::default();
    backoff.record_invalid_answer("prose", Millis(0), 0);
    assert_eq!(backoff.advice(Millis(0)), BackoffAdvice::WaitUntil(Millis(1_000)));
}
