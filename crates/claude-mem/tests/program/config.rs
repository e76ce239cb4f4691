use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;

use crate::common::{sandbox, shown};

fn settings(home: &rig::Sandbox) -> String {
    home.read(home.data_dir().join("settings.json"))
}

#[test]
fn setting_is_set_shown_and_unset() {
    let home = sandbox();
    assert_snapshot!(shown(&home, &home.mem(&["config", "set", "context_tokens", "800"])), @"
    context_tokens = 800
    [exit 0]
    ");
    assert_snapshot!(settings(&home), @r#"
    {
      "context_tokens": 800
    }
    "#);
    assert_snapshot!(shown(&home, &home.mem(&["config", "get", "context_tokens"])), @"
    800
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["config", "unset", "context_tokens"])), @"
    context_tokens = 1500
    [exit 0]
    ");
    assert_snapshot!(settings(&home), @"{}");
}

#[test]
fn edit_keeps_the_rest_of_the_file() {
    let home = sandbox();
    let path = home.write(
        home.data_dir().join("settings.json"),
        "{\n  // mine\n  \"CLAUDE_MEM_MODE\": \"code\",\n  \"colour\": [1, {\"a\": 2}]\n}\n",
    );
    home.mem(&["config", "set", "ignore_projects", "secret-*, ~/private/**"]).ok();
    assert_snapshot!(settings(&home), @r#"
    {
      // mine
      "CLAUDE_MEM_MODE": "code",
      "colour": [1, {"a": 2}],
      "ignore_projects": ["secret-*", "~/private/**"]
    }
    "#);
    let mode = std::fs::metadata(path).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn invalid_setting_changes_nothing() {
    let home = sandbox();
    assert_snapshot!(shown(&home, &home.mem(&["config", "set", "contxt_tokens", "800"])), @"
    [stderr]
    error: contxt_tokens is not a setting; did you mean context_tokens?
    [exit 64]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["config", "set", "provider", "gpt"])), @"
    [stderr]
    error: provider must be one of auto, local, claude, anthropic, openai, gemini
    [exit 64]
    ");
    assert!(!home.data_dir().exists());
}

#[test]
fn broken_file_is_never_overwritten() {
    let home = sandbox();
    home.write(home.data_dir().join("settings.json"), "{\"port\": ");
    assert_snapshot!(shown(&home, &home.mem(&["config", "set", "port", "4000"])), @"
    [stderr]
    error: [HOME]/.claude-mem/settings.json is not valid JSON (Expected value after colon in object property on line 1 column 10); fix or move it first; nothing was changed
    [exit 1]
    ");
    assert_eq!(settings(&home), "{\"port\": ");
}

#[test]
fn environment_override_is_noted() {
    let home = sandbox().with_env("CLAUDE_MEM_CONTEXT_TOKENS", "500");
    assert_snapshot!(shown(&home, &home.mem(&["config", "set", "context_tokens", "400"])), @"
    context_tokens = 500
    [stderr]
    note: CLAUDE_MEM_CONTEXT_TOKENS in the environment overrides the file
    [exit 0]
    ");
    let home = sandbox().with_env("CLAUDE_MEM_PORT", "5000");
    assert_snapshot!(shown(&home, &home.mem(&["config", "set", "port", "4000"])), @"
    port = 4000
    [stderr]
    note: CLAUDE_MEM_PORT: has no effect: one session does not configure the worker of all projects; `claude-mem config set port`
    [exit 0]
    ");
}

#[test]
fn secret_is_never_printed() {
    let home = sandbox();
    for args in [
        &["config", "set", "api_key", "canary-7781"][..],
        &["config"],
        &["config", "get", "api_key"],
        &["config", "list", "--json"],
        &["status", "--json"],
    ] {
        let output = home.mem(args).ok();
        assert!(!output.to_string().contains("canary"), "{args:?}: {output}");
    }
    assert!(settings(&home).contains("canary-7781"));
}

#[test]
fn list_shows_sources_and_warnings() {
    let home = sandbox().with_env("CLAUDE_MEM_VECTOR", "off");
    home.write(
        home.data_dir().join("settings.json"),
        r#"{"CLAUDE_MEM_WORKER_PORT": "37777", "recal_file": false, "log_days": "many"}"#,
    );
    let output = home.mem(&["config", "list"]).ok().stdout;
    let telling: Vec<&str> = output
        .lines()
        .filter(|line| line.contains('(') && line.contains(" = ") || line.starts_with("warning"))
        .filter(|line| !line.contains("(empty)"))
        .collect();
    assert_snapshot!(telling.join("\n"), @"
      worker = manual  (environment)
      port = 37777  (settings.json)
    warning settings.json: recal_file is not a setting; did you mean recall_file?
    warning settings.json: log_days must be 1 to 3650 days
    warning CLAUDE_MEM_VECTOR: is not a setting; did you mean vectors?
    ");
}

#[test]
fn json_describes_a_setting() {
    let home = sandbox();
    assert_snapshot!(shown(&home, &home.mem(&["config", "get", "worker", "--json"])), @r#"
    {
      "key": "worker",
      "value": "manual",
      "source": "environment",
      "default": "auto",
      "expects": "one of auto, manual",
      "secret": false,
      "group": "Worker and viewer",
      "help": "`auto`: hooks start the worker on demand. `manual`: only `claude-mem worker` starts it."
    }
    [exit 0]
    "#);
    let listed = home.mem(&["config", "--json"]).ok().json();
    assert!(listed["settings"].as_array().is_some_and(|all| all.len() > 30));
    assert_eq!(listed["warnings"], serde_json::json!([]));
}
