use std::ffi::OsString;

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
        if path.ends_with("core/src/agents") {
            continue;
        }
        if path.is_dir() {
            product_sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") && !name.ends_with("_tests.rs") {
            found.push(path);
        }
    }
}

#[test]
fn client_words_stand_only_in_this_folder() {
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
    let variables = AGENTS
        .iter()
        .flat_map(|agent| [agent.session_variable, agent.project_variable, agent.version_variable]);
    let words: Vec<&str> = variables.chain([WARMUP_PROMPT]).filter(|word| !word.is_empty()).collect();
    for path in sources {
        let text = std::fs::read_to_string(&path).unwrap();
        for word in &words {
            assert!(!text.contains(&format!("\"{word}\"")), "{word} in {}", path.display());
        }
    }
}

#[test]
fn agents_have_names_of_their_own() {
    for (at, agent) in AGENTS.iter().enumerate() {
        assert_eq!(CodingAgent::by_name(agent.name).unwrap().title, agent.title);
        let others = AGENTS.iter().skip(at + 1);
        for other in others {
            assert_ne!(agent.name, other.name);
            assert_ne!(agent.program.command, other.program.command);
        }
    }
}

#[test]
fn failed_tool_is_answered_under_a_name_that_the_client_knows() {
    for agent in AGENTS {
        assert!(agent.event_kind(agent.event_name(HookEventKind::ToolFailure)).is_some(), "{}", agent.name);
    }
}

#[test]
fn directory_follows_its_variable() {
    let home = CODEX.program.home;
    let env = |name: &str| match name {
        "HOME" => Some(OsString::from("/home/ann")),
        "XDG_CONFIG_HOME" => Some(OsString::from("/config")),
        _ => None,
    };
    assert_eq!(home.resolve(env), Some("/home/ann/.codex".into()));
    assert_eq!(OPENCODE.program.home.resolve(env), Some("/config/opencode".into()));
    assert_eq!(home.resolve(|_| None), None);
}

/// A claim of the table must follow from the value.
#[test]
fn table_claims_only_what_the_value_provides() {
    for agent in AGENTS {
        let features = &agent.features;
        let has = |support: FeatureSupport| !matches!(support, FeatureSupport::No(_));
        assert_eq!(has(features.transcripts), agent.transcripts.is_some(), "{}", agent.name);
        assert_eq!(has(features.file_recall), agent.file_recall != FileRecallMoment::Never, "{}", agent.name);
        assert!(!agent.tested_versions.is_empty(), "{}", agent.name);
    }
}

fn documentation() -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agents.md");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn documentation_has_the_generated_table() {
    let table = features_markdown(AGENTS);
    assert!(documentation().contains(&table), "docs/agents.md must contain:\n{table}");
}

#[test]
fn documentation_names_every_file_that_install_writes() {
    let text = documentation();
    for agent in AGENTS {
        for file in agent.files {
            // Of several names the first is written if none exists.
            let path = format!("~/{}/{}", file.directory.default, file.names[0]);
            assert!(text.contains(&path), "{}: {path}", agent.name);
        }
        let variable = agent.program.home.variable.map(|(name, _)| name);
        let is_named = variable.is_none_or(|name| text.contains(&format!("`{name}`")));
        assert!(is_named, "{}: {variable:?}", agent.name);
    }
}
