//! Updates and downgrades: data of a newer version survives an older executable, and says why it is not
//! used; hooks follow the executable that a package manager installs.

use serde_json::json;

use crate::common::hooks::{captured_events, data, payload};
use crate::common::sandbox;

/// Offset of the lowest byte of SQLite's user version, our schema version.
const SCHEMA_BYTE: usize = 63;

#[test]
fn newer_database_is_left_alone_and_named() {
    let home = sandbox();
    home.mem(&["save", "Money is counted in cents."]).ok();
    let path = data(&home).db();
    let known = std::fs::read(&path).expect("read");
    let mut newer = known.clone();
    newer[SCHEMA_BYTE] = 99;
    std::fs::write(&path, &newer).expect("written");
    for command in [["search", "cents"], ["save", "Another."], ["index", "build"]] {
        let output = home.mem(&command);
        assert_eq!(output.code, Some(1), "{command:?}");
        assert!(output.stderr.contains("newer than this program's"), "{command:?}: {}", output.stderr);
        assert!(output.stderr.contains("update claude-mem"), "{command:?}: {}", output.stderr);
    }
    let event = payload("UserPromptSubmit", &json!({ "prompt": "why do we count in cents?" }));
    home.hook("UserPromptSubmit", event).ok();
    assert!(std::fs::read(&path).expect("read") == newer, "the database has changed");
    // The version that knows the schema is back.
    std::fs::write(&path, &known).expect("written");
    assert_eq!(captured_events(&home).len(), 1, "the event has waited for it");
}

#[test]
fn settings_of_a_newer_version_are_kept() {
    let home = sandbox();
    let path = data(&home).settings();
    home.write(&path, "{\n  // from a later version\n  \"colour_of_hooks\": \"green\"\n}\n");
    let output = home.mem(&["config", "set", "context_tokens", "900"]).ok();
    let text = std::fs::read_to_string(&path).expect("read");
    assert!(text.contains("\"colour_of_hooks\": \"green\""), "{text}");
    assert!(text.contains("// from a later version"), "{text}");
    assert!(text.contains("900"), "{text}\n{}", output.stdout);
    let status = home.mem(&["status"]).ok().stdout;
    assert!(status.contains("colour_of_hooks"), "{status}");
}

#[test]
fn update_check_connects_to_nothing() {
    let proxy = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", proxy.local_addr().expect("an address"));
    let mut home = sandbox();
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
        home = home.with_env(name, &url);
    }
    let output = home.mem(&["update-check", "--json"]).ok();
    let report: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["todo"][0], "claude-mem install: no hooks are registered");
    proxy.set_nonblocking(true).expect("set");
    assert_eq!(proxy.accept().expect_err("nobody called").kind(), std::io::ErrorKind::WouldBlock);
}
