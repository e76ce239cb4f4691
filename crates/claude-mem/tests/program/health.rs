//! The dashboard's health: the findings of `status` and of `doctor`, and no others.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use claude_mem_setup::doctor::DOCTOR_ONLY_CHECKS;
use rig::Sandbox;
use serde_json::{Value, json};

use crate::doctor::{healthy, plant, wrong};
use crate::viewer::{address, ask, token};

/// What the dashboard of a worker that starts now shows.
fn dashboard(home: &Sandbox) -> Vec<Value> {
    home.mem(&["token", "path"]).ok();
    home.mem(&["worker", "start"]).ok();
    let (status, body) = ask(&address(home), "GET /api/stats", &[token(home)], "");
    assert_eq!(status, 200, "{body}");
    let stats: Value = serde_json::from_str(&body).expect("JSON");
    stats["health"].as_array().expect("a list").clone()
}

#[test]
fn healthy_installation_has_no_findings() {
    let home = healthy();
    assert_eq!(dashboard(&home), [] as [Value; 0]);
    home.mem(&["worker", "stop"]).ok();
}

#[test]
fn dashboard_shows_what_status_and_doctor_find() {
    let home = healthy();
    let settings = home.home().join(".claude/settings.json");
    let legacy = json!({ "enabledPlugins": { "claude-mem@thedotmack": true }, "disableAllHooks": true });
    home.write(&settings, legacy.to_string());
    home.write(home.home().join(".claude.json"), "{}");
    let call = json!({ "session_id": "s", "cwd": "/", "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_response": "a" });
    home.hook("PostToolUse", call.to_string()).ok();
    home.mem(&["status"]).ok();
    plant(
        &home.data_dir().join("claude-mem.db"),
        "UPDATE pending_messages SET state = 'dead', error = 'planted'",
    );
    home.write(home.data_dir().join("spool/1.json.bad"), "{");
    home.mem(&["config", "set", "vectors", "off"]).ok();
    home.mem(&["pause"]).ok();
    let open = Permissions::from_mode(0o644);
    std::fs::set_permissions(home.data_dir().join("settings.json"), open).expect("changed");

    let shown = dashboard(&home);
    let is_shown = |field: &str, text: &Value| shown.iter().any(|notice| &notice[field] == text);
    let found = wrong(&home, &[]);
    let checks: Vec<&str> = found.iter().filter_map(|finding| finding["check"].as_str()).collect();
    for check in ["hooks", "tools", "earlier", "privacy", "vectors", "queue", "spool", "paused"] {
        assert!(checks.contains(&check), "{check}: {found:#?}");
    }
    for finding in found {
        let check = finding["check"].as_str().expect("a name");
        // What notices tell in their own words, they tell of the same thing.
        let word = match check {
            check if DOCTOR_ONLY_CHECKS.contains(&check) => continue,
            "hooks" | "tools" if finding["cure"] == "registration" => Some("no hooks in"),
            "queue" => Some("could not be processed"),
            "spool" => Some("set aside"),
            "paused" => Some("paused"),
            _ => None,
        };
        let is_told = match word {
            Some(word) => {
                shown.iter().any(|notice| notice["problem"].as_str().is_some_and(|it| it.contains(word)))
            }
            None => is_shown("problem", &finding["what"]) || is_shown("fix", &finding["fix"]),
        };
        assert!(is_told, "{finding:#}: {shown:#?}");
    }
    let status = home.mem(&["status", "--json"]).ok().json();
    let problems = status["problems"].as_array().expect("a list");
    assert!(problems.len() >= 3, "{status:#}");
    for problem in problems {
        assert!(is_shown("problem", &problem["what"]), "{problem:#}: {shown:#?}");
    }
    let mut fixes: Vec<&str> = shown.iter().filter_map(|notice| notice["fix"].as_str()).collect();
    fixes.sort_unstable();
    let told = fixes.len();
    fixes.dedup();
    assert_eq!(fixes.len(), told, "each command once: {shown:#?}");
    home.mem(&["worker", "stop"]).ok();
}
