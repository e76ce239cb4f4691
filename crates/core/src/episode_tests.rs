use serde_json::json;

use super::*;

fn step(tool: &str, input: serde_json::Value, failed: bool) -> EpisodeStep {
    EpisodeStep { tool: tool.into(), input, failed, ..EpisodeStep::default() }
}

#[test]
fn only_successful_edits_modify_files() {
    let episode = Episode {
        root: "/home/user/app".into(),
        steps: vec![
            step("Edit", json!({"file_path": "/home/user/app/src/a.rs"}), false),
            step("Write", json!({"file_path": "/tmp/b.txt"}), false),
            step("Edit", json!({"file_path": "/home/user/app/src/a.rs"}), false),
            step("Edit", json!({"file_path": "/home/user/app/c.rs"}), true),
            step("NotebookEdit", json!({"notebook_path": "/home/user/app/n.ipynb"}), false),
            step("Read", json!({"file_path": "/home/user/app/d.rs"}), false),
            step("Bash", json!({"command": "sed -i s/a/b/ e.rs"}), false),
            step("Edit", json!({"file_path": 3}), false),
            step("Edit", json!(null), false),
        ],
        ..Episode::default()
    };
    assert_eq!(episode.files_modified(), ["src/a.rs", "/tmp/b.txt", "n.ipynb"]);
    assert_eq!(episode.files_read(), ["d.rs"]);
}

#[test]
fn path_is_relative_only_inside_root() {
    for (root, path, want) in [
        ("/app", "/app/a.rs", "a.rs"),
        ("/app/", "/app/a.rs", "a.rs"),
        ("/app", "/apple/a.rs", "/apple/a.rs"),
        ("/app", "/app", "/app"),
        ("/app", "./a.rs", "a.rs"),
        ("", "/a.rs", "/a.rs"),
        ("/", "/etc/x", "/etc/x"),
    ] {
        let episode = Episode { root: root.into(), ..Episode::default() };
        assert_eq!(episode.relative_path(path), want, "{path} under {root}");
    }
}

#[test]
fn episode_ends_with_its_last_event() {
    let mut episode = Episode::default();
    assert_eq!(episode.ended_at(), Millis(0));
    episode.prompt = Some(EpisodePrompt { at: Millis(5), ..EpisodePrompt::default() });
    assert_eq!(episode.ended_at(), Millis(5));
    episode.steps.push(EpisodeStep { at: Millis(9), ..EpisodeStep::default() });
    assert_eq!(episode.ended_at(), Millis(9));
}

#[test]
fn patch_names_its_first_file() {
    let patch =
        "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-old\n+new\n*** Add File: b.rs\n+x\n*** End Patch";
    let input = serde_json::json!({ "command": patch });
    let want = TouchedFile { path: "src/a.rs", edited: true };
    assert_eq!(touched_file("apply_patch", &input), Some(want));
    assert_eq!(touched_file("apply_patch", &serde_json::json!({ "command": "no patch" })), None);
}
