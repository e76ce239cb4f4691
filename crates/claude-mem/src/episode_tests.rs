use serde_json::json;

use super::*;

fn step(tool: &str, input: serde_json::Value, failed: bool) -> Step {
    Step {
        tool: tool.into(),
        input,
        failed,
        ..Step::default()
    }
}

#[test]
fn only_edits_that_succeeded_modified_a_file() {
    let episode = Episode {
        root: "/home/user/app".into(),
        steps: vec![
            step(
                "Edit",
                json!({"file_path": "/home/user/app/src/a.rs"}),
                false,
            ),
            step("Write", json!({"file_path": "/tmp/b.txt"}), false),
            step(
                "Edit",
                json!({"file_path": "/home/user/app/src/a.rs"}),
                false,
            ),
            step("Edit", json!({"file_path": "/home/user/app/c.rs"}), true),
            step(
                "NotebookEdit",
                json!({"notebook_path": "/home/user/app/n.ipynb"}),
                false,
            ),
            step("Read", json!({"file_path": "/home/user/app/d.rs"}), false),
            step("Bash", json!({"command": "sed -i s/a/b/ e.rs"}), false),
            step("Edit", json!({"file_path": 3}), false),
            step("Edit", json!(null), false),
        ],
        ..Episode::default()
    };
    assert_eq!(
        episode.files_modified(),
        ["src/a.rs", "/tmp/b.txt", "n.ipynb"]
    );
    assert_eq!(episode.files_read(), ["d.rs"]);
}

#[test]
fn a_path_is_relative_only_inside_the_root() {
    for (root, path, want) in [
        ("/app", "/app/a.rs", "a.rs"),
        ("/app/", "/app/a.rs", "a.rs"),
        ("/app", "/apple/a.rs", "/apple/a.rs"),
        ("/app", "/app", "/app"),
        ("/app", "./a.rs", "a.rs"),
        ("", "/a.rs", "/a.rs"),
        ("/", "/etc/x", "/etc/x"),
    ] {
        let episode = Episode {
            root: root.into(),
            ..Episode::default()
        };
        assert_eq!(episode.relative(path), want, "{path} under {root}");
    }
}

#[test]
fn an_episode_ends_with_the_last_thing_in_it() {
    let mut episode = Episode::default();
    assert_eq!(episode.ended_at(), Millis(0));
    episode.prompt = Some(Prompt {
        at: Millis(5),
        ..Prompt::default()
    });
    assert_eq!(episode.ended_at(), Millis(5));
    episode.steps.push(Step {
        at: Millis(9),
        ..Step::default()
    });
    assert_eq!(episode.ended_at(), Millis(9));
}
