use super::*;

fn wanted(words: &[&str]) -> TermMatcher {
    TermMatcher::new(words.iter().map(|word| (stem(word), 1.0)).collect())
}

/// Coverage of a title and a body.
fn covered(wanted: &TermMatcher, [title, body]: [&str; 2]) -> TermCoverage {
    wanted.read([title, body, "", ""], [1.0; 4]).coverage
}

#[test]
fn inflected_words_match() {
    for (word, text) in [
        ("loops", "It was looping"),
        ("possibility", "a possible answer"),
        ("relational", "They relate"),
        ("say", "who says so"),
        ("hoping", "we hoped"),
        ("naïve", "A NAIVE plan"),
        ("x", "the letter X"),
        ("日本", "東京 日本 語"),
    ] {
        let got = covered(&wanted(&[&analyzer::fold(word)]), [text, ""]);
        assert_eq!(got.present, [0], "{word} in {text:?}");
    }
}

#[test]
fn coverage_share_is_weighted_by_idf() {
    let wanted = TermMatcher::new(vec![("cooki".into(), 3.0), ("set".into(), 1.0)]);
    assert!((covered(&wanted, ["a cookie", ""]).share - 0.75).abs() < 1e-9);
    assert!((covered(&wanted, ["settings", ""]).share - 0.25).abs() < 1e-9);
    assert!(covered(&wanted, ["nothing", ""]).share.abs() < 1e-9);
}

#[test]
fn adjacency_needs_near_words_in_one_field() {
    let wanted = wanted(&["expired", "cookie"]);
    assert!(covered(&wanted, ["an expired login cookie", ""]).adjacency > 0.9);
    assert!(covered(&wanted, ["the cookie expired", ""]).adjacency > 0.9);
    assert!(covered(&wanted, ["expired", "cookie"]).adjacency < 0.1);
    let apart = "expired some time ago and then there was a cookie";
    assert!(covered(&wanted, [apart, ""]).adjacency < 0.1);
}

#[test]
fn long_bodies_are_counted_per_passage() {
    let wanted = wanted(&["cookie"]);
    let body = format!("{}. A cookie, one cookie.", ["filler"; 85].join(" "));
    let weights = [3.0, 1.0, 0.5, 0.5];
    let reading = wanted.read(["Cookie", &format!("{body} {body}"), "", ""], weights);
    assert_eq!(reading.whole.freqs, [3.0 + 4.0]);
    assert_eq!(reading.whole.words, 1 + 2 * 89);
    assert_eq!(reading.length, 1 + 2 * 89);
    let in_passages: f64 = reading.passages.iter().map(|passage| passage.freqs[0]).sum();
    assert!(reading.passages.len() > 1 && (in_passages - 4.0).abs() < 1e-9);
    let short = wanted.read(["", "a cookie", "", ""], weights);
    assert!(short.passages.is_empty(), "a short row has no separate passages");
}

proptest::proptest! {
    /// The first-byte shortcut never changes the result.
    #[test]
    fn skipping_words_that_begin_otherwise_loses_none(query in "[a-z]{1,9}( [a-z]{1,9}){0,3}", text in "[a-z]{1,3}(ational|bility|ing|ies|s|y|ed)?( [a-z]{1,9}){0,30}") {
        let words: Vec<&str> = query.split(' ').collect();
        let wanted = wanted(&words);
        let stems = analyzer::stems(&text);
        let slow: Vec<usize> = (0..words.len())
            .filter(|&at| stems.contains(&wanted.stems[at].0))
            .filter(|&at| wanted.stems.iter().position(|s| s.0 == wanted.stems[at].0) == Some(at))
            .collect();
        proptest::prop_assert_eq!(covered(&wanted, [text.as_str(), ""]).present, slow);
    }
}
