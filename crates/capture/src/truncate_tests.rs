use serde_json::json;

use super::*;
use claude_mem_core::limits::TOOL_OUTPUT_BYTES_MAX;

fn kept(text: &str) -> TruncatedValue {
    let raw: &RawValue = serde_json::from_str(text).unwrap();
    ToolCallTruncator::default().input(raw, TOOL_OUTPUT_BYTES_MAX)
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

/// Input and output of one call, as they are kept.
fn kept_call(input: &serde_json::Value, output: &serde_json::Value) -> (Value, Value) {
    let raw = |value: &Value| RawValue::from_string(value.to_string()).unwrap();
    let mut truncator = ToolCallTruncator::default();
    let input = truncator.input(&raw(input), TOOL_OUTPUT_BYTES_MAX).value;
    (input, truncator.output(&raw(output), TOOL_OUTPUT_BYTES_MAX).value)
}

#[test]
fn private_block_spans_input_and_output() {
    let output = json!({"stdout": "canary</private> after", "z": "more"});
    let (_, output) = kept_call(&json!({"command": "cat <private>"}), &output);
    // The name of the first field is inside the block, too.
    assert_eq!(output, json!({"z": "more"}));
    let (_, output) =
        kept_call(&json!({"command": "tail x"}), &json!({"stdout": "canary\n</private>\nafter"}));
    assert_eq!(output, json!({"stdout": "\nafter"}));
}

#[test]
fn tags_in_what_is_left_out_count() {
    let kept = kept(
        r#"{"originalFile": "x <private> y", "newString": "canary", "y": "canary</private>", "z": "b"}"#,
    );
    assert_eq!(kept.value, json!({"z": "b"}));
    let deep = format!("{{\"a\":{}\"<private>\"{},\"b\":\"canary\"}}", "[".repeat(80), "]".repeat(80));
    let raw: &RawValue = serde_json::from_str(&deep).unwrap();
    assert!(
        !ToolCallTruncator::default().input(raw, TOOL_OUTPUT_BYTES_MAX).value.to_string().contains("canary")
    );
}

#[test]
fn output_of_secret_sources_is_masked() {
    let secret = "Kx7!mQ2pZ9wL";
    for command in [
        "pass show work/mail",
        "op read op://Prod/db/password",
        "cat /run/secrets/db_password",
        "sudo cat ~/.vault-token",
        "kubectl get secret db -o jsonpath='{.data.password}' | base64 -d",
        "gcloud secrets versions access latest --secret=db",
        "docker exec db printenv POSTGRES_PASSWORD",
        "echo $DB_PASSWORD",
        "terraform output -raw db_password",
        "cd app && cat config/master.key",
    ] {
        let output = json!({"stdout": format!("{secret}\n"), "stderr": ""});
        let (_, output) = kept_call(&json!({ "command": command }), &output);
        assert!(!output.to_string().contains(secret), "{command}: {output}");
    }
    for path in [
        "/srv/app/config/master.key",
        "/home/u/.pgpass",
        "/etc/rsyncd.secrets",
        ".htpasswd",
        "/run/secrets/smtp",
    ] {
        let output =
            json!({"type": "text", "file": {"filePath": path, "content": format!("bob {secret}\n")}});
        let (_, output) = kept_call(&json!({ "file_path": path }), &output);
        assert!(!output.to_string().contains(secret), "{path}: {output}");
        assert_eq!(output["file"]["filePath"], path);
    }
    let env = "PORT=8080\nMAILER=Kx7mQ2pZ9wLr4Tn8\nHOST=db.example.com\nDEBUG=false\n";
    let (_, output) = kept_call(&json!({"file_path": "/srv/.env"}), &json!({"file": {"content": env}}));
    let want = env.replace("Kx7mQ2pZ9wLr4Tn8", "[redacted:secret-source]");
    assert_eq!(output["file"]["content"], want);
}

#[test]
fn output_of_ordinary_sources_is_unchanged() {
    for command in [
        "cat notes.txt",
        "pass ls",
        "ls /run/secrets",
        "cat .env.example",
        "kubectl get pods",
        "wc -c < id_rsa",
        "cat credentials.rs",
    ] {
        let output = json!({"stdout": "Kx7mQ2pZ9wLr4Tn8\n", "stderr": ""});
        let (_, kept) = kept_call(&json!({ "command": command }), &output);
        assert_eq!(kept, output, "{command}");
    }
    let failed = json!({"stdout": "cat: /run/secrets/x: No such file or directory", "stderr": ""});
    let (_, kept) = kept_call(&json!({"command": "cat /run/secrets/x"}), &failed);
    assert_eq!(kept, failed);
}
