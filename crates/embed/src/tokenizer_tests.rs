use proptest::prelude::*;

use crate::Model;

/// Texts of ours with the ids that Hugging Face's tokenizer gives them.
const KNOWN: &str = include_str!("../tests/tokens.jsonl");

#[derive(serde::Deserialize)]
struct Known {
    text: String,
    ids: Vec<u32>,
}

#[test]
fn texts_are_cut_as_the_model_was_trained_on_them() {
    for line in KNOWN.lines() {
        let known: Known = serde_json::from_str(line).unwrap();
        assert_eq!(
            Model::built_in().token_ids(&known.text),
            known.ids,
            "{:?}",
            known.text
        );
    }
}

#[test]
fn a_limit_cuts_the_text_and_keeps_both_ends() {
    let model = Model::built_in();
    let all = model.token_ids("one two three four five");
    assert_eq!(all.len(), 7);
    for limit in 2..9 {
        let ids = model.ids(&["one two three four five"], limit);
        assert_eq!(ids.len(), limit.min(7));
        assert_eq!(ids[..ids.len() - 1], all[..ids.len() - 1]);
        assert_eq!(ids.last(), all.last());
    }
    assert_eq!(model.ids(&["one"], 0), model.ids(&[""], 2));
    assert_eq!(model.tokens(&"word ".repeat(100_000)), 256);
}

proptest! {
    #[test]
    fn any_text_has_ids_of_the_vocabulary(text in ".{0,400}") {
        let ids = Model::built_in().token_ids(&text);
        prop_assert!((2..=256).contains(&ids.len()));
        prop_assert!(ids.iter().all(|id| *id < 30_522));
    }

    #[test]
    fn accents_and_case_do_not_matter(word in "[a-z]{1,12}", at in 0_usize..12) {
        let at = at.min(word.len());
        let accented = format!("{}\u{301}{}", &word[..at], word[at..].to_uppercase());
        let model = Model::built_in();
        prop_assert_eq!(model.token_ids(&accented), model.token_ids(&word));
    }
}
