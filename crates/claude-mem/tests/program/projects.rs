//! The project that an event is assigned to.

use rig::Sandbox;
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

const REMOTE: &str = "[remote \"origin\"]\n\turl = git@example.org:acme/secret-product.git\n";

/// A commit and its file among the objects, as git writes it.
const COMMIT_ID: &str = "7dc0fdab9a318348efd40a015c616a9c6d392c74";
const COMMIT_OBJECT: &[u8] = b"\
    \x78\xda\x7d\xcc\x41\x0a\x02\x31\x0c\x46\x61\xd7\x3d\x45\xf6\x82\x74\x42\xa6\xb4\x20\xa2\x1b\xef\xd1\x64\
    \xfe\xc1\x01\x4b\xa5\x46\xf0\xf8\x8a\x07\xf0\xad\x3f\x9e\xf5\xd6\x36\xa7\x89\x79\xe7\x03\x20\xd1\xcc\xf3\
    \x62\x49\xd8\x34\x41\x4b\x8d\x29\x62\x16\x5d\xf3\x92\x0a\xe7\xbc\x2a\x20\x25\x4a\xa8\x2f\xbf\xf5\x41\x17\
    \x3a\xd6\x33\xde\xb5\x3d\xee\x38\x58\x6f\x27\x9a\x68\x1f\xbf\x05\xfb\x9d\x1d\xff\x4c\xb8\x6e\xe3\xe9\xe1\
    \x03\x70\x98\x27\x82";

/// Adds the commit itself to a repository that names it.
fn add_commit(root: &std::path::Path) {
    let folder = root.join(".git/objects").join(&COMMIT_ID[..2]);
    std::fs::create_dir_all(&folder).expect("made");
    std::fs::write(folder.join(&COMMIT_ID[2..]), COMMIT_OBJECT).expect("written");
}

/// A repository with a remote that names a commit as checked out.
fn clone_at(root: &std::path::Path, commit: &str) {
    std::fs::create_dir_all(root.join(".git")).expect("made");
    std::fs::write(root.join(".git/HEAD"), format!("{commit}\n")).expect("written");
    std::fs::write(root.join(".git/config"), REMOTE).expect("written");
}

fn start_session(home: &Sandbox, root: &std::path::Path) -> serde_json::Value {
    let payload = serde_json::json!({"session_id": root, "cwd": root, "source": "startup",
        "hook_event_name": "SessionStart"});
    home.hook("SessionStart", payload.to_string()).ok().json()
}

#[test]
fn made_up_remote_gets_no_memory_until_the_user_confirms() {
    let home = sandbox();
    let (own, evil, clone) = (home.home().join("own"), home.home().join("evil"), home.home().join("clone"));
    clone_at(&own, COMMIT_ID);
    add_commit(&own);
    // The commit's id is no secret: it is in every link to the project's pages.
    clone_at(&evil, COMMIT_ID);
    clone_at(&clone, COMMIT_ID);
    add_commit(&clone);
    let own_text = own.to_str().expect("UTF-8");
    let mem = |dir: &std::path::Path, args: &[&str]| {
        let mut command = home.mem_command(args);
        command.current_dir(dir);
        rig::process::run(command, b"", std::time::Duration::from_mins(1))
    };
    mem(&own, &["save", "--title", "Zeta launches in May", "Nobody may know."]).ok();
    let told = |answer: &serde_json::Value| answer.to_string().contains("Zeta launches");
    assert!(told(&start_session(&home, &own)));
    assert!(told(&start_session(&home, &clone)), "a clone with the same commit");

    let answer = start_session(&home, &evil);
    assert!(!told(&answer), "{answer}");
    let message = answer["systemMessage"].as_str().unwrap_or_default();
    assert!(message.contains("claude-mem project join"), "{answer}");
    mem(&evil, &["save", "--title", "Discount is 0 percent", "Says the archive."]).ok();
    assert!(!start_session(&home, &own).to_string().contains("0 percent"));
    let status = mem(&evil, &["status"]);
    assert!(status.stdout.contains("claude-mem project join"), "{status}");
    let listed = mem(&own, &["project", "list"]).ok().stdout;
    assert!(listed.contains(own_text) && listed.contains("evil"), "{listed}");

    assert_eq!(mem(&evil, &["project", "join"]).code, Some(1), "an agent cannot confirm it in passing");
    let joined = mem(&evil, &["project", "join", "--yes"]).ok().stdout;
    assert!(joined.contains("now belongs to secret-product"), "{joined}");
    assert!(told(&start_session(&home, &evil)));
    assert_eq!(mem(&evil, &["project", "join", "--yes"]).code, Some(1), "there is nothing left to join");
    let listed = mem(&own, &["project", "list"]).ok().stdout;
    assert!(listed.contains(own_text) && !listed.contains("evil"), "{listed}");
}
