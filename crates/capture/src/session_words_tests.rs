use super::*;

fn learnt(texts: &[&str]) -> SessionWords {
    let mut words = SessionWords::default();
    for text in texts {
        words.learn(text);
    }
    // As a later hook reads them.
    SessionWords::decode(&words.encode()).unwrap()
}

#[test]
fn word_is_masked_wherever_it_is_glued() {
    let words = learnt(&["use <private>canary7351</private> to log in"]);
    for text in [
        "login canary7351",
        "login -kcanary7351",
        r"printf '\ncanary7351\n'",
        "let mycanary7351Var = 1",
        "CANARY7351",
        "xcanary7351canary7351",
        "日本canary7351語",
    ] {
        let masked = words.mask(text);
        assert!(!masked.to_lowercase().contains("canary7351"), "{text}: {masked}");
        assert!(masked.contains("[redacted:private-word]"), "{text}: {masked}");
    }
    for text in ["canary 7351", "a canary", "use it to log in", ""] {
        assert_eq!(words.mask(text), text);
    }
}

#[test]
fn token_is_known_whatever_its_signs() {
    for secret in ["p^Q7=r:s2", "x9=K2:pQ", "s!e^cr=et", "a1/b2?c3", "Ünï7#codé"] {
        let words = learnt(&[&format!("the key is <private>{secret}</private> now")]);
        for text in [format!("curl -k{secret} x"), format!("--key={secret}"), format!("'{secret}',")] {
            let masked = words.mask(&text);
            assert!(!masked.contains(secret), "{text}: {masked}");
        }
    }
}

#[test]
fn ordinary_words_and_open_tokens_stay() {
    let words = learnt(&["set x9=K2:pQ <private>x9=K2:pQ and/or self-made config.toml 2026-11-18</private>"]);
    for text in ["x9=K2:pQ", "and/or", "self-made", "config.toml", "2026-11-18"] {
        assert_eq!(words.mask(text), text);
    }
}

#[test]
fn every_string_of_a_value_teaches_and_is_masked() {
    let mut words = SessionWords::default();
    assert!(words.learn_json(&serde_json::json!({"a": ["x", {"b": "<private>zeta9182x</private>"}]})));
    assert!(!words.learn_json(&serde_json::json!({"a": "nothing", "n": 1})));
    let mut value = serde_json::json!({"kzeta9182x": ["-pzeta9182x", 7]});
    words.mask_json(&mut value);
    assert!(!value.to_string().contains("zeta9182x"), "{value}");
}

#[test]
fn damaged_marks_are_refused() {
    let words = learnt(&["<private>canary7351</private>"]);
    let text = words.encode();
    assert_eq!(SessionWords::decode(&text), Some(words));
    assert_eq!(SessionWords::decode(""), Some(SessionWords::default()));
    for bad in [&text[..text.len() - 1], "xyz", &format!("{text}0"), &format!("{text}é")] {
        assert_eq!(SessionWords::decode(bad), None, "{bad}");
    }
}

#[test]
fn words_with_colours_and_invisible_characters_inside_are_masked() {
    let words = learnt(&["use <private>canary7351</private> to log in"]);
    for text in ["can\u{1b}[1;31mary7351\u{1b}[0m", "can\\u001b[31mary7351", "can\u{ad}ary\u{200b}7351"] {
        let masked = words.mask(text);
        assert!(!masked.contains("7351"), "{text:?} -> {masked:?}");
    }
    for text in ["\u{1b}[31mred\u{1b}[0m text", "soft\u{ad}hyphen", "\u{1b}]é", "C:\\x1b"] {
        assert_eq!(words.mask(text), text);
    }
}
