use super::*;

fn retry(after_seconds: Option<u64>) -> ModelError {
    ModelError::Retry {
        after: after_seconds.map(Duration::from_secs),
        why: "HTTP 529".into(),
    }
}

#[test]
fn one_two_and_four_seconds_then_nothing_until_new_work() {
    let mut ladder = Ladder::default();
    let mut now = Millis(0);
    for seconds in [1, 2, 4] {
        assert_eq!(ladder.advice(now), Advice::Ask);
        ladder.failed(&ModelError::TimedOut, now, 0);
        let until = now.plus_seconds(seconds);
        assert_eq!(ladder.advice(now), Advice::WaitUntil(until));
        now = until;
    }
    assert_eq!(ladder.advice(now), Advice::Ask);
    ladder.failed(&ModelError::TimedOut, now, 0);
    let never = now.plus_seconds(1_000_000);
    assert!(matches!(ladder.advice(never), Advice::HandOver { .. }));

    ladder.new_work(now);
    assert!(
        matches!(ladder.advice(never), Advice::HandOver { .. }),
        "old work is no new work"
    );
    ladder.new_work(Millis(now.0 + 1));
    assert_eq!(ladder.advice(now), Advice::Ask, "one more try");
    ladder.failed(&ModelError::TimedOut, now, 0);
    assert!(
        matches!(ladder.advice(now), Advice::HandOver { .. }),
        "and no second one"
    );
}

#[test]
fn success_puts_the_ladder_back_to_its_foot() {
    let mut ladder = Ladder::default();
    ladder.failed(&retry(None), Millis(0), 0);
    ladder.failed(&retry(None), Millis(0), 0);
    ladder.succeeded();
    ladder.failed(&retry(None), Millis(0), 0);
    assert_eq!(ladder.advice(Millis(0)), Advice::WaitUntil(Millis(1_000)));
}

#[test]
fn a_server_that_names_a_time_is_given_it() {
    let mut ladder = Ladder::default();
    ladder.failed(&retry(Some(30)), Millis(0), 0);
    assert_eq!(ladder.advice(Millis(0)), Advice::WaitUntil(Millis(30_000)));
    let mut ladder = Ladder::default();
    ladder.failed(&retry(Some(0)), Millis(0), 0);
    assert_eq!(ladder.advice(Millis(0)), Advice::WaitUntil(Millis(1_000)));
}

#[test]
fn chance_adds_up_to_a_quarter() {
    let until = |random| {
        let mut ladder = Ladder::default();
        ladder.failed(&ModelError::TimedOut, Millis(0), random);
        ladder.advice(Millis(0))
    };
    assert_eq!(until(0), Advice::WaitUntil(Millis(1_000)));
    assert_eq!(until(255), Advice::WaitUntil(Millis(1_250)));
}

#[test]
fn quota_and_credentials_pause_with_a_reason() {
    let auth = ModelError::Auth {
        why: "HTTP 401".into(),
    };
    let quota = ModelError::Quota {
        after: Some(Duration::from_hours(5)),
        why: "HTTP 429".into(),
    };
    for (error, until) in [(auth, PAUSE_AUTH_SECONDS), (quota, 5 * 60 * 60)] {
        let until = Millis(0).plus_seconds(until as i64);
        let mut ladder = Ladder::default();
        ladder.failed(&error, Millis(0), 0);
        assert!(
            matches!(ladder.advice(Millis(0)), Advice::HandOver { .. }),
            "{error}"
        );
        assert_eq!(
            ladder.trouble(Millis(0)),
            Some((error.to_string().as_str(), Some(until)))
        );
        assert_eq!(ladder.advice(until), Advice::Ask);
        assert_eq!(ladder.trouble(until), None);
        ladder.settings_changed();
        assert_eq!(ladder.advice(Millis(0)), Advice::Ask);
    }
}

#[test]
fn a_short_pause_is_waited_for() {
    let mut ladder = Ladder::default();
    let after = Some(Duration::from_secs(200));
    ladder.failed(
        &ModelError::Quota {
            after,
            why: String::new(),
        },
        Millis(0),
        0,
    );
    assert_eq!(ladder.advice(Millis(0)), Advice::WaitUntil(Millis(200_000)));
}

#[test]
fn a_request_that_is_refused_says_nothing_about_the_provider() {
    let mut ladder = Ladder::default();
    for error in [
        ModelError::Refused { usage: None },
        ModelError::TooLong,
        ModelError::Rejected { why: String::new() },
    ] {
        ladder.failed(&error, Millis(0), 0);
    }
    assert_eq!(ladder, Ladder::default());
}

#[test]
fn an_answer_that_is_none_climbs_too() {
    let mut ladder = Ladder::default();
    ladder.answered_nonsense("prose", Millis(0), 0);
    assert_eq!(ladder.advice(Millis(0)), Advice::WaitUntil(Millis(1_000)));
}
