use super::*;

/// 2026-11-16, a Monday, at noon.
const NOW: Millis = Millis(1_794_830_400_000);

fn days(text: &str) -> Vec<(String, String)> {
    let day = |at: Millis| {
        let stamp = Timestamp::from_millisecond(at.0).unwrap();
        stamp.to_zoned(TimeZone::UTC).date().to_string()
    };
    let named = periods(text, NOW, &TimeZone::UTC).into_iter();
    named.map(|period| (day(period.from), day(period.until))).collect()
}

#[test]
fn months_days_and_spans_are_found() {
    for (typed, from, until) in [
        ("what did we decide in March?", "2026-03-01", "2026-04-01"),
        ("the outage of December", "2025-12-01", "2026-01-01"),
        ("where was it on May 3, 2025", "2025-05-03", "2025-05-04"),
        ("where was it on the 3rd of May", "2026-05-03", "2026-05-04"),
        ("release of 12 october 2024", "2024-10-12", "2024-10-13"),
        ("who spoke in October 2023", "2023-10-01", "2023-11-01"),
        ("the migration of 2026-03", "2026-03-01", "2026-04-01"),
        ("failed 2026-03-05T10:00:01Z again", "2026-03-05", "2026-03-06"),
        ("what broke yesterday", "2026-11-15", "2026-11-16"),
        ("what did I do last week", "2026-11-09", "2026-11-16"),
        ("decisions of last month", "2026-10-01", "2026-11-01"),
        ("the deploy 3 days ago", "2026-11-13", "2026-11-14"),
        ("what we said two weeks ago", "2026-11-02", "2026-11-09"),
        ("the talk on Friday", "2026-11-13", "2026-11-14"),
        ("tests of Sep 2025", "2025-09-01", "2025-10-01"),
    ] {
        let want = vec![(from.to_owned(), until.to_owned())];
        assert_eq!(days(typed), want, "typed {typed:?}");
    }
}

#[test]
fn lookalikes_are_not_times() {
    for typed in [
        "may I march in",
        "april reviewed the parser",
        "the week view",
        "ask june about auth",
        "mar the surface",
        "version 2026 of it",
        "1.2.3-4",
        "2026-13-01",
        "99999999999999 days ago",
        "ago",
        "last",
        "",
    ] {
        assert_eq!(days(typed), [], "typed {typed:?}");
    }
}

#[test]
fn score_fades_faster_before_than_after() {
    let day = 86_400_000;
    let period = TimePeriod { from: Millis(10 * day), until: Millis(11 * day) };
    let at = |days: i64| period.score(Millis(days * day));
    assert!((at(10) - 1.0).abs() < 1e-9);
    assert!((at(9) - 0.5).abs() < 1e-9);
    assert!((at(18) - 0.5).abs() < 1e-9);
    assert!(at(7).abs() < 1e-9 && at(30).abs() < 1e-9);
}
