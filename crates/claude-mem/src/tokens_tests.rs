use proptest::prelude::*;

use super::*;

#[test]
fn nothing_costs_nothing_and_anything_costs_something() {
    assert_eq!(estimate(""), 0);
    assert_eq!(estimate("a"), 1);
    assert_eq!(estimate("界"), 2);
}

#[test]
fn four_latin_letters_are_a_token_and_a_han_character_is_one_and_a_half() {
    assert_eq!(estimate(&"word".repeat(100)), 100);
    assert_eq!(estimate(&"记忆".repeat(100)), 300);
    assert_eq!(estimate(&"メモリ".repeat(100)), 450);
    assert_eq!(estimate(&"기억".repeat(100)), 300);
}

/// No tokenizer needs fewer tokens than words, and none that matters needs more than four a word
/// in a language that parts its words by spaces.
#[test]
fn sentences_cost_between_one_and_four_tokens_a_word() {
    for sentence in [
        "The login no longer loops when the session cookie has expired.",
        "Das Anmelden läuft nicht mehr im Kreis, wenn der Keks abgelaufen ist.",
        "Вход больше не зацикливается, когда срок действия куки истёк.",
    ] {
        let words = sentence.split_whitespace().count() as u32;
        let tokens = estimate(sentence);
        assert!(
            (words..=words * 4).contains(&tokens),
            "{tokens} for {sentence:?}"
        );
    }
}

#[test]
fn source_text_costs_more_than_prose_of_the_same_length() {
    let prose = "the worker takes what hooks have left";
    let source = "if (a[i] != b[j]) { x += f(&c); } // 1";
    assert!(estimate(source) * prose.len() as u32 > estimate(prose) * source.len() as u32);
}

proptest! {
    #[test]
    fn a_text_never_costs_less_than_a_part_of_it(a in ".{0,200}", b in ".{0,200}") {
        let whole = estimate(&format!("{a}{b}"));
        prop_assert!(whole >= estimate(&a) && whole >= estimate(&b));
        prop_assert!(whole <= estimate(&a) + estimate(&b));
    }

    #[test]
    fn no_text_costs_more_than_its_bytes(text in ".{0,200}") {
        prop_assert!(estimate(&text) as usize <= text.len());
    }
}
