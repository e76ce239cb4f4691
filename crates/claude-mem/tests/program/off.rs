//! What keeps an event from being kept.

use serde_json::{Value, json};

use crate::common::hooks::{self as common, NEUTRAL, data, kept, lines, payload};
use crate::common::sandbox;

fn tool(name: &str, input: &Value) -> String {
    let id = format!("{name}-{input}");
    let more = json!({"tool_name": name, "tool_use_id": id, "tool_input": input,
        "tool_response": "canary"});
    payload("PostToolUse", &more)
}

fn prompt(text: &str) -> String {
    payload(
        "UserPromptSubmit",
        &json!({"prompt": text, "prompt_id": text}),
    )
}

#[test]
fn a_disabled_session_leaves_its_id_and_stays_disabled() {
    let mut home = sandbox();
    home.set_env("CLAUDE_MEM_DISABLED", "1");
    for _ in 0..2 {
        let output = home.hook("UserPromptSubmit", prompt("canary")).ok();
        assert_eq!(output.stdout, NEUTRAL);
    }
    home.hook("PostToolUse", tool("Bash", &json!({"command": "canary"})))
        .ok();
    home.unset_env("CLAUDE_MEM_DISABLED");
    home.hook("UserPromptSubmit", prompt("canary again")).ok();
    assert_eq!(kept(&home), []);
    assert_eq!(common::places_of(&home, "canary"), [] as [&str; 0]);
    let store = claude_mem::store::Store::open(&data(&home).db()).expect("a database");
    let session = claude_mem::ids::ClientSessionId("s".into());
    let session = store.read().session_of_client("claude-code", &session);
    let status = session.expect("a look-up").expect("the session").status;
    assert_eq!(status, claude_mem::store::SessionStatus::Ignored);
}

#[test]
fn the_compressor_s_own_client_leaves_nothing_at_all() {
    let home = sandbox().with_env("CLAUDE_MEM_COMPRESSOR", "1");
    let output = home.hook("UserPromptSubmit", prompt("canary")).ok();
    assert_eq!(output.stdout, NEUTRAL);
    assert!(!home.data_dir().exists());
}

#[test]
fn a_pause_keeps_nothing_and_still_hears_what_is_private() {
    let home = sandbox();
    home.mem(&["pause"]).ok();
    home.hook("UserPromptSubmit", prompt("<private>canary</private>"))
        .ok();
    home.hook("PostToolUse", tool("Bash", &json!({"command": "one"})))
        .ok();
    home.mem(&["resume"]).ok();
    // The pause is over, the private turn is not.
    home.hook("PostToolUse", tool("Bash", &json!({"command": "two"})))
        .ok();
    assert_eq!(kept(&home), []);
    home.hook("UserPromptSubmit", prompt("hello")).ok();
    home.hook("PostToolUse", tool("Bash", &json!({"command": "three"})))
        .ok();
    assert_eq!(lines(&kept(&home)), "prompt: hello\ntool_use: Bash");
}

#[test]
fn routine_tools_and_our_own_are_skipped_unless_the_settings_say_otherwise() {
    let home = sandbox();
    for name in [
        "Glob",
        "TodoWrite",
        "mcp__claude-mem__search",
        "mcp__plugin_claude-mem_x__y",
    ] {
        home.hook("PostToolUse", tool(name, &json!({}))).ok();
    }
    assert_eq!(kept(&home), []);
    home.write(
        home.data_dir().join("settings.json"),
        r#"{"skip_tools": ["Bash"]}"#,
    );
    for name in ["Glob", "Bash", "mcp__claude-mem__search"] {
        home.hook("PostToolUse", tool(name, &json!({}))).ok();
    }
    assert_eq!(lines(&kept(&home)), "tool_use: Glob");
}

