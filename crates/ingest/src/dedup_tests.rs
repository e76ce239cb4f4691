use super::ObservationFingerprint;

fn said(title: &str, narrative: &str) -> ObservationFingerprint {
    ObservationFingerprint::new(title, narrative, &[])
}

#[test]
fn reworded_duplicates_match() {
    for (one, other) in [
        (
            ("Login no longer loops", "The cookie was read before it was written."),
            ("login no longer loops.", "The cookie was read before it was written!"),
        ),
        (("The retry limit is MAX_RETRIES", ""), ("The retry limit is `MAX_RETRIES`", "")),
        (
            ("Sessions expire after a day of silence", "Nothing else ends them, say the tests."),
            (
                "A session expires after a day",
                "Sessions expire after a day of silence. Nothing else ends them, say the tests.",
            ),
        ),
    ] {
        let (one, other) = (said(one.0, one.1), said(other.0, other.1));
        assert!(one.is_duplicate_of(&other), "{one:?} and {other:?}");
        assert!(other.is_duplicate_of(&one), "{other:?} and {one:?}");
    }
}

#[test]
fn different_number_subject_or_content_is_no_duplicate() {
    for (one, other) in [
        (("Retries are limited to 3", ""), ("Retries are limited to 5", "")),
        (("Use tabs in Makefiles", ""), ("Use tabs in Python files", "")),
        (
            ("Tests pass", "The parser tests pass after the fix in the scanner."),
            (
                "Tests pass again",
                "All integration tests against the database pass; the lock was taken twice.",
            ),
        ),
        (("", ""), ("Something", "")),
    ] {
        let (one, other) = (said(one.0, one.1), said(other.0, other.1));
        assert!(!one.is_duplicate_of(&other), "{one:?} and {other:?}");
    }
}
