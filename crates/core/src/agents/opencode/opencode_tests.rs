use serde_json::json;

use super::*;
use crate::agents::client_files::{DATA_DIR_MARK, EXECUTABLE_MARK, OWN_FILE_HEAD};

#[test]
fn tools_get_our_names() {
    let rewritten = payload::rewrite(json!({
        "tool_name": "edit",
        "tool_input": { "filePath": "/work/a.txt", "oldString": "two", "newString": "three" },
        "tool_response": "Edit applied successfully.",
    }));
    assert_eq!(rewritten["tool_name"], "Edit");
    let input = json!({ "file_path": "/work/a.txt", "old_string": "two", "new_string": "three" });
    assert_eq!(rewritten["tool_input"], input);
    assert!(rewritten["error"].is_null());
}

#[test]
fn failed_command_is_an_error() {
    for (code, failed) in [(json!(3), true), (json!(0), false), (json!(null), false)] {
        let rewritten =
            payload::rewrite(json!({ "tool_name": "bash", "tool_response": "boom", "exit_code": code }));
        assert_eq!(!rewritten["error"].is_null(), failed, "{code}");
    }
}

#[test]
fn own_tools_are_recognised() {
    let rewritten = payload::rewrite(json!({ "tool_name": "claude-mem_search" }));
    assert!(crate::agents::is_our_tool(rewritten["tool_name"].as_str().unwrap()));
}

#[test]
fn plugin_has_its_marks_and_every_event() {
    let [ClientFileSpec { entries: ClientEntries::OwnFile { template }, .. }, _] = OPENCODE.files else {
        panic!()
    };
    assert!(template.starts_with(OWN_FILE_HEAD));
    assert_eq!(template.matches(EXECUTABLE_MARK).count(), 1);
    assert_eq!(template.matches(DATA_DIR_MARK).count(), 1);
    for (event, _) in OPENCODE.events {
        assert!(template.contains(&format!("\"{event}\"")), "{event}");
    }
}
