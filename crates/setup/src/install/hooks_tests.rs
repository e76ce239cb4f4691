use super::*;
use crate::install::client::ClientCapabilities;
use claude_mem_core::client_version::ClientVersion;

fn launch() -> LaunchSpec {
    LaunchSpec {
        executable: "/bin/claude-mem".into(),
        data_dir: None,
        capabilities: ClientCapabilities::for_version(Some(ClientVersion(2, 1, 325))),
    }
}

fn value(text: &str) -> Value {
    to_value(&JsoncDocument::parse(text).unwrap().object().clone().into())
}

/// Realistic settings of users.
const SETTINGS: [&str; 12] = [
    "",
    "{}",
    "{}\n",
    "{\n  \"model\": \"opus\"\n}\n",
    "{\"model\":\"opus\",\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"say done\"}]}]}}",
    "{\r\n    \"model\": \"opus\",\r\n    \"unknown\": [1, {\"x\": null}]\r\n}\r\n",
    "// mine\n{\n\t// keep this\n\t\"hooks\": {\n\t\t\"PreToolUse\": [ // guard\n\t\t\t{ \"matcher\": \"Bash\", \"hooks\": [{ \"type\": \"command\", \"command\": \"guard\" }] },\n\t\t],\n\t},\n}\n",
    "{\n  \"hooks\": {}\n}\n",
    "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n",
    "\u{feff}{\n  \"env\": {\"A\": \"1\"}\n}",
    "{ \"permissions\": { \"allow\": [\"Bash(ls)\"] } }",
    "{\n\n  \"a\": 1,\n\n  \"hooks\": {\n    \"Notification\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"bell\"}]}]\n  },\n\n  \"z\": 2\n}\n",
];

#[test]
fn adding_hooks_is_idempotent() {
    for settings in SETTINGS {
        let once = add_hooks(settings, &launch()).unwrap();
        assert_eq!(add_hooks(&once, &launch()).unwrap(), once, "{settings}");
        let ours = registered_hooks(&once).unwrap().into_iter().filter(|hook| hook.owner == EntryOwner::Ours);
        assert_eq!(ours.count(), launch().capabilities.events().len(), "{once}");
    }
}

#[test]
fn adding_and_removing_restores_the_text() {
    for settings in SETTINGS {
        let there = add_hooks(settings, &launch()).unwrap();
        let back = remove_hooks(&there, EntryOwner::Ours, Some(settings)).unwrap();
        assert_eq!(value(&back), value(settings), "{settings}\n{back}");
    }
}

#[test]
fn foreign_entries_order_and_comments_are_kept() {
    let there = add_hooks(SETTINGS[6], &launch()).unwrap();
    for kept in ["// mine", "// keep this", "// guard", r#""matcher": "Bash""#] {
        assert!(there.contains(kept), "{there}");
    }
    assert!(there.find("\"guard\"").unwrap() < there.find("claude-mem").unwrap(), "{there}");
    let dense = add_hooks(SETTINGS[4], &launch()).unwrap();
    assert!(!dense.contains([' ', '\n']) || dense.contains("say done"), "{dense}");
    assert_eq!(dense.lines().count(), 1, "{dense}");
    let windows = add_hooks(SETTINGS[5], &launch()).unwrap();
    assert_eq!(windows.matches('\n').count(), windows.matches("\r\n").count());
}

#[test]
fn older_hooks_of_ours_are_replaced_in_place() {
    let old = r#"{"hooks": {
  "Stop": [{"hooks": [{"type": "command", "command": "/old/claude-mem hook claude-code Stop"}]},
           {"hooks": [{"type": "command", "command": "bell"}]}],
  "Setup": [{"hooks": [{"type": "command", "command": "/old/claude-mem hook claude-code Setup"}]}],
  "PostToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "lint"},
    {"type": "command", "command": "/old/claude-mem hook claude-code PostToolUse"}]}]
}}"#;
    let new = add_hooks(old, &launch()).unwrap();
    assert!(!new.contains("/old/"), "{new}");
    let value = value(&new);
    assert_eq!(value["hooks"]["Stop"][0]["hooks"][0]["command"], "/bin/claude-mem");
    assert_eq!(value["hooks"]["Stop"][1]["hooks"][0]["command"], "bell");
    assert_eq!(value["hooks"]["PostToolUse"][0]["hooks"][0]["command"], "lint");
    assert_eq!(value["hooks"]["PostToolUse"].as_array().map(Vec::len), Some(2));
    assert!(value["hooks"].get("Setup").is_none(), "{new}");
}

#[test]
fn malformed_hooks_are_rejected() {
    for text in [r#"{"hooks": []}"#, r#"{"hooks": {"Stop": {}}}"#, r#"{"hooks": null}"#] {
        assert!(add_hooks(text, &launch()).is_err(), "{text}");
    }
}

#[test]
fn removing_without_our_hooks_changes_nothing() {
    for settings in SETTINGS {
        assert_eq!(remove_hooks(settings, EntryOwner::Ours, None).unwrap(), settings);
        assert_eq!(remove_hooks(settings, EntryOwner::Legacy, None).unwrap(), settings);
    }
}
