//! The project that an event is assigned to.

use serde_json::json;

use crate::common::hooks::captured_events;
use crate::common::sandbox;

#[test]
fn project_is_the_start_directory_of_the_session() {
    let mut home = sandbox();
    home.git_remote("https://me:canary@github.com/me/app.git");
    home.git_branch("fix");
    let project = home.project().to_owned();
    home.set_env("CLAUDE_PROJECT_DIR", project);
    let input = json!({"session_id": "s", "hook_event_name": "UserPromptSubmit",
        "prompt": "hello", "cwd": "/usr/lib"});
    home.hook("UserPromptSubmit", input.to_string()).ok();
    let hint = captured_events(&home).remove(0).project.expect("a project");
    assert_eq!((hint.name.as_str(), hint.branch.as_deref()), ("app", Some("fix")));
    assert_eq!(hint.root, home.project().to_string_lossy());
    assert_eq!(hint.keys[0], "remote:github.com/me/app");
    assert_eq!(crate::common::hooks::files_containing(&home, "canary"), [] as [&str; 0]);
}

#[test]
fn project_falls_back_to_the_working_directory() {
    let home = sandbox();
    let input = json!({"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "x",
        "cwd": "/usr/lib"});
    home.hook("UserPromptSubmit", input.to_string()).ok();
    let hint = captured_events(&home).remove(0).project.expect("a project");
    assert_eq!(hint.keys, ["path:/usr/lib"]);
}
