//! Reasons why an event is not recorded: disabled, paused, ignored, skipped.

use serde_json::{Value, json};

use crate::common::hooks::{self as common, NEUTRAL, captured_events, data, event_lines, payload};
use crate::common::sandbox;

fn tool(name: &str, input: &Value) -> String {
    let id = format!("{name}-{input}");
    let more = json!({"tool_name": name, "tool_use_id": id, "tool_input": input,
        "tool_response": "canary"});
    payload("PostToolUse", &more)
}

fn prompt(text: &str) -> String {
    payload("UserPromptSubmit", &json!({"prompt": text, "prompt_id": text}))
}

#[test]
fn disabled_session_stays_disabled() {
    let mut home = sandbox();
    home.set_env("CLAUDE_MEM_DISABLED", "1");
    for _ in 0..2 {
        let output = home.hook("UserPromptSubmit", prompt("canary")).ok();
        assert_eq!(output.stdout, NEUTRAL);
    }
    home.hook("PostToolUse", tool("Bash", &json!({"command": "canary"}))).ok();
    home.unset_env("CLAUDE_MEM_DISABLED");
    home.hook("UserPromptSubmit", prompt("canary again")).ok();
    assert_eq!(captured_events(&home), []);
    assert_eq!(common::files_containing(&home, "canary"), [] as [&str; 0]);
    let store = claude_mem_store::Store::open(&data(&home).db()).expect("a database");
    let session = claude_mem_core::ids::ClientSessionId("s".into());
    let session = store.read().session_of_client("claude-code", &session);
    let status = session.expect("a look-up").expect("the session").status;
    assert_eq!(status, claude_mem_store::SessionStatus::Ignored);
}

#[test]
fn compressor_client_is_ignored() {
    let home = sandbox().with_env("CLAUDE_MEM_COMPRESSOR", "1");
    let output = home.hook("UserPromptSubmit", prompt("canary")).ok();
    assert_eq!(output.stdout, NEUTRAL);
    assert!(!home.data_dir().exists());
}

#[test]
fn pause_still_tracks_private_turns() {
    let home = sandbox();
    home.mem(&["pause"]).ok();
    home.hook("UserPromptSubmit", prompt("<private>canary</private>")).ok();
    home.hook("PostToolUse", tool("Bash", &json!({"command": "one"}))).ok();
    home.mem(&["resume"]).ok();
    // The pause is over, but the private turn is not.
    home.hook("PostToolUse", tool("Bash", &json!({"command": "two"}))).ok();
    assert_eq!(captured_events(&home), []);
    home.hook("UserPromptSubmit", prompt("hello")).ok();
    home.hook("PostToolUse", tool("Bash", &json!({"command": "three"}))).ok();
    assert_eq!(event_lines(&captured_events(&home)), "prompt: hello\ntool_use: Bash");
}