#[test]
fn an_ignored_project_is_not_there() {
    let mut home = sandbox();
    home.git_remote("git@github.com:me/hidden.git");
    let project = home.project().to_owned();
    home.set_env("CLAUDE_PROJECT_DIR", project);
    for patterns in [
        r#"["hidden"]"#.to_owned(),
        r#"["github.com/me/*"]"#.to_owned(),
        json!([home.project()]).to_string(),
    ] {
        let settings = format!("{{\"ignore_projects\": {patterns}}}");
        home.write(home.data_dir().join("settings.json"), settings);
        home.hook("UserPromptSubmit", prompt("canary")).ok();
        assert_eq!(kept(&home), [], "{patterns}");
    }
    home.write(
        home.data_dir().join("settings.json"),
        r#"{"ignore_projects": ["other"]}"#,
    );
    home.hook("UserPromptSubmit", prompt("hello")).ok();
    assert_eq!(lines(&kept(&home)), "prompt: hello");
}

#[test]
fn an_ignored_file_is_not_seen() {
    let home = sandbox();
    home.write(
        home.data_dir().join("settings.json"),
        r#"{"ignore_paths": ["*.pem", "/vault", "secrets"]}"#,
    );
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
    assert_eq!(kept(&home), []);
    home.hook("PostToolUse", tool("Any", &json!({"file_path": "/x/a.rs"})))
        .ok();
    assert_eq!(lines(&kept(&home)), "tool_use: Any");
}

#[test]
fn settings_that_cannot_be_read_do_not_open_what_they_were_to_close() {
    let home = sandbox();
    home.write(
        home.data_dir().join("settings.json"),
        r#"{"ignore_projects": ["x""#,
    );
    home.hook("UserPromptSubmit", prompt("canary")).ok();
    assert_eq!(kept(&home), []);
    assert!(common::log(&home).contains("settings.json cannot be read"));
}

#[test]
fn unknown_events_and_clients_are_accepted_and_ignored() {
    let home = sandbox();
    for args in [
        &["hook", "claude-code", "TeammateIdle"][..],
        &["hook", "claude-code"],
        &["hook", "nobody", "Stop"],
        &["hook"],
    ] {
        let event = args.get(2).unwrap_or(&"TeammateIdle");
        let output = home
            .mem_with(args, payload(event, &json!({"prompt": "canary"})))
            .ok();
        assert_eq!(
            (output.stdout.as_str(), output.stderr.as_str()),
            (NEUTRAL, ""),
            "{args:?}"
        );
    }
    assert_eq!(kept(&home), []);
}

#[test]
fn a_repository_that_cannot_be_looked_into_may_be_one_that_is_ignored() {
    let mut home = sandbox();
    let dot_git = home.project().join(".git");
    let _ = std::fs::remove_dir_all(&dot_git);
    std::os::unix::fs::symlink(&dot_git, &dot_git).expect("a link");
    let project = home.project().display().to_string();
    home.set_env("CLAUDE_PROJECT_DIR", &project);
    home.write(
        data(&home).settings(),
        r#"{"ignore_projects": ["github.com/me/secret"]}"#,
    );
    home.hook("UserPromptSubmit", prompt("canary")).ok();
    assert_eq!(kept(&home), []);
    assert!(common::log(&home).contains("whether the project is ignored cannot be told"));
}

#[test]
fn a_rule_that_cannot_be_read_keeps_nothing() {
    let home = sandbox();
    home.write(
        data(&home).settings(),
        r#"{"ignore_projects": ["secret", {"path": "~/private"}]}"#,
    );
    home.hook("UserPromptSubmit", prompt("canary")).ok();
    assert_eq!(kept(&home), []);
    assert!(common::log(&home).contains("nothing is kept"));
}

#[test]
fn a_home_that_is_not_there_is_not_made() {
    let mut home = sandbox();
    let missing = home.home().join("nobody/at/home");
    home.unset_env("CLAUDE_MEM_DATA_DIR");
    home.set_env("HOME", &missing);
    let output = home.hook("UserPromptSubmit", prompt("canary")).ok();
    assert_eq!(output.stdout, NEUTRAL);
    assert!(!home.home().join("nobody").exists());
}
