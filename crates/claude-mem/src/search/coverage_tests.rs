use super::*;

fn wanted(words: &[&str]) -> Wanted {
    Wanted::new(words.iter().map(|word| (stem(word), 1.0)).collect())
}

#[test]
fn a_word_counts_in_any_of_its_forms() {
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
        let got = wanted(&[&terms::fold(word)]).covered_by([text]);
        assert_eq!(got.present, [0], "{word} in {text:?}");
    }
}

#[test]
fn the_share_is_weighed_by_how_telling_terms_are() {
    let wanted = Wanted::new(vec![("cooki".into(), 3.0), ("set".into(), 1.0)]);
    assert!((wanted.covered_by(["a cookie"]).share - 0.75).abs() < 1e-9);
    assert!((wanted.covered_by(["settings"]).share - 0.25).abs() < 1e-9);
    assert!(wanted.covered_by(["nothing"]).share.abs() < 1e-9);
}

#[test]
fn closeness_asks_for_neighbouring_words_in_one_field() {
    let wanted = wanted(&["expired", "cookie"]);
    assert!(wanted.covered_by(["an expired login cookie"]).closeness > 0.9);
    assert!(wanted.covered_by(["the cookie expired"]).closeness > 0.9);
    assert!(wanted.covered_by(["expired", "cookie"]).closeness < 0.1);
    let apart = "expired some time ago and then there was a cookie";
    assert!(wanted.covered_by([apart]).closeness < 0.1);
}

proptest::proptest! {
    /// The short cut by first letters never changes an answer.
    #[test]
    fn skipping_words_that_begin_otherwise_loses_none(query in "[a-z]{1,9}( [a-z]{1,9}){0,3}", text in "[a-z]{1,3}(ational|bility|ing|ies|s|y|ed)?( [a-z]{1,9}){0,30}") {
        let words: Vec<&str> = query.split(' ').collect();
        let wanted = wanted(&words);
        let stems = terms::stems(&text);
        let slow: Vec<usize> = (0..words.len())
            .filter(|&at| stems.contains(&wanted.stems()[at].0))
            .filter(|&at| wanted.stems().iter().position(|s| s.0 == wanted.stems()[at].0) == Some(at))
            .collect();
        proptest::prop_assert_eq!(wanted.covered_by([text.as_str()]).present, slow);
    }
}
