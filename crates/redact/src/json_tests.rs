use serde_json::{Value, json};

use super::samples::{fill, rule_samples};
use super::{HeadTailLimit, json as redact_json};

fn redact(mut value: Value) -> Value {
    redact_json(&mut value, HeadTailLimit::from_total(64 << 10));
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
fn object_keys_are_redacted() {
    let (token, _) = fill("ghp_{alnum:36}");
    let out = redact(json!({token: 1, "<private>x</private>y": 2}));
    assert_eq!(out, json!({"[redacted:github-pat]": 1, "y": 2}));
}

#[test]
fn values_of_secret_names_are_masked() {
    for (value, want) in [
        (json!({"password": "letmein"}), json!({"password": "[redacted:password]"})),
        (json!({"password": "two words"}), json!({"password": "two words"})),
        (json!({"password": 12_345_678}), json!({"password": "[redacted:password]"})),
        (json!({"apiKey": "short"}), json!({"apiKey": "[redacted:secret]"})),
        (
            json!({"passwords": ["one", "two"]}),
            json!({"passwords": ["[redacted:password]", "[redacted:password]"]}),
        ),
        (json!({"password": "${PASSWORD}"}), json!({"password": "${PASSWORD}"})),
        (json!({"password": ""}), json!({"password": ""})),
        (
            json!({"name": "DB_PASSWORD", "value": "letmein"}),
            json!({"name": "DB_PASSWORD", "value": "[redacted:password]"}),
        ),
        (json!({"Key": "theme", "Value": "dark"}), json!({"Key": "theme", "Value": "dark"})),
        (json!({"password": null, "token": true}), json!({"password": null, "token": true})),
        (json!({"max_tokens": 5, "token": 5}), json!({"max_tokens": 5, "token": 5})),
        (json!({"key": "user.name"}), json!({"key": "user.name"})),
        (json!({"token": {"type": "word"}}), json!({"token": {"type": "word"}})),
    ] {
        assert_eq!(redact(value.clone()), want, "value {value}");
    }
}

#[test]
fn values_named_by_siblings_or_parents_are_masked() {
    let (key, _) = fill("{alnum:24}");
    let key = key.as_str();
    let (auth, cookie) = ("[redacted:authorization]", "[redacted:cookie]");
    let password = "[redacted:password]";
    for (value, want) in [
        (json!({"Authorization": key}), json!({"Authorization": auth})),
        (
            json!({"authorization": format!("Bearer {key}")}),
            json!({"authorization": format!("Bearer {auth}")}),
        ),
        (json!({"name": "Authorization", "value": key}), json!({"name": "Authorization", "value": auth})),
        (json!(["Authorization", key]), json!(["Authorization", auth])),
        (
            json!({"cookies": [{"name": "session", "value": key, "path": "/"}]}),
            json!({"cookies": [{"name": "session", "value": cookie, "path": "/"}]}),
        ),
        (json!({"cookies": {"sid": "a1b2c3d4e5"}}), json!({"cookies": {"sid": cookie}})),
        (json!({"Cookie": "theme=dark; sid=a1b2c3d4e5"}), json!({"Cookie": cookie})),
        (json!({"password": {"plaintext": "letmein"}}), json!({"password": {"plaintext": password}})),
        (
            json!({"password": {"alice": {"first": "hunter2"}}}),
            json!({"password": {"alice": {"first": password}}}),
        ),
        (
            json!({"id": "password", "label": "password", "value": "letmein"}),
            json!({"id": "password", "label": "password", "value": password}),
        ),
        (
            json!({"label": "pw", "type": "CONCEALED", "value": "letmein"}),
            json!({"label": "pw", "type": "CONCEALED", "value": password}),
        ),
        (
            json!({"element": "Password field", "text": "hunter2"}),
            json!({"element": "Password field", "text": password}),
        ),
        (
            json!({"selector": "form input[name='password']", "value": "hunter2"}),
            json!({"selector": "form input[name='password']", "value": password}),
        ),
        (
            json!({"file_path": format!("/dav/x?v={key}")}),
            json!({"file_path": "/dav/x?v=[redacted:query-value]"}),
        ),
    ] {
        assert_eq!(redact(value.clone()), want, "value {value}");
    }
}

#[test]
fn descriptions_of_secrets_are_unchanged() {
    for value in [
        json!({"password": {"type": "string", "minLength": 8, "description": "At least eight"}}),
        json!({"Authorization": "required"}),
        json!({"Authorization": {"type": "string", "in": "header"}}),
        json!({"element": "Search field", "text": "hunter2"}),
        json!({"cookies": [{"name": "theme", "value": "dark"}]}),
        json!({"token": {"type": "word", "value": "let"}}),
        json!({"label": "Forgot password?", "text": "Click here to reset it"}),
        json!({"file_path": "/src/main.rs", "url": "/search?q=some+words"}),
    ] {
        assert_eq!(redact(value.clone()), value);
    }
}

#[test]
fn patch_lines_are_one_text() {
    let (key, _) = fill("{b64:64}");
    let patch = json!({"lines": [" a", "+<private>", "+my secret", "+</private>", " b"]});
    assert_eq!(redact(patch), json!({"lines": [" a", "+", " b"]}));
    let patch = json!({"lines": [
        "+-----BEGIN PRIVATE KEY-----", format!("+{key}"), format!("+{key}"), "+-----END PRIVATE KEY-----", " b",
    ]});
    assert_eq!(redact(patch), json!({"lines": ["+[redacted:private-key]", " b"]}));
}

#[test]
fn option_and_header_arrays_are_masked() {
    let (token, _) = fill("{alnum:24}");
    for (value, want) in [
        (
            json!(["tool", "--password", "letmein", "-v"]),
            json!(["tool", "--password", "[redacted:password]", "-v"]),
        ),
        (json!(["X-Api-Key", token]), json!(["X-Api-Key", "[redacted:secret]"])),
        (json!(["--password", "--token", "x"]), json!(["--password", "--token", "x"])),
        (json!(["password", "token", "key"]), json!(["password", "token", "key"])),
    ] {
        assert_eq!(redact(value.clone()), want, "value {value}");
    }
}

#[test]
fn clean_values_are_unchanged() {
    let value = json!({
        "command": "cargo test", "n": 1.5, "ok": true, "none": null, "list": ["a", "b\nc"],
        "nested": [{"file_path": "/src/main.rs"}], "deep": [[["x"]]],
    });
    assert_eq!(redact(value.clone()), value);
}

#[test]
fn total_size_is_bounded() {
    let keep = HeadTailLimit::from_total(1000);
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
fn long_text_does_not_displace_short_ones() {
    let mut value =
        json!({"content": "x ".repeat(90_000), "filePath": "/src/main.rs", "other": "y ".repeat(90_000)});
    redact_json(&mut value, HeadTailLimit::from_total(10_000));
    assert_eq!(value["filePath"], "/src/main.rs");
    for field in ["content", "other"] {
        let kept = value[field].as_str().unwrap().len();
        assert!((4000..5200).contains(&kept), "{field}: {kept}");
    }
}

#[test]
fn every_rule_masks_its_secrets_in_json() {
    for sample in rule_samples().iter().filter(|sample| sample.is_secret()) {
        let mut value = json!({"tool": {"out": ["first", sample.text]}, "text": sample.text});
        let masked = redact_json(&mut value, HeadTailLimit::from_total(64 << 10));
        assert!(masked >= 2, "rule {}", sample.rule);
        assert!(!value.to_string().contains(&sample.secret), "rule {}: {value}", sample.rule);
    }
}

#[test]
fn pairs_tables_and_arguments_are_masked() {
    let secret = "kX7mQ2pZ9wL";
    for value in [
        json!({"Name": "DB_PASSWORD", "Val": secret}),
        json!([{"k": "password", "v": secret}]),
        json!({"columns": ["id", "password"], "rows": [[1, secret], [2, secret]]}),
        json!({"fields": [{"name": "user"}, {"name": "password"}], "rows": [["a", secret]]}),
        json!([["user", "password"], ["bob", secret]]),
        json!({"question": "What is the database password?", "answer": secret}),
        json!({"command": "mongosh", "args": ["--host", "db", "-p", secret]}),
        json!({"command": ["mysql", "-uroot", format!("-p{secret}"), "app"]}),
        json!({"kind": "Secret", "data": {"conn": secret}, "metadata": {"name": "x"}}),
        json!({"Parameter": {"Name": "/prod/x", "Type": "SecureString", "Value": secret}}),
        json!({"outputs": {"db_admin": {"value": secret, "type": "string", "sensitive": true}}}),
        json!({"id": "https://v.vault.azure.net/secrets/db-password/1", "value": secret}),
        json!({"auth": ["bob", secret]}),
        json!([{"type": "label", "text": "Password"}, {"type": "value", "text": secret}]),
        json!({"keys": secret, "target": "input[type=password]"}),
    ] {
        let out = redact(value.clone()).to_string();
        assert!(!out.contains(secret), "{value} -> {out}");
    }
    for value in [
        json!({"columns": ["id", "name"], "rows": [[1, secret]]}),
        json!([["user", "city"], ["bob", "Rome2024x"]]),
        json!({"name": "theme", "value": "dark-mode-2024"}),
        json!({"command": "cargo", "args": ["test", "-p", "claude-mem-redact"]}),
        json!({"kind": "ConfigMap", "data": {"a": "b2c3d4e5"}}),
    ] {
        assert_eq!(redact(value.clone()), value);
    }
}
