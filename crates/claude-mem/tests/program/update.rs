//! Updates and downgrades: data of a newer version survives an older executable, and says why it is not
//! used; hooks follow the executable that a package manager installs.

use rig::Sandbox;
use serde_json::{Value, json};

use crate::common::hooks::{captured_events, data, payload};
use crate::common::{exe, sandbox};

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
    let todo = report["todo"][0].as_str().unwrap_or_default();
    assert!(todo.starts_with("claude-mem install: hooks: no claude-mem hooks in "), "{report:#}");
    proxy.set_nonblocking(true).expect("set");
    assert_eq!(proxy.accept().expect_err("nobody called").kind(), std::io::ErrorKind::WouldBlock);
}

/// A machine on which claude-mem is registered with Claude Code and Gemini CLI.
fn registered() -> Sandbox {
    let home = sandbox();
    let package = json!({ "name": "@anthropic-ai/claude-code", "version": "2.1.325" });
    home.write(home.home().join("npm/claude-code/package.json"), package.to_string());
    let script = home.write(home.home().join("npm/claude-code/cli.js"), "");
    home.put_on_path("claude", &script);
    home.put_on_path("claude-mem", &exe());
    home.write(home.home().join(".gemini/settings.json"), "{}\n");
    home.mem(&["install", "--yes", "--no-check"]).ok();
    home
}

/// Changes a JSON file of the home directory.
fn change(home: &Sandbox, path: &str, change: impl FnOnce(&mut Value)) {
    let path = home.home().join(path);
    let mut value: Value = serde_json::from_str(&home.read(&path)).expect("JSON");
    change(&mut value);
    home.write(&path, value.to_string());
}

fn remove(value: &mut Value, field: &str) {
    value.as_object_mut().expect("an object").remove(field).expect("it was there");
}

/// What `doctor` asks for that concerns the registration and the version.
fn doctor_asks(home: &Sandbox) -> Vec<Value> {
    let report = home.mem(&["doctor", "--json"]).json();
    let checks = ["version", "worker", "hooks", "tools", "earlier", "gemini-cli", "codex", "opencode"];
    let is_asked = |finding: &&Value| {
        checks.contains(&finding["check"].as_str().unwrap_or_default())
            && (finding["level"] == "problem" || finding["cure"].is_string())
    };
    report["findings"].as_array().expect("findings").iter().filter(is_asked).cloned().collect()
}

#[test]
fn update_check_and_doctor_agree() {
    type Damage = fn(&Sandbox);
    let states: [(&str, Option<&str>, Damage); 6] = [
        ("nothing is wrong", None, |_| {}),
        ("hooks removed", Some("hooks"), |home| {
            change(home, ".claude/settings.json", |value| remove(value, "hooks"));
        }),
        ("MCP entry removed", Some("tools"), |home| {
            change(home, ".claude.json", |value| remove(value, "mcpServers"));
        }),
        ("manifest of an older version", Some("version"), |home| {
            let path = data(home).installed();
            let mut value: Value = serde_json::from_str(&home.read(&path)).expect("JSON");
            value["version"] = json!("0.0.9");
            home.write(&path, value.to_string());
        }),
        ("settings of Gemini CLI removed", Some("gemini-cli"), |home| {
            std::fs::remove_file(home.home().join(".gemini/settings.json")).expect("removed");
        }),
        ("hooks disabled", Some("hooks"), |home| {
            change(home, ".claude/settings.json", |value| value["disableAllHooks"] = json!(true));
        }),
    ];
    for (state, check, damage) in states {
        let home = registered();
        damage(&home);
        let asked = doctor_asks(&home);
        let report = home.mem(&["update-check", "--json"]).ok().json();
        let todo: Vec<&str> =
            report["todo"].as_array().expect("todo").iter().filter_map(Value::as_str).collect();
        assert_eq!(report["up_to_date"], json!(asked.is_empty()), "{state}: {report:#} {asked:#?}");
        assert_eq!(check.is_none(), asked.is_empty(), "{state}: {asked:#?}");
        assert!(check.is_none_or(|check| asked.iter().any(|found| found["check"] == check)), "{asked:#?}");
        for finding in &asked {
            let (fix, what) = (finding["fix"].as_str().unwrap(), finding["what"].as_str().unwrap());
            let is_told = todo.iter().any(|line| line.starts_with(fix) && line.ends_with(what));
            assert!(is_told, "{state}: {fix}: {what}: {todo:#?}");
        }
        assert_eq!(todo.len(), asked.len(), "{state}: {todo:#?} {asked:#?}");
    }
}
