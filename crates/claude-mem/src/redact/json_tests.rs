use serde_json::{Value, json};

use super::samples::{fill, rules};
use super::{Cut, json as redact_json};

fn redact(mut value: Value) -> Value {
    redact_json(&mut value, Cut::of(64 << 10));
    value
}

#[test]
fn every_string_at_every_depth_is_redacted() {
    let (token, _) = fill("ghp_{alnum:36}");
    let value = json!({"a": [{"b": format!("x {token} y")}, token], "c": {"d": {"e": token}}});
    let mask = "[redacted:github-pat]";
    let want = json!({"a": [{"b": format!("x {mask} y")}, mask], "c": {"d": {"e": mask}}});
    assert_eq!(redact(value), want);
}

#[test]
fn keys_are_texts_too() {
    let (token, _) = fill("ghp_{alnum:36}");
    let out = redact(json!({token: 1, "<private>x</private>y": 2}));
    assert_eq!(out, json!({"[redacted:github-pat]": 1, "y": 2}));
}

#[test]
fn what_stands_under_a_secret_name_is_masked_whole() {
    for (value, want) in [
        (
            json!({"password": "letmein"}),
            json!({"password": "[redacted:password]"}),
        ),
        (
            json!({"password": "two words"}),
            json!({"password": "two words"}),
        ),
        (
            json!({"password": 12_345_678}),
            json!({"password": "[redacted:password]"}),
        ),
        (
            json!({"apiKey": "short"}),
            json!({"apiKey": "[redacted:secret]"}),
        ),
        (
            json!({"passwords": ["one", "two"]}),
            json!({"passwords": ["[redacted:password]", "[redacted:password]"]}),
        ),
        (
            json!({"password": "${PASSWORD}"}),
            json!({"password": "${PASSWORD}"}),
        ),
        (json!({"password": ""}), json!({"password": ""})),
        (
            json!({"name": "DB_PASSWORD", "value": "letmein"}),
            json!({"name": "DB_PASSWORD", "value": "[redacted:password]"}),
        ),
        (
            json!({"Key": "theme", "Value": "dark"}),
            json!({"Key": "theme", "Value": "dark"}),
        ),
        (
            json!({"password": null, "token": true}),
            json!({"password": null, "token": true}),
        ),
        (
            json!({"max_tokens": 5, "token": 5}),
            json!({"max_tokens": 5, "token": 5}),
        ),
        (json!({"key": "user.name"}), json!({"key": "user.name"})),
        (
            json!({"token": {"type": "word"}}),
            json!({"token": {"type": "word"}}),
        ),
    ] {
        assert_eq!(redact(value.clone()), want, "value {value}");
    }
}

#[test]
fn lines_of_a_patch_are_read_as_one_text() {
    let (key, _) = fill("{b64:64}");
    let patch = json!({"lines": [" a", "+<private>", "+my secret", "+</private>", " b"]});
    assert_eq!(redact(patch), json!({"lines": [" a", "+", " b"]}));
    let patch = json!({"lines": [
        "+-----BEGIN PRIVATE KEY-----", format!("+{key}"), format!("+{key}"), "+-----END PRIVATE KEY-----", " b",
    ]});
    assert_eq!(
        redact(patch),
        json!({"lines": ["+[redacted:private-key]", " b"]})
    );
}

#[test]
fn options_and_headers_in_a_row_are_masked() {
    let (token, _) = fill("{alnum:24}");
    for (value, want) in [
        (
            json!(["tool", "--password", "letmein", "-v"]),
            json!(["tool", "--password", "[redacted:password]", "-v"]),
        ),
        (
            json!(["X-Api-Key", token]),
            json!(["X-Api-Key", "[redacted:secret]"]),
        ),
        (
            json!(["--password", "--token", "x"]),
            json!(["--password", "--token", "x"]),
        ),
        (
            json!(["password", "token", "key"]),
            json!(["password", "token", "key"]),
        ),
    ] {
        assert_eq!(redact(value.clone()), want, "value {value}");
    }
}

#[test]
fn clean_values_stay_as_they_are() {
    let value = json!({
        "command": "cargo test", "n": 1.5, "ok": true, "none": null, "list": ["a", "b\nc"],
        "nested": [{"file_path": "/src/main.rs"}], "deep": [[["x"]]],
    });
    assert_eq!(redact(value.clone()), value);
}

#[test]
fn the_whole_is_bounded_however_many_strings_there_are() {
    let keep = Cut::of(1000);
    for value in [
        json!(vec!["some text"; 10_000]),
        json!(vec![json!({"k": "some text"}); 10_000]),
        json!({"a": "x ".repeat(5000), "b": "y ".repeat(5000), "c": "z ".repeat(5000)}),
        json!(vec![json!([1, 2]); 10_000]),
    ] {
        let mut value = value;
        redact_json(&mut value, keep);
        let bytes = value.to_string().len();
        assert!(bytes <= 4 * keep.bytes_max(), "{bytes} bytes are left");
        assert!(value.to_string().contains("elided"));
    }
}

#[test]
fn a_long_text_does_not_push_out_the_short_ones() {
    let mut value = json!({"content": "x ".repeat(90_000), "filePath": "/src/main.rs", "other": "y ".repeat(90_000)});
    redact_json(&mut value, Cut::of(10_000));
    assert_eq!(value["filePath"], "/src/main.rs");
    for field in ["content", "other"] {
        let kept = value[field].as_str().unwrap().len();
        assert!((4000..5200).contains(&kept), "{field}: {kept}");
    }
}

#[test]
fn no_secret_of_any_rule_is_left_in_json() {
    for sample in rules().iter().filter(|sample| sample.is_secret()) {
        let mut value = json!({"tool": {"out": ["first", sample.text]}, "text": sample.text});
        let masked = redact_json(&mut value, Cut::of(64 << 10));
        assert!(masked >= 2, "rule {}", sample.rule);
        assert!(
            !value.to_string().contains(&sample.secret),
            "rule {}: {value}",
            sample.rule
        );
    }
}
