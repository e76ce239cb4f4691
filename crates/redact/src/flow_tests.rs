use super::samples::fill;
use super::{OpenBlockTracker, VisibleText};

/// The visible part of each text.
fn left(texts: &[&str]) -> Vec<String> {
    let mut flow = OpenBlockTracker::default();
    let passed = texts.iter().filter_map(|text| match flow.next_text(text) {
        VisibleText::Whole => Some((*text).to_owned()),
        VisibleText::Part(left) => Some(left.into_owned()),
        VisibleText::Hidden => None,
    });
    passed.collect()
}

#[test]
fn private_block_spans_texts() {
    for (texts, want) in [
        (&["a", "b"][..], &["a", "b"][..]),
        (&["a <private>", "W", "W</private> b"], &["a ", " b"]),
        (&["<PRIVATE>", "W", "</Private>", "b"], &["b"]),
        (&["a <private>W", "W", "W"], &["a "]),
        (&["<private><private>", "W</private>", "W</private>", "b"], &["b"]),
        (&["<private>", "W<private>W</private>W", "</private>b"], &["b"]),
        (&["<private>", "</private>b<private>", "W", "</private>c"], &["b", "c"]),
        (&["&lt;private&gt;", "W", "&lt;/private&gt;b"], &["b"]),
        (&["<private>x</private>", "b"], &["<private>x</private>", "b"]),
        (&["PKey<Private>", "b"], &["PKey<Private>", "b"]),
    ] {
        assert_eq!(left(texts), want, "{texts:?}");
    }
}

#[test]
fn private_key_spans_texts() {
    let (line, _) = fill("{b64:64}");
    let (begin, end) = ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----");
    let mask = "[redacted:private-key]";
    assert_eq!(left(&["a", begin, &line, &line, "Ab3=", end, "b"]), ["a", mask, "b"]);
    let numbered = format!("  2 {line}");
    assert_eq!(
        left(&["  1 -----BEGIN RSA PRIVATE KEY-----", "line", &numbered, "line", end]),
        [&format!("  1 {mask}"), "line"]
    );
    let half = format!("{begin}\n{line}\n");
    assert_eq!(left(&[&half, "rest", &line]), [mask]);
    assert_eq!(left(&["Private-Lines: 2", &line, &line, "Private-MAC: 1", "b"]), [mask, " 1", "b"]);
}

#[test]
fn mentioned_marker_hides_nothing() {
    let (line, _) = fill("{b64:64}");
    let begin = "grep: -----BEGIN PRIVATE KEY-----";
    let mut texts = vec![begin];
    texts.extend(["ordinary words, and more"; 9]);
    texts.push(&line);
    assert_eq!(left(&texts)[1..], texts[1..]);
    let whole = format!("-----BEGIN PRIVATE KEY-----\n{line}\n-----END PRIVATE KEY-----");
    assert_eq!(left(&[&whole, "b"]), [whole.as_str(), "b"]);
}
