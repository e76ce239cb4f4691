use super::*;
use serde_json::json;

fn acts(tool: &str, input: Value, output: Value) -> Vec<String> {
    let step = EpisodeStep { tool: tool.into(), input, output, ..EpisodeStep::default() };
    let episode = Episode { root: "/home/u/p".into(), steps: vec![step], ..Episode::default() };
    let shown = |done: TimedAct| match done.act {
        StepAct::Changed(change) => format!("changed {} {}", change.path, change.hunks.len()),
        StepAct::Ran { run, output } => format!("ran {} → {output}", run.command),
        StepAct::Read(path) => format!("read {path}"),
    };
    read(&episode).into_iter().map(shown).collect()
}

#[test]
fn the_tools_of_every_client_mean_the_same() {
    for (tool, input, output, want) in [
        (
            "Edit",
            json!({"file_path": "/home/u/p/a.rs", "old_string": "a", "new_string": "b"}),
            json!({}),
            vec!["changed a.rs 1"],
        ),
        (
            "edit",
            json!({"filePath": "/home/u/p/a.rs", "oldString": "a", "newString": "b"}),
            json!("ok"),
            vec!["changed a.rs 1"],
        ),
        ("write_file", json!({"file_path": "a.txt", "content": "x"}), json!({}), vec!["changed a.txt 1"]),
        (
            "apply_patch",
            json!({"input": "*** Begin Patch\n*** Update File: a.py\n-x\n+y\n*** End Patch"}),
            json!(""),
            vec!["changed a.py 1"],
        ),
        (
            "Bash",
            json!({"command": "make"}),
            json!({"stdout": "ok", "stderr": "warn"}),
            vec!["ran make → ok\nwarn"],
        ),
        (
            "run_shell_command",
            json!({"command": "make"}),
            json!({"llmContent": "x", "returnDisplay": "ok"}),
            vec!["ran make → ok"],
        ),
        ("shell", json!({"command": ["bash", "-lc", "make"]}), json!("ok"), vec!["ran make → ok"]),
        (
            "Bash",
            json!({"command": "cat > b.py <<'EOF'\nx = 1\nEOF"}),
            json!(""),
            vec!["changed b.py 1", "ran cat → "],
        ),
        (
            "Bash",
            json!({"command": "sed -i 's/10/7/' /home/u/p/a.py"}),
            json!(""),
            vec!["changed a.py 1", "ran sed -i s/10/7/ /home/u/p/a.py → "],
        ),
        ("Read", json!({"file_path": "/home/u/p/a.rs"}), json!({}), vec!["read a.rs"]),
        ("Grep", json!({"pattern": "lease"}), json!({}), vec![]),
        ("WebFetch", json!({"url": "https://example.com"}), json!({}), vec![]),
        ("mcp__claude-mem__search", json!({"query": "x"}), json!({}), vec![]),
        ("TodoWrite", json!({"todos": []}), json!({}), vec![]),
        ("Bash", json!({"command": 7}), json!(null), vec![]),
    ] {
        assert_eq!(acts(tool, input.clone(), output), want, "{tool} {input}");
    }
}

#[test]
fn patterns_of_the_shell_are_not_files() {
    for (command, want) in [
        ("sed -i 's/10/7/' src/*.py", 0),
        ("sed -i 's/10/7/' src/?.py", 0),
        ("sed -i 's/10/7/' src/[ab].py", 0),
        ("sed -i 's/10/7/' src/{a,b}.py", 0),
        ("sed -i 's/10/7/' $FILES", 0),
        ("sed -i 's/10/7/' src/a.py src/*.rs", 1),
        ("cat > docs/*.md <<'EOF'\nx\nEOF", 0),
    ] {
        let done = acts("Bash", json!({ "command": command }), json!(""));
        let changed = done.iter().filter(|act| act.starts_with("changed ")).count();
        assert_eq!(changed, want, "{command}: {done:?}");
    }
}
