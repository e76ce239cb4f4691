//! Our plugin: the files of `plugin/`, inside the executable, made fit for one machine.
//!
//! In the sources its hooks go through a script that looks for the executable, and name only
//! events that every client knows. Here the path and the client's version are known, so hooks and
//! server are written as they would be into settings.

use std::io;
use std::path::{Path, PathBuf};

use jsonc_parser::cst::{CstInputValue, CstRootNode};

use super::entry::Launch;
use super::json::object;
use super::{MARKET, NAME, PLUGIN};
use crate::paths;

/// As the client names it when it is installed.
pub fn id() -> String {
    format!("{PLUGIN}@{MARKET}")
}

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        /// What is copied as it is.
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

/// Every file of the plugin for this machine, by its path in it.
pub fn files(launch: &Launch) -> Vec<(PathBuf, String)> {
    let copied = FILES
        .iter()
        .map(|(path, text)| (PathBuf::from(path), (*text).to_owned()));
    let events = launch.abilities.events().into_iter();
    let groups = events.map(|event| {
        let groups = CstInputValue::Array(vec![launch.group(event)]);
        (event.to_owned(), groups)
    });
    let hooks = object([("hooks", CstInputValue::Object(groups.collect()))]);
    let servers = object([(NAME, launch.server())]);
    let made = [
        (PathBuf::from("hooks/hooks.json"), text(hooks)),
        (
            PathBuf::from(".mcp.json"),
            text(object([("mcpServers", servers)])),
        ),
    ];
    copied.chain(made).collect()
}

fn text(value: CstInputValue) -> String {
    let Ok(root) = CstRootNode::parse("", &jsonc_parser::ParseOptions::default()) else {
        unreachable!("nothing is always read");
    };
    root.set_value(value);
    format!("{root}\n")
}

/// Writes them, in the place of what an earlier version left.
pub fn write(dir: &Path, launch: &Launch) -> io::Result<()> {
    remove(dir)?;
    for (path, text) in files(launch) {
        let path = dir.join(path);
        paths::create_dir(path.parent().unwrap_or(dir))?;
        std::fs::write(&path, text)?;
    }
    Ok(())
}

/// Takes them away. It is not an error if there are none.
pub fn remove(dir: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(dir) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::client::{Abilities, EVERYWHERE};
    use crate::install::hooks;
    use crate::install::version::Version;

    /// The whole folder as it stands in the sources.
    fn sources() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin")
    }

    #[test]
    fn the_plugin_in_the_sources_names_only_what_every_client_knows() {
        let text = std::fs::read_to_string(sources().join("hooks/hooks.json")).unwrap();
        let events: Vec<String> = hooks::registered(&text)
            .unwrap()
            .into_iter()
            .map(|hook| hook.event)
            .collect();
        assert_eq!(events, EVERYWHERE);
        assert!(
            !text.contains("\"args\""),
            "an old client would ignore them"
        );
    }

    #[test]
    fn every_version_number_is_the_programs() {
        for file in [
            ".claude-plugin/plugin.json",
            ".claude-plugin/marketplace.json",
        ] {
            let text = std::fs::read_to_string(sources().join(file)).unwrap();
            let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
            assert!(text.contains(&version) && text.contains(PLUGIN), "{file}");
        }
        let market = std::fs::read_to_string(sources().join(".claude-plugin/marketplace.json"));
        assert!(market.unwrap().contains(&format!("\"name\": \"{MARKET}\"")));
    }

    #[test]
    fn on_a_machine_it_has_the_path_and_the_hooks_of_its_client() {
        let launch = Launch {
            executable: "/bin/claude-mem".into(),
            data_dir: None,
            abilities: Abilities::of(Some(Version(2, 1, 325))),
        };
        let files = files(&launch);
        let of = |name: &str| {
            let found = files.iter().find(|(path, _)| path == Path::new(name));
            serde_json::from_str::<serde_json::Value>(&found.unwrap().1).unwrap()
        };
        let hooks = of("hooks/hooks.json");
        assert_eq!(hooks["hooks"].as_object().unwrap().len(), 10);
        assert_eq!(
            hooks["hooks"]["Stop"][0]["hooks"][0]["command"],
            "/bin/claude-mem"
        );
        assert_eq!(
            of(".mcp.json")["mcpServers"][NAME]["command"],
            "/bin/claude-mem"
        );
    }
}
