use serde_json::json;

use super::PrivateWords;

fn words(prompt: &str) -> PrivateWords {
    let mut words = PrivateWords::default();
    words.learn(prompt);
    words
}

#[test]
fn distinctive_private_words_are_masked() {
    let known = words("use <private>canary7351 and Zanzibarian, pin 48213</private> to log in");
    for (text, want) in [
        ("login canary7351", "login [redacted:private-word]"),
        ("I used CANARY7351.", "I used [redacted:private-word]."),
        ("--user=canary7351 --pin=48213", "--user=[redacted:private-word] --pin=[redacted:private-word]"),
        ("/home/zanzibarian/x", "/home/[redacted:private-word]/x"),
        ("canary7351@host", "[redacted:private-word]@host"),
        ("use it to log in", "use it to log in"),
        ("canary and 7351", "canary and 7351"),
    ] {
        assert_eq!(known.mask(text), want, "{text}");
    }
}

#[test]
fn ordinary_words_and_words_outside_the_block_are_kept() {
    let known = words(
        "rotate build2024x <private>the production database of customers, build2024x in 2024</private> now",
    );
    assert!(known.is_empty(), "{known:?}");
    assert!(words("no block with canary7351").is_empty());
}

#[test]
fn joined_words_are_masked_as_one() {
    let known = words("<private>correct-horse-battery and Tr0ub4dor&3</private>");
    assert_eq!(known.mask("pw correct-horse-battery!"), "pw [redacted:private-word]!");
    assert_eq!(known.mask("pw Tr0ub4dor&3"), "pw [redacted:private-word]");
}

#[test]
fn values_and_names_of_json_are_masked() {
    let known = words("<private>canary7351 48213</private>");
    let mut value = json!({"command": "login canary7351", "canary7351": [48213, true]});
    known.mask_json(&mut value);
    let mask = "[redacted:private-word]";
    assert_eq!(value, json!({"command": format!("login {mask}"), mask: [mask, true]}));
}

#[test]
fn encoding_hides_the_words_and_survives() {
    let known = words("<private>canary7351</private>");
    let text = known.encode();
    assert!(!text.contains("canary") && text.len() == 40, "{text}");
    assert_eq!(PrivateWords::decode(&text), Some(known.clone()));
    assert_ne!(words("<private>canary7351</private>").encode(), text, "every session has its own key");
    assert_eq!(PrivateWords::decode(""), Some(PrivateWords::default()));
    for damaged in ["x", "00", &text[..39], &format!("{text}zz")] {
        assert_eq!(PrivateWords::decode(damaged), None, "{damaged}");
    }
}

#[test]
fn later_prompts_add_words() {
    let mut known = words("<private>canary7351</private>");
    known.learn("<private>another99</private>");
    assert_eq!(known.mask("canary7351 another99"), "[redacted:private-word] [redacted:private-word]");
}
