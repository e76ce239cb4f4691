use super::*;

fn text(text: &str) -> Raw {
    Raw::Text(text.to_owned())
}

const TOKENS: Kind = Kind::Number {
    min: 100,
    max: 6_000,
    unit: "tokens",
};
const BYTES: Kind = Kind::Number {
    min: 0,
    max: u64::MAX,
    unit: "bytes",
};

#[test]
fn a_switch_is_read_in_every_usual_spelling() {
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
        assert_eq!(Kind::Switch.read(&text(typed)), Ok(Value::Switch(want)));
    }
    for typed in ["", "2", "enabled", "tru"] {
        assert_eq!(
            Kind::Switch.read(&text(typed)),
            Err("on or off".to_owned()),
            "{typed:?}"
        );
    }
}

#[test]
fn a_number_outside_its_range_is_refused_with_the_range() {
    assert_eq!(TOKENS.read(&text("1_500")), Ok(Value::Number(1_500)));
    for typed in ["99", "6001", "-1", "1.5", "many", "", "2k"] {
        assert_eq!(
            TOKENS.read(&text(typed)),
            Err("100 to 6000 tokens".to_owned()),
            "{typed:?}"
        );
    }
}

#[test]
fn bytes_may_be_given_with_a_binary_suffix_and_never_overflow() {
    for (typed, want) in [
        ("0", Some(0)),
        ("500K", Some(500 << 10)),
        ("64m", Some(64 << 20)),
        ("2G", Some(2 << 30)),
        ("G", None),
        ("99999999999999G", None),
    ] {
        assert_eq!(
            BYTES.read(&text(typed)).ok(),
            want.map(Value::Number),
            "{typed:?}"
        );
    }
}

#[test]
fn a_list_is_an_array_or_a_text_with_commas() {
    let kind = Kind::List("tools");
    let want = Value::List(vec!["Glob".to_owned(), "Grep".to_owned()]);
    assert_eq!(kind.read(&text("Glob, Grep,,")), Ok(want.clone()));
    let array = Raw::List(vec!["Glob".to_owned(), " Grep ".to_owned(), String::new()]);
    assert_eq!(kind.read(&array), Ok(want));
    assert_eq!(kind.read(&text("")), Ok(Value::List(Vec::new())));
}

#[test]
fn a_choice_is_read_in_any_case_and_kept_in_ours() {
    let kind = Kind::Choice(&["auto", "manual"]);
    assert_eq!(
        kind.read(&text("Manual")),
        Ok(Value::Text("manual".to_owned()))
    );
    assert_eq!(
        kind.read(&text("never")),
        Err("one of auto, manual".to_owned())
    );
}

#[test]
fn an_address_names_its_scheme() {
    for good in ["", "http://127.0.0.1:11434/v1", " https://api.example.com "] {
        assert_eq!(
            Kind::Address.read(&text(good)),
            Ok(Value::Text(good.trim().to_owned()))
        );
    }
    for bad in ["localhost:11434", "https://", "ftp://x", "https://a b"] {
        assert!(Kind::Address.read(&text(bad)).is_err(), "{bad}");
    }
}

#[test]
fn what_is_shown_can_be_typed_back() {
    for (kind, value) in [
        (Kind::Switch, Value::Switch(true)),
        (Kind::Switch, Value::Switch(false)),
        (TOKENS, Value::Number(1_500)),
        (Kind::Text("a name"), Value::Text("haiku".to_owned())),
        (
            Kind::List("tools"),
            Value::List(vec!["Glob".to_owned(), "mcp__*".to_owned()]),
        ),
        (Kind::List("tools"), Value::List(Vec::new())),
    ] {
        assert_eq!(kind.read(&text(&value.to_string())), Ok(value));
    }
}
