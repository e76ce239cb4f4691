use proptest::prelude::*;

use crate::EmbeddingModel;

/// Our texts with the ids of Hugging Face's tokenizer.
const KNOWN: &str = include_str!("../tests/tokens.jsonl");

#[derive(serde::Deserialize)]
struct TokenizedText {
    text: String,
    ids: Vec<u32>,
}

fn token_ids(model: &EmbeddingModel, text: &str) -> Vec<u32> {
    model.ids(&[text], model.tokens_max())
}

#[test]
fn tokens_match_the_reference_tokenizer() {
    for line in KNOWN.lines() {
        let known: TokenizedText = serde_json::from_str(line).unwrap();
        assert_eq!(token_ids(EmbeddingModel::built_in(), &known.text), known.ids, "{:?}", known.text);
    }
}

#[test]
fn token_limit_keeps_start_and_end_tokens() {
    let model = EmbeddingModel::built_in();
    let all = token_ids(model, "one two three four five");
    assert_eq!(all.len(), 7);
    for limit in 2..9 {
        let ids = model.ids(&["one two three four five"], limit);
        assert_eq!(ids.len(), limit.min(7));
        assert_eq!(ids[..ids.len() - 1], all[..ids.len() - 1]);
        assert_eq!(ids.last(), all.last());
    }
    assert_eq!(model.ids(&["one"], 0), model.ids(&[""], 2));
    assert_eq!(model.token_count(&"word ".repeat(100_000)), 256);
}

proptest! {
    #[test]
    fn ids_are_always_in_the_vocabulary(text in ".{0,400}") {
        let ids = token_ids(EmbeddingModel::built_in(), &text);
        prop_assert!((2..=256).contains(&ids.len()));
        prop_assert!(ids.iter().all(|id| *id < 30_522));
    }

    #[test]
    fn accents_and_case_do_not_matter(word in "[a-z]{1,12}", at in 0_usize..12) {
        let at = at.min(word.len());
        let accented = format!("{}\u{301}{}", &word[..at], word[at..].to_uppercase());
        let model = EmbeddingModel::built_in();
        prop_assert_eq!(token_ids(model, &accented), token_ids(model, &word));
    }
}
