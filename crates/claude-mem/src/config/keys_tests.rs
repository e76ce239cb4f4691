use super::*;
use crate::config::kind::Raw;

#[test]
fn every_default_is_valid_and_typed() {
    for key in KEYS {
        let default = key.kind.read(&Raw::Text(key.default.to_owned()));
        assert!(default.is_ok(), "{}: {default:?}", key.name);
    }
    let typed = Settings::from_values(|key| {
        key.kind
            .read(&Raw::Text(key.default.to_owned()))
            .expect("checked above")
    });
    assert!(typed.is_some(), "a kind does not fit its field's type");
}

#[test]
fn every_value_a_range_allows_fits_its_field() {
    for key in KEYS {
        let Kind::Number { min, max, .. } = key.kind else {
            continue;
        };
        for edge in [min, max] {
            let typed = Settings::from_values(|other| {
                let text = if other.name == key.name {
                    edge.to_string()
                } else {
                    other.default.to_owned()
                };
                other.kind.read(&Raw::Text(text)).expect("in range")
            });
            assert!(typed.is_some(), "{} does not hold {edge}", key.name);
        }
    }
}

#[test]
fn no_name_or_older_name_is_used_twice() {
    let mut seen = std::collections::BTreeSet::new();
    for key in KEYS {
        assert!(seen.insert(key.name.to_ascii_uppercase()), "{}", key.name);
        for older in key.older {
            assert!(seen.insert((*older).to_owned()), "{older}");
        }
    }
}

#[test]
fn help_is_a_sentence() {
    for key in KEYS {
        assert!(key.help.ends_with('.'), "{}: {:?}", key.name, key.help);
        assert!(!key.help.contains("  "), "{}: {:?}", key.name, key.help);
    }
}

#[test]
fn the_wall_of_the_client_holds_the_largest_context() {
    // A token of English is about four characters.
    let Kind::Number { max, .. } = key("context_tokens").expect("a key").kind else {
        panic!("context_tokens is a number");
    };
    assert!(max as usize * 4 <= crate::limits::CONTEXT_CHARS_MAX + 200);
}
