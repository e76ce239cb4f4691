use super::samples::fill;
use super::{Flow, Passed};

/// What is left of each text.
fn left(texts: &[&str]) -> Vec<String> {
    let mut flow = Flow::default();
    let passed = texts.iter().filter_map(|text| match flow.text(text) {
        Passed::Whole => Some((*text).to_owned()),
        Passed::Part(left) => Some(left.into_owned()),
        Passed::Hidden => None,
    });
    passed.collect()
}

#[test]
fn a_private_block_hides_what_stands_between_its_tags_wherever_those_are() {
    for (texts, want) in [
        (&["a", "b"][..], &["a", "b"][..]),
        (&["a <private>", "W", "W</private> b"], &["a ", " b"]),
        (&["<PRIVATE>", "W", "</Private>", "b"], &["b"]),
        (&["a <private>W", "W", "W"], &["a "]),
        (
            &["<private><private>", "W</private>", "W</private>", "b"],
            &["b"],
        ),
        (
            &["<private>", "W<private>W</private>W", "</private>b"],
            &["b"],
        ),
        (
            &["<private>", "</private>b<private>", "W", "</private>c"],
            &["b", "c"],
        ),
        (&["&lt;private&gt;", "W", "&lt;/private&gt;b"], &["b"]),
        (
            &["<private>x</private>", "b"],
            &["<private>x</private>", "b"],
        ),
        (&["PKey<Private>", "b"], &["PKey<Private>", "b"]),
    ] {
        assert_eq!(left(texts), want, "{texts:?}");
    }
}

#[test]
fn a_private_key_is_hidden_however_many_texts_it_is_written_in() {
    let (line, _) = fill("{b64:64}");
    let (begin, end) = ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----");
    let mask = "[redacted:private-key]";
    assert_eq!(
        left(&["a", begin, &line, &line, "Ab3=", end, "b"]),
        ["a", mask, "b"]
    );
    let numbered = format!("  2 {line}");
    assert_eq!(
        left(&[
            "  1 -----BEGIN RSA PRIVATE KEY-----",
            "line",
            &numbered,
            "line",
            end
        ]),
        [&format!("  1 {mask}"), "line"]
    );
    let half = format!("{begin}\n{line}\n");
    assert_eq!(left(&[&half, "rest", &line]), [mask]);
    assert_eq!(
        left(&["Private-Lines: 2", &line, &line, "Private-MAC: 1", "b"]),
        [mask, " 1", "b"]
    );
}

#[test]
fn a_marker_that_is_merely_mentioned_hides_nothing_behind_it() {
    let (line, _) = fill("{b64:64}");
    let begin = "grep: -----BEGIN PRIVATE KEY-----";
    let mut texts = vec![begin];
    texts.extend(["ordinary words, and more"; 9]);
    texts.push(&line);
    assert_eq!(left(&texts)[1..], texts[1..]);
    let whole = format!("-----BEGIN PRIVATE KEY-----\n{line}\n-----END PRIVATE KEY-----");
    assert_eq!(left(&[&whole, "b"]), [whole.as_str(), "b"]);
}
