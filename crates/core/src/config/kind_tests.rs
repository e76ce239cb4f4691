use super::*;

fn text(text: &str) -> RawSetting {
    RawSetting::Text(text.to_owned())
}

const TOKENS: SettingKind = SettingKind::Number { min: 100, max: 6_000, unit: "tokens" };
const BYTES: SettingKind = SettingKind::Number { min: 0, max: u64::MAX, unit: "bytes" };

#[test]
fn switch_spellings_are_parsed() {
    for (typed, want) in [
        ("on", true),
        ("ON", true),
        (" true ", true),
        ("1", true),
        ("yes", true),
        ("off", false),
        ("False", false),
        ("0", false),
        ("no", false),
    ] {
        assert_eq!(SettingKind::Switch.read(&text(typed)), Ok(SettingValue::Switch(want)));
    }
    for typed in ["", "2", "enabled", "tru"] {
        assert_eq!(SettingKind::Switch.read(&text(typed)), Err("on or off".to_owned()), "{typed:?}");
    }
}

#[test]
fn out_of_range_number_is_refused() {
    assert_eq!(TOKENS.read(&text("1_500")), Ok(SettingValue::Number(1_500)));
    for typed in ["99", "6001", "-1", "1.5", "many", "", "2k"] {
        assert_eq!(TOKENS.read(&text(typed)), Err("100 to 6000 tokens".to_owned()), "{typed:?}");
    }
}

#[test]
fn byte_suffixes_are_parsed_without_overflow() {
    for (typed, want) in [
        ("0", Some(0)),
        ("500K", Some(500 << 10)),
        ("64m", Some(64 << 20)),
        ("2G", Some(2 << 30)),
        ("G", None),
        ("99999999999999G", None),
    ] {
        assert_eq!(BYTES.read(&text(typed)).ok(), want.map(SettingValue::Number), "{typed:?}");
    }
}

#[test]
fn list_is_an_array_or_comma_separated() {
    let kind = SettingKind::List("tools");
    let want = SettingValue::List(vec!["Glob".to_owned(), "Grep".to_owned()]);
    assert_eq!(kind.read(&text("Glob, Grep,,")), Ok(want.clone()));
    let array = RawSetting::List(vec!["Glob".to_owned(), " Grep ".to_owned(), String::new()]);
    assert_eq!(kind.read(&array), Ok(want));
    assert_eq!(kind.read(&text("")), Ok(SettingValue::List(Vec::new())));
}

#[test]
fn choice_ignores_case() {
    let kind = SettingKind::Choice(&["auto", "manual"]);
    assert_eq!(kind.read(&text("Manual")), Ok(SettingValue::Text("manual".to_owned())));
    assert_eq!(kind.read(&text("never")), Err("one of auto, manual".to_owned()));
}

#[test]
fn address_needs_a_scheme() {
    for good in ["", "http://127.0.0.1:11434/v1", " https://api.example.com "] {
        assert_eq!(SettingKind::Address.read(&text(good)), Ok(SettingValue::Text(good.trim().to_owned())));
    }
    for bad in ["localhost:11434", "https://", "ftp://x", "https://a b"] {
        assert!(SettingKind::Address.read(&text(bad)).is_err(), "{bad}");
    }
}

#[test]
fn displayed_value_parses_again() {
    for (kind, value) in [
        (SettingKind::Switch, SettingValue::Switch(true)),
        (SettingKind::Switch, SettingValue::Switch(false)),
        (TOKENS, SettingValue::Number(1_500)),
        (SettingKind::Text("a name"), SettingValue::Text("haiku".to_owned())),
        (SettingKind::List("tools"), SettingValue::List(vec!["Glob".to_owned(), "mcp__*".to_owned()])),
        (SettingKind::List("tools"), SettingValue::List(Vec::new())),
    ] {
        assert_eq!(kind.read(&text(&value.to_string())), Ok(value));
    }
}
