use super::*;

#[test]
fn counts_are_grouped_and_pluralised() {
    for (n, noun, want) in [
        (0, "event", "0 events"),
        (1, "event", "1 event"),
        (1_204_000, "event", "1,204,000 events"),
        (2, "memory", "2 memories"),
        (999, "day", "999 days"),
    ] {
        assert_eq!(count(n, noun), want);
    }
}

#[test]
fn sizes_have_one_decimal() {
    for (bytes, want) in
        [(0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (3_250_000, "3.2 MB"), (u64::MAX, "18446744.1 TB")]
    {
        assert_eq!(size(bytes), want);
    }
}

#[test]
fn age_uses_the_largest_unit() {
    let now = Millis(1_000_000_000);
    for (seconds, want) in
        [(-5, "just now"), (0, "just now"), (61, "1 min ago"), (7_300, "2 h ago"), (200_000, "2 days ago")]
    {
        assert_eq!(ago(now.plus_seconds(-seconds), now), want);
    }
}

#[test]
fn durations_are_parsed_or_rejected() {
    for (text, want) in [
        ("90s", Some(90)),
        ("30m", Some(1_800)),
        ("1h30m", Some(5_400)),
        (" 2d ", Some(172_800)),
        ("", None),
        ("0m", None),
        ("1", None),
        ("m", None),
        ("-1h", None),
        ("1 h", None),
        ("1y", None),
        ("1é", None),
        ("99999999999999999999d", None),
        ("9223372036854775807d", None),
    ] {
        assert_eq!(duration_seconds(text).ok(), want, "{text:?}");
    }
}

#[test]
fn duration_over_a_century_is_rejected() {
    assert!(duration_seconds("36000d").is_ok());
    let refused = duration_seconds("99999999d").expect_err("too long");
    assert!(refused.contains("too long"), "{refused}");
}
