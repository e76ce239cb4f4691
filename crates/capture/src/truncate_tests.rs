use serde_json::json;

use super::*;
use claude_mem_core::limits::TOOL_OUTPUT_BYTES_MAX;

fn kept(text: &str) -> TruncatedValue {
    let raw: &RawValue = serde_json::from_str(text).unwrap();
    truncate_json(raw, TOOL_OUTPUT_BYTES_MAX)
}

#[test]
fn ordinary_value_is_unchanged() {
    let value = json!({"stdout": "12 hello.txt\n", "n": -1.5, "ok": true, "none": null,
        "lines": [" a", "+b"], "big": 18_446_744_073_709_551_615_u64});
    let kept = kept(&value.to_string());
    assert_eq!(kept, TruncatedValue { value, cut: false });
}

#[test]
fn original_file_is_dropped() {
    let kept = kept(r#"{"originalFile": "all of it", "newString": "x"}"#);
    assert_eq!(kept.value, json!({"newString": "x"}));
}

#[test]
fn long_text_keeps_start_and_end() {
    let long = format!("BEGIN {} END", "word and word ".repeat(1 << 16));
    let kept = kept(&json!({ "stdout": long }).to_string());
    let text = kept.value["stdout"].as_str().unwrap();
    assert!(text.starts_with("BEGIN") && text.ends_with("END"), "{}", text.len());
    assert!(text.len() < TOOL_STRING_BYTES_MAX + 100);
    assert!(kept.cut);
}

#[test]
fn open_private_block_hides_following_fields() {
    let filler = "word and word ".repeat(2000);
    let open = format!("{filler}<private> canary-one");
    let lines = json!(["before", open, "canary-two", "canary-three </private>", "after"]);
    let stored = kept(&lines.to_string()).value.to_string();
    assert!(stored.contains("before"));
    assert!(!stored.contains("canary"), "{stored}");

    let closed = format!("{filler}<private> canary </private>{filler}");
    let stored = kept(&json!([closed, "after"]).to_string()).value.to_string();
    assert!(stored.contains("after") && !stored.contains("canary"));
}

#[test]
fn encoded_data_becomes_its_size() {
    let kept = kept(&json!({"file": {"base64": "iVBORw0KGgo".repeat(10_000)}}).to_string());
    assert_eq!(kept.value, json!({"file": {"base64": "[… 110000 bytes of encoded data …]"}}));
}

#[test]
fn excess_values_are_counted() {
    let many = format!("[{}1]", "1,".repeat(1_000_000));
    let kept = kept(&many);
    assert!(kept.value.as_array().unwrap().len() <= TOOL_VALUES_MAX + 1);
    assert!(kept.cut);
}

#[test]
fn deep_value_stays_parseable() {
    for depth in [TOOL_DEPTH_MAX, 100, 100_000] {
        let deep = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        let kept = kept(&deep);
        assert_eq!(kept.cut, depth > TOOL_DEPTH_MAX, "{depth}");
        let stored = json!({"body": {"output": kept.value}}).to_string();
        serde_json::from_str::<Value>(&stored).unwrap();
    }
}

#[test]
fn private_block_may_span_fields() {
    for (sent, want) in [
        (
            r#"[{"text":"intro <private>"},{"text":"canary"},{"text":"canary</private>"},{"text":"after"}]"#,
            json!([{"text": "intro "}, {}, {}, {"text": "after"}]),
        ),
        (
            r#"{"structuredPatch":[{"oldStart":1,"lines":[" a","+<private>"]},{"oldStart":9,"lines":["+canary","+</private>"," b"]}]}"#,
            json!({"structuredPatch": [{"oldStart": 1, "lines": [" a", "+"]}, {}]}),
        ),
        (r#"{"b":"<private>","a":"canary"}"#, json!({})),
        (
            r#"{"old_string":"x <private>","new_string":"canary","replace_all":true}"#,
            json!({"old_string": "x "}),
        ),
        (r#"["<private>",1,"canary"]"#, json!([])),
        (r#"{"<private>":1,"canary":2,"</private>":3,"b":4}"#, json!({"b": 4})),
        (r#""<private>canary""#, json!(null)),
    ] {
        assert_eq!(kept(sent).value, want, "{sent}");
    }
}

#[test]
fn private_key_split_over_items_is_removed() {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let rows = ["-----BEGIN PRIVATE KEY-----", line, line, "-----END PRIVATE KEY-----", "after"];
    let rows: Vec<_> = (1..).zip(rows).map(|(n, text)| json!({"n": n, "text": text})).collect();
    let stored = kept(&json!({ "rows": rows }).to_string()).value.to_string();
    assert!(!stored.contains("MIIE"), "{stored}");
    assert!(stored.contains("after") && stored.contains("[redacted:private-key]"));
}

#[test]
fn field_names_are_truncated() {
    let many: Map<String, Value> = (0..600).map(|n| (format!("{n}{}", "k".repeat(9000)), json!(1))).collect();
    let kept = kept(&Value::Object(many).to_string());
    assert!(kept.cut);
    let longest = kept.value.as_object().unwrap().keys().map(String::len).max();
    assert!(longest <= Some(HeadTailLimit::from_total(TOOL_NAME_BYTES_MAX).bytes_max()), "{longest:?}");
}
