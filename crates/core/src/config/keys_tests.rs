use super::*;
use crate::config::kind::RawSetting;

#[test]
fn every_default_is_valid_and_typed() {
    for key in KEYS {
        let default = key.kind.read(&RawSetting::Text(key.default.to_owned()));
        assert!(default.is_ok(), "{}: {default:?}", key.name);
    }
    let typed = Settings::from_values(|key| {
        key.kind.read(&RawSetting::Text(key.default.to_owned())).expect("checked above")
    });
    assert!(typed.is_some(), "a kind does not fit its field's type");
}

#[test]
fn range_limits_fit_their_field() {
    for key in KEYS {
        let SettingKind::Number { min, max, .. } = key.kind else {
            continue;
        };
        for edge in [min, max] {
            let typed = Settings::from_values(|other| {
                let text = if other.name == key.name { edge.to_string() } else { other.default.to_owned() };
                other.kind.read(&RawSetting::Text(text)).expect("in range")
            });
            assert!(typed.is_some(), "{} does not hold {edge}", key.name);
        }
    }
}

#[test]
fn names_are_unique() {
    let mut seen = std::collections::BTreeSet::new();
    for key in KEYS {
        assert!(seen.insert(key.name.to_ascii_uppercase()), "{}", key.name);
        for older in key.legacy_names {
            assert!(seen.insert((*older).to_owned()), "{older}");
        }
    }
}

#[test]
fn listed_settings_exist() {
    for name in PER_SESSION.iter().chain(NEEDS_RESTART) {
        assert!(key(name).is_some(), "{name}");
    }
}

#[test]
fn help_texts_are_sentences() {
    for key in KEYS {
        assert!(key.help.ends_with('.'), "{}: {:?}", key.name, key.help);
        assert!(!key.help.contains("  "), "{}: {:?}", key.name, key.help);
    }
}

#[test]
fn largest_context_fits_client_limit() {
    // A token of English is about four characters.
    let SettingKind::Number { max, .. } = key("context_tokens").expect("a key").kind else {
        panic!("context_tokens is a number");
    };
    assert!(max as usize * 4 <= crate::limits::CONTEXT_CHARS_MAX + 200);
}
