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