#[test]
fn skipped_tools_are_configurable() {
    let home = sandbox();
    for name in ["Glob", "TodoRead", "mcp__claude-mem__search", "mcp__plugin_claude-mem_x__y"] {
        home.hook("PostToolUse", tool(name, &json!({}))).ok();
    }
    assert_eq!(captured_events(&home), []);
    home.write(home.data_dir().join("settings.json"), r#"{"skip_tools": ["Bash"]}"#);
    for name in ["Glob", "Bash", "mcp__claude-mem__search"] {
        home.hook("PostToolUse", tool(name, &json!({}))).ok();
    }
    assert_eq!(event_lines(&captured_events(&home)), "tool_use: Glob");
}

#[test]
fn ignored_project_is_not_recorded() {
    let mut home = sandbox();
    home.git_remote("git@github.com:me/hidden.git");
    let project = home.project().to_owned();
    home.set_env("CLAUDE_PROJECT_DIR", project);
    for patterns in
        [r#"["hidden"]"#.to_owned(), r#"["github.com/me/*"]"#.to_owned(), json!([home.project()]).to_string()]
    {
        let settings = format!("{{\"ignore_projects\": {patterns}}}");
        home.write(home.data_dir().join("settings.json"), settings);
        home.hook("UserPromptSubmit", prompt("canary")).ok();
        assert_eq!(captured_events(&home), [], "{patterns}");
    }
    home.write(home.data_dir().join("settings.json"), r#"{"ignore_projects": ["other"]}"#);
    home.hook("UserPromptSubmit", prompt("hello")).ok();
    assert_eq!(event_lines(&captured_events(&home)), "prompt: hello");
}

#[test]
fn ignored_file_is_not_recorded() {
    let home = sandbox();
    home.write(home.data_dir().join("settings.json"), r#"{"ignore_paths": ["*.pem", "/vault", "secrets"]}"#);
    for input in [
        json!({"file_path": "/x/key.pem"}),
        json!({"file_path": "/vault/a"}),
        json!({"command": "cat secrets/a"}),
        json!({"command": "cat <vault/x"}),
        json!({"command": "cd /vault && cat a"}),
        json!({"paths": ["/x/a.rs", "/x/../vault/a"]}),
    ] {
        home.hook("PostToolUse", tool("Any", &input)).ok();
    }
    assert_eq!(captured_events(&home), []);
    home.hook("PostToolUse", tool("Any", &json!({"file_path": "/x/a.rs"}))).ok();
    assert_eq!(event_lines(&captured_events(&home)), "tool_use: Any");
}

#[test]
fn unreadable_ignore_settings_record_nothing() {
    let home = sandbox();
    home.write(home.data_dir().join("settings.json"), r#"{"ignore_projects": ["x""#);
    home.hook("UserPromptSubmit", prompt("canary")).ok();
    assert_eq!(captured_events(&home), []);
    assert!(common::log(&home).contains("ignore rules are unreadable"));
}

#[test]
fn unknown_events_and_clients_are_ignored() {
    let home = sandbox();
    for args in [
        &["hook", "claude-code", "TeammateIdle"][..],
        &["hook", "claude-code"],
        &["hook", "nobody", "Stop"],
        &["hook"],
    ] {
        let event = args.get(2).unwrap_or(&"TeammateIdle");
        let output = home.mem_with(args, payload(event, &json!({"prompt": "canary"}))).ok();
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), (NEUTRAL, ""), "{args:?}");
    }
    assert_eq!(captured_events(&home), []);
}

#[test]
fn unreadable_repository_counts_as_ignored() {
    let mut home = sandbox();
    let dot_git = home.project().join(".git");
    let _ = std::fs::remove_dir_all(&dot_git);
    std::os::unix::fs::symlink(&dot_git, &dot_git).expect("a link");
    let project = home.project().display().to_string();
    home.set_env("CLAUDE_PROJECT_DIR", &project);
    home.write(data(&home).settings(), r#"{"ignore_projects": ["github.com/me/secret"]}"#);
    home.hook("UserPromptSubmit", prompt("canary")).ok();
    assert_eq!(captured_events(&home), []);
    assert!(common::log(&home).contains("cannot determine whether the project is ignored"));
}

#[test]
fn unreadable_ignore_rule_records_nothing() {
    let home = sandbox();
    home.write(data(&home).settings(), r#"{"ignore_projects": ["secret", {"path": "~/private"}]}"#);
    home.hook("UserPromptSubmit", prompt("canary")).ok();
    assert_eq!(captured_events(&home), []);
    assert!(common::log(&home).contains("nothing is captured"));
}

#[test]
fn missing_home_is_not_created() {
    let mut home = sandbox();
    let missing = home.home().join("nobody/at/home");
    home.unset_env("CLAUDE_MEM_DATA_DIR");
    home.set_env("HOME", &missing);
    let output = home.hook("UserPromptSubmit", prompt("canary")).ok();
    assert_eq!(output.stdout, NEUTRAL);
    assert!(!home.home().join("nobody").exists());
}
