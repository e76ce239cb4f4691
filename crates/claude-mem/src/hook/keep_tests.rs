use serde_json::json;

use super::*;
use crate::limits::TOOL_OUTPUT_BYTES_MAX;

fn kept(text: &str) -> Kept {
    let raw: &RawValue = serde_json::from_str(text).unwrap();
    json(raw, TOOL_OUTPUT_BYTES_MAX)
}

#[test]
fn an_ordinary_value_is_kept_as_it_is() {
    let value = json!({"stdout": "12 hello.txt\n", "n": -1.5, "ok": true, "none": null,
        "lines": [" a", "+b"], "big": 18_446_744_073_709_551_615_u64});
    let kept = kept(&value.to_string());
    assert_eq!(kept, Kept { value, cut: false });
}

#[test]
fn the_file_before_the_edit_is_left_to_the_patch() {
    let kept = kept(r#"{"originalFile": "all of it", "newString": "x"}"#);
    assert_eq!(kept.value, json!({"newString": "x"}));
}

#[test]
fn a_long_text_keeps_its_beginning_and_its_end() {
    let long = format!("BEGIN {} END", "word and word ".repeat(1 << 16));
    let kept = kept(&json!({ "stdout": long }).to_string());
    let text = kept.value["stdout"].as_str().unwrap();
    assert!(
        text.starts_with("BEGIN") && text.ends_with("END"),
        "{}",
        text.len()
    );
    assert!(text.len() < TOOL_STRING_BYTES_MAX + 100);
    assert!(kept.cut);
}

#[test]
fn a_private_block_that_a_long_text_leaves_open_hides_what_follows() {
    let filler = "word and word ".repeat(2000);
    let open = format!("{filler}<private> canary-one");
    let lines = json!([
        "before",
        open,
        "canary-two",
        "canary-three </private>",
        "after"
    ]);
    let stored = kept(&lines.to_string()).value.to_string();
    assert!(stored.contains("before"));
    assert!(!stored.contains("canary"), "{stored}");

    let closed = format!("{filler}<private> canary </private>{filler}");
    let stored = kept(&json!([closed, "after"]).to_string())
        .value
        .to_string();
    assert!(stored.contains("after") && !stored.contains("canary"));
}

#[test]
fn an_image_is_a_size_not_a_text() {
    let kept = kept(&json!({"file": {"base64": "iVBORw0KGgo".repeat(10_000)}}).to_string());
    assert_eq!(
        kept.value,
        json!({"file": {"base64": "[… 110000 bytes of encoded data …]"}})
    );
}

#[test]
fn many_small_parts_are_counted_not_kept() {
    let many = format!("[{}1]", "1,".repeat(1_000_000));
    let kept = kept(&many);
    assert!(kept.value.as_array().unwrap().len() <= TOOL_VALUES_MAX + 1);
    assert!(kept.cut);
}

#[test]
fn what_is_kept_of_a_deep_value_can_be_read_again() {
    for depth in [TOOL_DEPTH_MAX, 100, 100_000] {
        let deep = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        let kept = kept(&deep);
        assert_eq!(kept.cut, depth > TOOL_DEPTH_MAX, "{depth}");
        let stored = json!({"body": {"output": kept.value}}).to_string();
        serde_json::from_str::<Value>(&stored).unwrap();
    }
}

#[test]
fn a_private_block_may_begin_in_one_field_and_end_in_another() {
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
        (
            r#"{"<private>":1,"canary":2,"</private>":3,"b":4}"#,
            json!({"b": 4}),
        ),
        (r#""<private>canary""#, json!(null)),
    ] {
        assert_eq!(kept(sent).value, want, "{sent}");
    }
}

#[test]
fn a_private_key_in_rows_is_not_kept() {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let rows = [
        "-----BEGIN PRIVATE KEY-----",
        line,
        line,
        "-----END PRIVATE KEY-----",
        "after",
    ];
    let rows: Vec<_> = (1..)
        .zip(rows)
        .map(|(n, text)| json!({"n": n, "text": text}))
        .collect();
    let stored = kept(&json!({ "rows": rows }).to_string()).value.to_string();
    assert!(!stored.contains("MIIE"), "{stored}");
    assert!(stored.contains("after") && stored.contains("[redacted:private-key]"));
}

#[test]
fn names_of_fields_are_cut_too() {
    let many: Map<String, Value> = (0..600)
        .map(|n| (format!("{n}{}", "k".repeat(9000)), json!(1)))
        .collect();
    let kept = kept(&Value::Object(many).to_string());
    assert!(kept.cut);
    let longest = kept
        .value
        .as_object()
        .unwrap()
        .keys()
        .map(String::len)
        .max();
    assert!(
        longest <= Some(Cut::of(TOOL_NAME_BYTES_MAX).bytes_max()),
        "{longest:?}"
    );
}
