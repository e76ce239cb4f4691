//! Finds and disables the earlier program of the same name in a client's settings.

use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp};

use super::NAME;
use super::entry::EntryOwner;
use super::hooks;
use super::json::{JsoncDocument, find_property, to_value};

/// Enabled entries of the earlier program.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct LegacyRegistration {
    /// Events with hooks that call its scripts.
    pub events: Vec<String>,
    /// Its plugin, as `name@marketplace`.
    pub plugins: Vec<String>,
}

impl LegacyRegistration {
    /// Whether the earlier program has any enabled entry.
    pub fn is_present(&self) -> bool {
        !self.events.is_empty() || !self.plugins.is_empty()
    }
}

/// Finds the earlier program's entries. The error is a reason for the user.
pub fn find_legacy(text: &str) -> Result<LegacyRegistration, String> {
    let document = JsoncDocument::parse(text)?;
    let mut events: Vec<String> = hooks::registered_hooks(text)?
        .into_iter()
        .filter(|hook| hook.owner == EntryOwner::Legacy)
        .map(|hook| hook.event)
        .collect();
    events.dedup();
    let plugins = find_property(document.object(), "enabledPlugins").and_then(|p| p.object_value());
    let plugins = plugins.iter().flat_map(CstObject::properties);
    let is_on = |property: &CstObjectProp| property.value().is_some_and(|value| to_value(&value) != false);
    Ok(LegacyRegistration {
        events,
        plugins: plugins
            .filter(is_on)
            .filter_map(|property| property.decoded_name())
            .filter(|name| is_legacy_plugin(name))
            .collect(),
    })
}

/// The text with its hooks removed and its plugin disabled.
pub fn disable_legacy(text: &str) -> Result<String, String> {
    let text = hooks::remove_hooks(text, EntryOwner::Legacy, None)?;
    let rival = find_legacy(&text)?;
    if rival.plugins.is_empty() {
        return Ok(text);
    }
    let document = JsoncDocument::parse(&text)?;
    let plugins = find_property(document.object(), "enabledPlugins").and_then(|p| p.object_value());
    for name in &rival.plugins {
        let found = plugins.as_ref().and_then(|plugins| find_property(plugins, name));
        if let Some(found) = found {
            found.set_value(CstInputValue::Bool(false));
        }
    }
    Ok(document.text())
}

fn is_legacy_plugin(name: &str) -> bool {
    name.split_once('@').is_some_and(|(plugin, _)| plugin == NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: &str = r#"{
  "enabledPlugins": { "claude-mem@thedotmack": true, "other@market": true },
  "hooks": {
    "Stop": [{ "hooks": [
      { "type": "command", "command": "bell" },
      { "type": "command", "command": "node /x/claude-mem/scripts/summary-hook.js" }
    ] }]
  }
}"#;

    #[test]
    fn only_legacy_hooks_and_plugin_are_disabled() {
        let rival = find_legacy(SETTINGS).unwrap();
        assert_eq!(rival.events, ["Stop"]);
        assert_eq!(rival.plugins, ["claude-mem@thedotmack"]);
        let off = disable_legacy(SETTINGS).unwrap();
        assert!(!find_legacy(&off).unwrap().is_present(), "{off}");
        assert!(off.contains("bell") && off.contains(r#""other@market": true"#), "{off}");
        assert!(off.contains(r#""claude-mem@thedotmack": false"#), "{off}");
        assert_eq!(disable_legacy(&off).unwrap(), off);
    }

    #[test]
    fn our_plugin_is_not_legacy() {
        let name = crate::install::plugin::id();
        let text = format!(r#"{{"enabledPlugins": {{"{name}": true}}}}"#);
        assert!(!find_legacy(&text).unwrap().is_present());
    }
}
