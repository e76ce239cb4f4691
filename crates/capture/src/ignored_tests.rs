use serde_json::{Value, json};

use super::*;

fn is_ignored(part: &Value, patterns: &[&str], cwd: &str) -> bool {
    let patterns: Vec<_> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
    let raw = RawValue::from_string(part.to_string()).unwrap();
    names_ignored_path(&patterns, &[None, Some(&raw)], Some(cwd), "/home/me")
}

#[test]
fn file_is_ignored_under_any_spelling() {
    let patterns = ["/tmp/secret/**", "~/secret/**", "*.pem"];
    for part in [
        json!({"file_path": "/tmp/secret/a.txt"}),
        json!({"file_path": "/tmp/x/../secret/a.txt"}),
        json!({"file_path": "/tmp/./secret/sub/my notes.txt"}),
        json!({"file_path": "../../../tmp/secret/a"}),
        json!({"command": "cat ~/secret/a.txt"}),
        json!({"command": "cat $HOME/secret/a.txt"}),
        json!({"command": "cat \"${HOME}/secret/a b.txt\""}),
        json!({"command": "cd /tmp/secret && cat a"}),
        json!({"command": "cd /tmp; cd secret; ls"}),
        json!({"command": "git -C /tmp/secret status"}),
        json!({"command": "bash -c 'cd /tmp/secret && cat a'"}),
        json!({"command": "cp x.txt --target=/tmp/secret/x"}),
        json!({"command": "openssl rsa -in key.pem"}),
        json!({"paths": ["/src/a", "/tmp/secret/a"]}),
        json!({"uri": "file:///tmp/secret/a%20b.txt"}),
        json!({"uri": "file:///tmp/%73ecret/a.txt"}),
        json!({"source": "/tmp/secret/a", "destination": "/tmp/b"}),
        json!({"edits": [{"options": {"where": "/tmp/secret/a"}}]}),
        json!({"stdout": "found in /tmp/secret/a.txt:12: word"}),
        json!({"stdout": format!("{}/tmp/secret/a.txt{}", "x y ".repeat(50_000), " z".repeat(50_000))}),
        json!("error: cannot open '/tmp/secret/a.txt'."),
        json!({"/tmp/secret/a.txt": {"lines": 3}}),
        json!(["see ~/secret/a"]),
    ] {
        assert!(is_ignored(&part, &patterns, "/home/me/app"), "{part:.120}");
    }
}

#[test]
fn other_files_and_words_are_not_ignored() {
    let patterns = ["/tmp/secret/**", "~/secret/**", "*.pem", "secrets"];
    for part in [
        json!({"file_path": "/tmp/secretary/a.txt"}),
        json!({"command": "cat /home/you/secret/a.txt"}),
        json!({"command": "cd /tmp/secret/.. && cat a"}),
        json!({"query": "secrets", "type": "secrets"}),
        json!({"stdout": "keep your secrets, and pem files too."}),
        json!({"url": "https://example.org/tmp/secret/a"}),
        json!({"n": 1, "ok": true, "none": null, "x": 1.5}),
    ] {
        assert!(!is_ignored(&part, &patterns, "/home/me/app"), "{part}");
    }
    assert!(!is_ignored(&json!("/tmp/secret/a"), &[], "/"));
}

#[test]
fn bare_name_is_relative_to_cwd() {
    let patterns = ["/tmp/secret/**", "/srv/*"];
    assert!(is_ignored(&json!({"file_path": "a.txt"}), &patterns, "/tmp/secret"));
    assert!(is_ignored(&json!({"command": "ls"}), &patterns, "/tmp/secret"));
    assert!(is_ignored(&json!({"stdout": "x.log: done"}), &patterns, "/srv"));
    assert!(!is_ignored(&json!({"file_path": "a.txt"}), &patterns, "/tmp"));
}

#[test]
fn shell_words_are_unquoted() {
    assert_eq!(shell_words(r#"cat 'a b' "c\"d" e\ f;x=y>z"#), ["cat", "a b", "c\"d", "e f", "x", "y", "z"]);
}
