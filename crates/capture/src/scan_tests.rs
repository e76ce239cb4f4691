use proptest::prelude::*;

use super::*;

fn found(payload: &[u8]) -> Vec<(String, String)> {
    let mut all = Vec::new();
    scan_fields(payload, |key, text| {
        all.push((String::from_utf8_lossy(key).into_owned(), text.into_owned()));
    });
    all
}

fn pairs(want: &[(&str, &str)]) -> Vec<(String, String)> {
    want.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn scan_finds_outermost_strings() {
    for (payload, want) in [
        (r#"{"a":"1","b":"2"}"#, &[("a", "1"), ("b", "2")][..]),
        (r#"{"a":"1","b":"2"#, &[("a", "1")]),
        (r#"{"a" : "x\"\u0041y" , "b": {"a":"no"}, "c":"3""#, &[("a", "x\"Ay"), ("c", "3")]),
        (r#"{"n":5,"t":true,"l":["x","y"],"c":"3"}"#, &[("c", "3")]),
        (r#"{"a":"\\","b":"2"}"#, &[("a", "\\"), ("b", "2")]),
        ("{\"a\":\"1\0\",\"b\":\"2\"}", &[("b", "2")]),
        (r#"[{"a":"1"}]"#, &[]),
        (r#""a":"1""#, &[]),
        ("", &[]),
    ] {
        assert_eq!(found(payload.as_bytes()), pairs(want), "{payload}");
    }
}

#[test]
fn long_field_is_skipped() {
    let long = format!(r#"{{"a":"{}","b":"2"}}"#, "x".repeat(FIELD_BYTES_MAX));
    assert_eq!(found(long.as_bytes()), pairs(&[("b", "2")]));
}

#[test]
fn scan_handles_any_depth() {
    let mut deep = br#"{"a":"1","x":"#.to_vec();
    deep.resize(1 << 20, b'[');
    assert_eq!(found(&deep), pairs(&[("a", "1")]));
    assert!(!is_complete_object(&deep));
}

#[test]
fn object_is_complete_at_its_last_bracket() {
    for (payload, whole) in [
        ("{}", true),
        (r#" {"a":"}"}"#, true),
        (r#"{"a":"}"#, false),
        (r#"{"a":{}"#, false),
        (r#"{"a":1} trailing"#, true),
        ("", false),
        ("not json", false),
    ] {
        assert_eq!(is_complete_object(payload.as_bytes()), whole, "{payload}");
    }
}

proptest! {
    #[test]
    fn scan_never_panics_on_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        found(&bytes);
        is_complete_object(&bytes);
    }

    #[test]
    fn scan_never_panics_on_json_like_text(text in r#"[\{\}\[\]",:\\a\x00 ]{0,200}"#) {
        found(text.as_bytes());
        is_complete_object(text.as_bytes());
    }
}
