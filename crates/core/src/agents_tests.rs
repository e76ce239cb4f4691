use super::*;

#[test]
fn own_tools_are_recognised_under_any_server_name() {
    for (tool, ours) in [
        ("mcp__claude-mem__search", true),
        ("mcp__claude_mem__search", true),
        ("mcp__plugin_claude-mem_memory__timeline", true),
        ("mcp__Claude-Mem__get_observations", true),
        ("mcp__mem__search", false),
        ("mcp__github__search_claude-mem", false),
        ("claude-mem", false),
        ("Bash", false),
    ] {
        assert_eq!(is_our_tool(tool), ours, "{tool}");
    }
}

#[test]
fn event_names_and_kinds_map_one_to_one() {
    for agent in AGENTS {
        for (name, kind) in agent.events {
            assert_eq!(agent.event_kind(name), Some(*kind));
            assert_eq!(agent.event_name(*kind), *name);
        }
        assert_eq!(agent.event_kind("TeammateIdle"), None);
    }
}

fn product_sources(dir: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            product_sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs")
            && !name.ends_with("_tests.rs")
            && name != "agents.rs"
        {
            found.push(path);
        }
    }
}

#[test]
fn client_words_stand_only_in_this_file() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut sources = Vec::new();
    for entry in std::fs::read_dir(crates).unwrap() {
        let dir = entry.unwrap().path();
        // Developer tools play the client's part.
        if !dir.ends_with("rig") && !dir.ends_with("bench") {
            product_sources(&dir.join("src"), &mut sources);
        }
    }
    assert!(sources.len() > 100, "{} files", sources.len());
    let words = [
        CLAUDE_CODE.session_variable,
        CLAUDE_CODE.project_variable,
        CLAUDE_CODE.version_variable,
        WARMUP_PROMPT,
    ];
    for path in sources {
        let text = std::fs::read_to_string(&path).unwrap();
        for word in words {
            assert!(!text.contains(&format!("\"{word}\"")), "{word} in {}", path.display());
        }
    }
}
