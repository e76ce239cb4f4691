use super::*;

#[test]
fn our_own_tools_are_known_under_every_name_they_can_have() {
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
fn every_kind_has_one_name_and_every_name_one_kind() {
    for agent in AGENTS {
        for (name, kind) in agent.events {
            assert_eq!(agent.kind_of(name), Some(*kind));
            assert_eq!(agent.event_name(*kind), *name);
        }
        assert_eq!(agent.kind_of("TeammateIdle"), None);
    }
}
