//! Adds, removes and finds hooks in the text of a client's settings.

use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp};
use serde_json::Value;

use super::entry::{self, EntryOwner, LaunchSpec};
use super::json::{JsoncDocument, find_property, get_or_create_object, input_to_value, to_value};

/// A hook found in the settings.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisteredHook {
    pub event: String,
    pub owner: EntryOwner,
    pub hook: Value,
}

/// The text with exactly the hooks of this client added. The error is a reason for the user.
pub fn add_hooks(text: &str, launch: &LaunchSpec) -> Result<String, String> {
    let events = launch.capabilities.events().into_iter();
    let groups: Vec<_> = events.map(|event| (event, launch.hook_group(event))).collect();
    add_hook_groups(text, &groups)
}

/// The text with exactly these groups of ours, by event. The error is a reason for the user.
pub fn add_hook_groups(text: &str, groups: &[(&str, CstInputValue)]) -> Result<String, String> {
    let document = JsoncDocument::parse(text)?;
    let hooks = get_or_create_object(document.object(), "hooks")?;
    for name in event_names(&hooks) {
        // Even an empty list under an unknown event name can disable all hooks.
        let is_known = groups.iter().any(|(event, _)| *event == name);
        if !is_known && remove_owned(&hooks, &name, EntryOwner::Ours)? {
            remove_if_empty(&hooks, &name)?;
        }
    }
    for (event, group) in groups {
        put_group(&hooks, event, group)?;
    }
    Ok(document.text())
}

/// The text without the hooks of one owner. Lists that `before` had are kept, even if empty now.
pub fn remove_hooks(text: &str, whose: EntryOwner, before: Option<&str>) -> Result<String, String> {
    let document = JsoncDocument::parse(text)?;
    let before = before.and_then(|text| JsoncDocument::parse(text).ok());
    let had = |path: &[&str]| before.as_ref().is_some_and(|document| document.contains_path(path));
    let Some(found) = find_property(document.object(), "hooks") else {
        return Ok(text.to_owned());
    };
    let hooks = found.object_value().ok_or("hooks is not an object")?;
    let mut changed = false;
    for name in event_names(&hooks) {
        if !remove_owned(&hooks, &name, whose)? {
            continue;
        }
        changed = true;
        if !had(&["hooks", &name]) {
            remove_if_empty(&hooks, &name)?;
        }
    }
    if changed && hooks.properties().is_empty() && !had(&["hooks"]) {
        found.remove();
    }
    Ok(if changed { document.text() } else { text.to_owned() })
}

/// Every command hook in the text.
pub fn registered_hooks(text: &str) -> Result<Vec<RegisteredHook>, String> {
    let document = JsoncDocument::parse(text)?;
    let Some(hooks) = find_property(document.object(), "hooks").and_then(|p| p.object_value()) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for event in event_names(&hooks) {
        for group in event_groups(&hooks, &event)?.iter().flat_map(CstArray::elements) {
            let inner = to_value(&group)["hooks"].take();
            for hook in inner.as_array().into_iter().flatten() {
                found.push(RegisteredHook {
                    event: event.clone(),
                    owner: entry::hook_owner(hook),
                    hook: hook.clone(),
                });
            }
        }
    }
    Ok(found)
}

fn event_names(hooks: &CstObject) -> Vec<String> {
    let properties = hooks.properties();
    properties.iter().filter_map(CstObjectProp::decoded_name).collect()
}

/// The hook groups of an event, `None` if it has none.
fn event_groups(hooks: &CstObject, event: &str) -> Result<Option<CstArray>, String> {
    let Some(found) = find_property(hooks, event) else {
        return Ok(None);
    };
    let groups = found.array_value();
    groups.map(Some).ok_or_else(|| format!("hooks.{event} is not a list"))
}

fn remove_if_empty(hooks: &CstObject, event: &str) -> Result<(), String> {
    let is_empty = event_groups(hooks, event)?.is_some_and(|groups| groups.elements().is_empty());
    if let Some(found) = find_property(hooks, event).filter(|_| is_empty) {
        found.remove();
    }
    Ok(())
}

/// Adds our group, in place of our old one if there is one.
fn put_group(hooks: &CstObject, event: &str, group: &CstInputValue) -> Result<(), String> {
    let Some(groups) = event_groups(hooks, event)? else {
        hooks.append(event, CstInputValue::Array(vec![group.clone()]));
        return Ok(());
    };
    let ours: Vec<_> = groups
        .elements()
        .into_iter()
        .filter(|group| hooks_in(&to_value(group)).any(|hook| entry::hook_owner(hook) == EntryOwner::Ours))
        .collect();
    if let [only] = &ours[..] {
        let is = to_value(only);
        if is == input_to_value(group) {
            return Ok(());
        }
        let alone = hooks_in(&is).all(|hook| entry::hook_owner(hook) == EntryOwner::Ours);
        if let Some(node) = only.as_object().filter(|_| alone) {
            node.replace_with(group.clone());
            return Ok(());
        }
    }
    remove_owned(hooks, event, EntryOwner::Ours)?;
    groups.append(group.clone());
    Ok(())
}

fn hooks_in(group: &Value) -> impl Iterator<Item = &Value> {
    group["hooks"].as_array().into_iter().flatten()
}

/// Removes the hooks of one owner from an event, and groups that become empty.
fn remove_owned(hooks: &CstObject, event: &str, whose: EntryOwner) -> Result<bool, String> {
    let Some(groups) = event_groups(hooks, event)? else {
        return Ok(false);
    };
    let mut changed = false;
    for group in groups.elements().iter().filter_map(CstNode::as_object) {
        let Some(inner) = find_property(&group, "hooks").and_then(|p| p.array_value()) else {
            continue;
        };
        let elements = inner.elements();
        let is_meant = |hook: &&CstNode| entry::hook_owner(&to_value(hook)) == whose;
        let meant: Vec<_> = elements.iter().filter(is_meant).cloned().collect();
        if meant.is_empty() {
            continue;
        }
        changed = true;
        if meant.len() == elements.len() {
            group.remove();
        } else {
            meant.into_iter().for_each(CstNode::remove);
        }
    }
    Ok(changed)
}

#[cfg(test)]
#[path = "hooks_tests.rs"]
mod tests;
