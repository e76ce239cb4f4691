//! Our plugin: the files of `plugin/`, embedded in the executable and adapted to this machine.
//!
//! In the sources, the plugin's hooks use a script that finds the executable, and only events that
//! every client knows. Here the path and the client's version are known, so hooks and server are
//! written as in the client's settings.

use std::io;
use std::path::{Path, PathBuf};

use jsonc_parser::cst::{CstInputValue, CstRootNode};

use super::entry::LaunchSpec;
use super::json::build_object;
use super::{MARKET, NAME, PLUGIN};
use claude_mem_core::paths;

/// The id under which the client lists the installed plugin.
pub fn id() -> String {
    format!("{PLUGIN}@{MARKET}")
}

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        /// Files that are copied unchanged.
        const FILES: &[(&str, &str)] = &[$(
            ($name, include_str!(concat!("../../../../plugin/", $name))),
        )+];
    };
}

files![
    ".claude-plugin/plugin.json",
    ".claude-plugin/marketplace.json",
    "README.md",
    "skills/mem-search/SKILL.md",
    "commands/search.md",
    "commands/save.md",
    "commands/forget.md",
    "commands/status.md",
];

/// All files of the plugin for this machine, with their paths.
pub fn files(launch: &LaunchSpec) -> Vec<(PathBuf, String)> {
    let copied = FILES.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned()));
    let events = launch.capabilities.events().into_iter();
    let groups = events.map(|event| {
        let groups = CstInputValue::Array(vec![launch.hook_group(event)]);
        (event.to_owned(), groups)
    });
    let hooks = build_object([("hooks", CstInputValue::Object(groups.collect()))]);
    let servers = build_object([(NAME, launch.server_entry())]);
    let made = [
        (PathBuf::from("hooks/hooks.json"), render_json(hooks)),
        (PathBuf::from(".mcp.json"), render_json(build_object([("mcpServers", servers)]))),
    ];
    copied.chain(made).collect()
}

fn render_json(value: CstInputValue) -> String {
    let Ok(root) = CstRootNode::parse("", &jsonc_parser::ParseOptions::default()) else {
        unreachable!("an empty text always parses");
    };
    root.set_value(value);
    format!("{root}\n")
}

/// Writes the plugin, in place of an older version.
pub fn write(dir: &Path, launch: &LaunchSpec) -> io::Result<()> {
    remove(dir)?;
    for (path, text) in files(launch) {
        let path = dir.join(path);
        paths::create_dir(path.parent().unwrap_or(dir))?;
        std::fs::write(&path, text)?;
    }
    Ok(())
}

/// Deletes the plugin, if there is one.
pub fn remove(dir: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(dir) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::client::{COMMON_EVENTS, ClientCapabilities};
    use crate::install::hooks;
    use claude_mem_core::client_version::ClientVersion;

    /// The folder in the sources.
    fn sources() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin")
    }

    #[test]
    fn source_plugin_uses_only_common_events() {
        let text = std::fs::read_to_string(sources().join("hooks/hooks.json")).unwrap();
        let events: Vec<String> =
            hooks::registered_hooks(&text).unwrap().into_iter().map(|hook| hook.event).collect();
        assert_eq!(events, COMMON_EVENTS);
        assert!(!text.contains("\"args\""), "an old client would ignore them");
    }

    #[test]
    fn plugin_has_the_program_version() {
        for file in [".claude-plugin/plugin.json", ".claude-plugin/marketplace.json"] {
            let text = std::fs::read_to_string(sources().join(file)).unwrap();
            let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
            assert!(text.contains(&version) && text.contains(PLUGIN), "{file}");
        }
        let market = std::fs::read_to_string(sources().join(".claude-plugin/marketplace.json"));
        assert!(market.unwrap().contains(&format!("\"name\": \"{MARKET}\"")));
    }

    #[test]
    fn installed_plugin_has_path_and_hooks_of_the_client() {
        let launch = LaunchSpec {
            executable: "/bin/claude-mem".into(),
            data_dir: None,
            capabilities: ClientCapabilities::for_version(Some(ClientVersion(2, 1, 325))),
        };
        let files = files(&launch);
        let of = |name: &str| {
            let found = files.iter().find(|(path, _)| path == Path::new(name));
            serde_json::from_str::<serde_json::Value>(&found.unwrap().1).unwrap()
        };
        let hooks = of("hooks/hooks.json");
        assert_eq!(hooks["hooks"].as_object().unwrap().len(), 10);
        assert_eq!(hooks["hooks"]["Stop"][0]["hooks"][0]["command"], "/bin/claude-mem");
        assert_eq!(of(".mcp.json")["mcpServers"][NAME]["command"], "/bin/claude-mem");
    }
}
