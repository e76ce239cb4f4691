//! The earlier program of this name: where it stands in a client's settings, and switching it off.

use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp};

use super::NAME;
use super::entry::Whose;
use super::hooks;
use super::json::{Document, meaning, property};

/// What of it is switched on.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Rival {
    /// Events that call its scripts.
    pub events: Vec<String>,
    /// Its plugin, as `name@marketplace`.
    pub plugins: Vec<String>,
}

impl Rival {
    pub fn is_there(&self) -> bool {
        !self.events.is_empty() || !self.plugins.is_empty()
    }
}

pub fn look(text: &str) -> Result<Rival, String> {
    let document = Document::parse(text)?;
    let mut events: Vec<String> = hooks::registered(text)?
        .into_iter()
        .filter(|hook| hook.whose == Whose::Rival)
        .map(|hook| hook.event)
        .collect();
    events.dedup();
    let plugins = property(document.object(), "enabledPlugins").and_then(|p| p.object_value());
    let plugins = plugins.iter().flat_map(CstObject::properties);
    let is_on = |property: &CstObjectProp| {
        property
            .value()
            .is_some_and(|value| meaning(&value) != false)
    };
    Ok(Rival {
        events,
        plugins: plugins
            .filter(is_on)
            .filter_map(|property| property.decoded_name())
            .filter(|name| is_its_plugin(name))
            .collect(),
    })
}

/// The text with its hooks taken out and its plugin switched off.
pub fn switched_off(text: &str) -> Result<String, String> {
    let text = hooks::without(text, Whose::Rival, None)?;
    let rival = look(&text)?;
    if rival.plugins.is_empty() {
        return Ok(text);
    }
    let document = Document::parse(&text)?;
    let plugins = property(document.object(), "enabledPlugins").and_then(|p| p.object_value());
    for name in &rival.plugins {
        let found = plugins.as_ref().and_then(|plugins| property(plugins, name));
        if let Some(found) = found {
            found.set_value(CstInputValue::Bool(false));
        }
    }
    Ok(document.text())
}

fn is_its_plugin(name: &str) -> bool {
    name.split_once('@')
        .is_some_and(|(plugin, _)| plugin == NAME)
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
    fn its_hooks_and_its_plugin_are_found_and_switched_off_and_nothing_else() {
        let rival = look(SETTINGS).unwrap();
        assert_eq!(rival.events, ["Stop"]);
        assert_eq!(rival.plugins, ["claude-mem@thedotmack"]);
        let off = switched_off(SETTINGS).unwrap();
        assert!(!look(&off).unwrap().is_there(), "{off}");
        assert!(
            off.contains("bell") && off.contains(r#""other@market": true"#),
            "{off}"
        );
        assert!(off.contains(r#""claude-mem@thedotmack": false"#), "{off}");
        assert_eq!(switched_off(&off).unwrap(), off);
    }

    #[test]
    fn our_own_plugin_is_no_rival() {
        let name = crate::install::plugin::id();
        let text = format!(r#"{{"enabledPlugins": {{"{name}": true}}}}"#);
        assert!(!look(&text).unwrap().is_there());
    }
}
