use super::*;
use crate::install::client::Abilities;
use crate::install::version::Version;

fn launch() -> Launch {
    Launch {
        executable: "/bin/claude-mem".into(),
        data_dir: None,
        abilities: Abilities::of(Some(Version(2, 1, 325))),
    }
}

fn value(text: &str) -> Value {
    meaning(&Document::parse(text).unwrap().object().clone().into())
}

/// Settings as people have them.
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
fn putting_in_twice_is_putting_in_once() {
    for settings in SETTINGS {
        let once = with(settings, &launch()).unwrap();
        assert_eq!(with(&once, &launch()).unwrap(), once, "{settings}");
        let ours = registered(&once)
            .unwrap()
            .into_iter()
            .filter(|hook| hook.whose == Whose::Ours);
        assert_eq!(ours.count(), launch().abilities.events().len(), "{once}");
    }
}

#[test]
fn what_is_put_in_and_taken_out_leaves_what_was_there() {
    for settings in SETTINGS {
        let there = with(settings, &launch()).unwrap();
        let back = without(&there, Whose::Ours, Some(settings)).unwrap();
        assert_eq!(value(&back), value(settings), "{settings}\n{back}");
    }
}

#[test]
fn foreign_entries_order_and_comments_stay() {
    let there = with(SETTINGS[6], &launch()).unwrap();
    for kept in [
        "// mine",
        "// keep this",
        "// guard",
        r#""matcher": "Bash""#,
    ] {
        assert!(there.contains(kept), "{there}");
    }
    assert!(
        there.find("\"guard\"").unwrap() < there.find("claude-mem").unwrap(),
        "{there}"
    );
    let dense = with(SETTINGS[4], &launch()).unwrap();
    assert!(
        !dense.contains([' ', '\n']) || dense.contains("say done"),
        "{dense}"
    );
    assert_eq!(dense.lines().count(), 1, "{dense}");
    let windows = with(SETTINGS[5], &launch()).unwrap();
    assert_eq!(
        windows.matches('\n').count(),
        windows.matches("\r\n").count()
    );
}

#[test]
fn an_earlier_version_of_ours_is_replaced_where_it_stands() {
    let old = r#"{"hooks": {
  "Stop": [{"hooks": [{"type": "command", "command": "/old/claude-mem hook claude-code Stop"}]},
           {"hooks": [{"type": "command", "command": "bell"}]}],
  "Setup": [{"hooks": [{"type": "command", "command": "/old/claude-mem hook claude-code Setup"}]}],
  "PostToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "lint"},
    {"type": "command", "command": "/old/claude-mem hook claude-code PostToolUse"}]}]
}}"#;
    let new = with(old, &launch()).unwrap();
    assert!(!new.contains("/old/"), "{new}");
    let value = value(&new);
    assert_eq!(
        value["hooks"]["Stop"][0]["hooks"][0]["command"],
        "/bin/claude-mem"
    );
    assert_eq!(value["hooks"]["Stop"][1]["hooks"][0]["command"], "bell");
    assert_eq!(
        value["hooks"]["PostToolUse"][0]["hooks"][0]["command"],
        "lint"
    );
    assert_eq!(
        value["hooks"]["PostToolUse"].as_array().map(Vec::len),
        Some(2)
    );
    assert!(value["hooks"].get("Setup").is_none(), "{new}");
}

#[test]
fn hooks_of_another_shape_are_refused() {
    for text in [
        r#"{"hooks": []}"#,
        r#"{"hooks": {"Stop": {}}}"#,
        r#"{"hooks": null}"#,
    ] {
        assert!(with(text, &launch()).is_err(), "{text}");
    }
}

#[test]
fn taking_out_where_nothing_of_ours_is_changes_nothing() {
    for settings in SETTINGS {
        assert_eq!(without(settings, Whose::Ours, None).unwrap(), settings);
        assert_eq!(without(settings, Whose::Rival, None).unwrap(), settings);
    }
}
