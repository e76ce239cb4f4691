//! The plugin in the real client: validation, installation, hooks and tools.

use std::path::{Path, PathBuf};

use rig::client::{self, CURRENT, OLDER, OLDEST};
use rig::model::{ModelScript, ModelTurn, ScriptedModel};
use rig::{ProcessOutput, Sandbox};
use serde_json::json;

use crate::common::exe;

const ID: &str = "mem@claude-mem-local";
const SEARCH: &str = "mcp__plugin_mem_claude-mem__search";

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin");
    folder.canonicalize().expect("the plugin's folder")
}

/// A sandbox with this client and our executable on the PATH.
fn stage(version: &str, model: &ScriptedModel) -> Option<Sandbox> {
    let client = client::or_skip(version)?;
    let home = Sandbox::new()
        .with_exe(exe())
        .with_client(&client)
        .with_model(model)
        .with_env("CLAUDE_MEM_WORKER", "manual")
        .with_env("TZ", "UTC");
    home.put_on_path("claude", client.executable());
    home.put_on_path("claude-mem", &exe());
    Some(home)
}

fn prompt(home: &Sandbox, text: &str) -> ProcessOutput {
    let allowed = format!("Bash Read {SEARCH}");
    let args = ["-p", text, "--permission-mode", "acceptEdits", "--allowedTools", &allowed];
    home.claude(&args, "").ok()
}

/// One session is recorded; the next gets context and can search.
fn works(home: &Sandbox, model: &ScriptedModel) {
    model.push(ModelTurn::call("Bash", json!({ "command": "echo 3 passed", "description": "test" })));
    model.push(ModelTurn::text("Done: 7 attempts, because the 8th trips the limiter."));
    prompt(home, "Use 7 retry attempts, never 8, because the 8th trips the limiter.");
    let queued = home.mem(&["queue", "list", "--json"]).ok().json();
    let tools = queued["items"].as_array().into_iter().flatten();
    assert_eq!(tools.filter(|item| item["kind"] == "tool_use").count(), 1, "{queued:#}");
    home.mem(&["worker", "run", "--until-drained"]).ok();
    model.push(ModelTurn::call(SEARCH, json!({ "query": "retry attempts limiter" })));
    model.push(ModelTurn::text("Seven."));
    prompt(home, "How many retry attempts does the limiter allow?");
    let asked = model.messages();
    assert!(
        asked.iter().any(|request| request.contains_text("Memory of earlier sessions")),
        "{}",
        model.request_log()
    );
    let last = asked.last().expect("the tool's answer went to the model");
    assert!(last.contains_text("tool_result") && last.contains_text("never 8"), "{:#}", last.body);
}

#[test]
fn client_validates_the_plugin() {
    let model = ScriptedModel::start(ModelScript::session());
    for (version, args) in
        [(CURRENT, &["plugin", "validate", "--strict"][..]), (OLDER, &["plugin", "validate"])]
    {
        let Some(home) = stage(version, &model) else {
            continue;
        };
        let folder = folder().display().to_string();
        let output = home.claude(&[args, &[folder.as_str()]].concat(), "").ok();
        assert!(output.stdout.contains("Validation passed"), "{version}: {output}");
    }
}

#[test]
fn plugin_works_from_a_local_marketplace() {
    from_a_local_marketplace(CURRENT);
}

/// The oldest tested client knows fewer events: one unknown event would disable all hooks.
#[test]
fn plugin_works_in_an_old_client() {
    from_a_local_marketplace(OLDEST);
}

fn from_a_local_marketplace(version: &str) {
    let model = ScriptedModel::start(ModelScript::session());
    let Some(home) = stage(version, &model) else {
        return;
    };
    let folder = folder().display().to_string();
    home.claude(&["plugin", "marketplace", "add", &folder], "").ok();
    home.claude(&["plugin", "install", ID], "").ok();
    works(&home, &model);
}

#[test]
fn plugin_is_installed_and_uninstalled() {
    is_brought_and_taken_away(CURRENT);
}

#[test]
fn plugin_is_installed_and_uninstalled_in_an_old_client() {
    is_brought_and_taken_away(OLDEST);
}

fn is_brought_and_taken_away(version: &str) {
    let model = ScriptedModel::start(ModelScript::session());
    let Some(home) = stage(version, &model) else {
        return;
    };
    // Hooks in the settings move to the plugin, so that they do not run twice.
    home.mem(&["install", "--no-check"]).ok();
    let output = home.mem(&["install", "--plugin"]).ok();
    assert!(output.stdout.contains("done   plugin     mem@claude-mem-local"), "{output}");
    let settings = home.read(home.home().join(".claude/settings.json"));
    assert!(settings.contains(ID) && !settings.contains("SessionStart"), "{settings}");
    works(&home, &model);
    let found = home.mem(&["doctor"]).ok().stdout;
    assert!(found.contains("ok      hooks      through the plugin"), "{found}");
    home.mem(&["uninstall"]).ok();
    // Old clients cannot list plugins; all clients read the enabled ones here.
    let settings = home.read(home.home().join(".claude/settings.json"));
    let settings: serde_json::Value = serde_json::from_str(&settings).expect("JSON");
    assert_ne!(settings["enabledPlugins"][ID], true, "{settings:#}");
    assert!(!home.data_dir().join("plugin").exists());
}

#[test]
fn plugin_hook_answers_without_the_executable() {
    let home = Sandbox::new();
    let script = folder().join("scripts/claude-mem");
    let run = |args: &[&str]| {
        let mut command = home.command(&script);
        command.args(args);
        rig::process::run(command, b"{}", std::time::Duration::from_secs(20))
    };
    let stop = run(&["hook", "claude-code", "Stop"]).ok();
    assert_eq!(stop.json(), json!({ "continue": true, "suppressOutput": true }));
    let start = run(&["hook", "claude-code", "SessionStart"]).ok().json();
    assert!(start["systemMessage"].as_str().is_some_and(|text| text.contains("not installed")));
    assert_eq!(run(&["status"]).code, Some(1));
}
