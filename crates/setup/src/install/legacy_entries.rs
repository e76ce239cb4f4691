//! [`LegacyEntries`]: what `install --adopt` disables in a client's settings, kept so that `uninstall`
//! gives it back however the file has changed since.

use jsonc_parser::cst::CstInputValue;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::entry::{self, EntryOwner};
use super::json::{JsoncDocument, find_property, get_or_create_object, to_value};

/// Entries of the earlier program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LegacyEntries {
    #[serde(default)]
    hooks: Vec<LegacyHookGroup>,
    /// Enabled plugins, as `name@marketplace`.
    #[serde(default)]
    plugins: Vec<String>,
}

/// The hooks of one group: the group of the settings without the hooks of others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct LegacyHookGroup {
    event: String,
    group: Value,
}

impl LegacyEntries {
    /// Whether nothing was disabled.
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty() && self.plugins.is_empty()
    }

    /// The enabled entries of the earlier program. The error is a reason for the user.
    pub fn find(text: &str) -> Result<Self, String> {
        let document = JsoncDocument::parse(text)?;
        let value = |name: &str| {
            let found = find_property(document.object(), name).and_then(|property| property.value());
            found.map_or(Value::Null, |value| to_value(&value))
        };
        let mut hooks = Vec::new();
        for (event, groups) in value("hooks").as_object().into_iter().flatten() {
            let groups = groups.as_array().into_iter().flatten().filter_map(legacy_part);
            hooks.extend(groups.map(|group| LegacyHookGroup { event: event.clone(), group }));
        }
        let plugins = super::legacy::find_legacy(text)?.plugins;
        Ok(Self { hooks, plugins })
    }

    /// Adds the entries of a later adoption.
    pub fn add(&mut self, later: Self) {
        for group in later.hooks {
            if !self.hooks.contains(&group) {
                self.hooks.push(group);
            }
        }
        for name in later.plugins {
            if !self.plugins.contains(&name) {
                self.plugins.push(name);
            }
        }
    }

    /// The text with all of these entries enabled. Entries that are there stay as they are.
    pub fn restore(&self, text: &str) -> Result<String, String> {
        let present = Self::find(text)?;
        let missing: Vec<_> = self.hooks.iter().filter(|group| !present.hooks.contains(group)).collect();
        let plugins: Vec<_> = self.plugins.iter().filter(|name| !present.plugins.contains(name)).collect();
        if missing.is_empty() && plugins.is_empty() {
            return Ok(text.to_owned());
        }
        let document = JsoncDocument::parse(text)?;
        if !missing.is_empty() {
            let hooks = get_or_create_object(document.object(), "hooks")?;
            for LegacyHookGroup { event, group } in missing {
                match find_property(&hooks, event) {
                    Some(found) => {
                        let groups = found.array_value();
                        groups.ok_or_else(|| format!("hooks.{event} is not a list"))?.append(to_input(group));
                    }
                    None => drop(hooks.append(event, CstInputValue::Array(vec![to_input(group)]))),
                }
            }
        }
        if !plugins.is_empty() {
            let enabled = get_or_create_object(document.object(), "enabledPlugins")?;
            for name in plugins {
                match find_property(&enabled, name) {
                    Some(found) => found.set_value(CstInputValue::Bool(true)),
                    None => drop(enabled.append(name, CstInputValue::Bool(true))),
                }
            }
        }
        Ok(document.text())
    }
}

/// The group with only the hooks of the earlier program; `None` if it has none.
fn legacy_part(group: &Value) -> Option<Value> {
    let is_legacy = |hook: &&Value| entry::hook_owner(hook) == EntryOwner::Legacy;
    let hooks: Vec<Value> =
        group["hooks"].as_array().into_iter().flatten().filter(is_legacy).cloned().collect();
    if hooks.is_empty() {
        return None;
    }
    let mut part = group.clone();
    part["hooks"] = Value::Array(hooks);
    Some(part)
}

fn to_input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(on) => CstInputValue::Bool(*on),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(to_input).collect()),
        Value::Object(fields) => CstInputValue::Object(
            fields.iter().map(|(name, value)| (name.clone(), to_input(value))).collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::legacy::{disable_legacy, find_legacy};

    const SETTINGS: &str = r#"{
  "enabledPlugins": { "claude-mem@thedotmack": true },
  "hooks": {
    "Stop": [{ "hooks": [
      { "type": "command", "command": "bell" },
      { "type": "command", "command": "node /x/claude-mem/scripts/summary-hook.js", "timeout": 60 }
    ] }],
    "PostToolUse": [{ "matcher": "Edit|Write", "hooks": [
      { "type": "command", "command": "node /x/claude-mem/scripts/save-hook.js" }
    ] }]
  }
}"#;

    #[test]
    fn disabled_entries_come_back_into_a_changed_file() {
        let entries = LegacyEntries::find(SETTINGS).unwrap();
        assert_eq!(entries.restore(SETTINGS).unwrap(), SETTINGS);
        let off = disable_legacy(SETTINGS).unwrap();
        let changed = off.replacen('{', "{\n  \"model\": \"opus\",", 1);
        let back = entries.restore(&changed).unwrap();
        assert_eq!(find_legacy(&back).unwrap(), find_legacy(SETTINGS).unwrap());
        assert_eq!(LegacyEntries::find(&back).unwrap(), entries, "matchers and timeouts too: {back}");
        assert!(back.contains("bell") && back.contains("\"model\": \"opus\""), "{back}");
        assert_eq!(entries.restore(&back).unwrap(), back);
    }
}
