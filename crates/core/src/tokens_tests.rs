use proptest::prelude::*;

use super::*;

#[test]
fn only_empty_text_is_free() {
    assert_eq!(estimate(""), 0);
    assert_eq!(estimate("a"), 1);
    assert_eq!(estimate("界"), 2);
}

#[test]
fn tokens_per_script() {
    assert_eq!(estimate(&"word".repeat(100)), 100);
    assert_eq!(estimate(&"记忆".repeat(100)), 300);
    assert_eq!(estimate(&"メモリ".repeat(100)), 450);
    assert_eq!(estimate(&"기억".repeat(100)), 300);
}

/// No tokenizer needs fewer tokens than words, and no relevant one needs more than four per word in
/// a language that separates words by spaces.
#[test]
fn sentences_cost_one_to_four_tokens_per_word() {
    for sentence in [
        "The login no longer loops when the session cookie has expired.",
        "Das Anmelden läuft nicht mehr im Kreis, wenn der Keks abgelaufen ist.",
        "Вход больше не зацикливается, когда срок действия куки истёк.",
    ] {
        let words = sentence.split_whitespace().count() as u32;
        let tokens = estimate(sentence);
        assert!((words..=words * 4).contains(&tokens), "{tokens} for {sentence:?}");
    }
}

#[test]
fn source_code_costs_more_than_prose() {
    let prose = "the worker takes what hooks have left";
    let source = "if (a[i] != b[j]) { x += f(&c); } // 1";
    assert!(estimate(source) * prose.len() as u32 > estimate(prose) * source.len() as u32);
}

proptest! {
    #[test]
    fn text_costs_at_least_its_parts(a in ".{0,200}", b in ".{0,200}") {
        let whole = estimate(&format!("{a}{b}"));
        prop_assert!(whole >= estimate(&a) && whole >= estimate(&b));
        prop_assert!(whole <= estimate(&a) + estimate(&b));
    }

    #[test]
    fn text_costs_at_most_its_bytes(text in ".{0,200}") {
        prop_assert!(estimate(&text) as usize <= text.len());
    }
}
