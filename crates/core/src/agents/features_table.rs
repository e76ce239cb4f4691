//! The table of agents and features in the documentation.

use std::fmt::Write as _;

use super::coding_agent::CodingAgent;

/// The table of agents and features as Markdown, followed by the limitations.
pub fn features_markdown(agents: &[&CodingAgent]) -> String {
    let Some(first) = agents.first() else {
        return String::new();
    };
    let names = first.features.all().map(|(name, _)| name);
    let mut text = format!("| agent | {} | tested with |\n", names.join(" | "));
    text.push_str(&format!("|---{}|---|\n", "|---".repeat(names.len())));
    let mut limitations = String::new();
    for agent in agents {
        let features = agent.features.all();
        let words = features.map(|(_, support)| support.word());
        let versions = agent.tested_versions.join(", ");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} | {} | {versions} |", agent.title, words.join(" | "));
        for (name, support) in features {
            if let Some(why) = support.reason() {
                let _ = writeln!(limitations, "- {}, {name}: {}: {why}.", agent.title, support.word());
            }
        }
    }
    if !limitations.is_empty() {
        text.push('\n');
        text.push_str(&limitations);
    }
    text
}
