//! Our hooks in the text of a client's settings: put in, taken out, looked for.

use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp};
use serde_json::Value;

use super::entry::{self, Launch, Whose};
use super::json::{Document, meaning, meaning_of, object_in, property};

/// A hook that stands in the settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Registered {
    pub event: String,
    pub whose: Whose,
    pub hook: Value,
}

/// The text with exactly our hooks for this client in it. The error is a reason for people.
pub fn with(text: &str, launch: &Launch) -> Result<String, String> {
    let document = Document::parse(text)?;
    let events = launch.abilities.events();
    let hooks = object_in(document.object(), "hooks")?;
    for name in names(&hooks) {
        // Also an empty list under a name that the client does not know would be too much.
        if !events.contains(&name.as_str()) && remove_from(&hooks, &name, Whose::Ours)? {
            remove_if_empty(&hooks, &name)?;
        }
    }
    for event in events {
        put(&hooks, event, &launch.group(event))?;
    }
    Ok(document.text())
}

/// The text without the hooks of one kind. What `before` had stays, even if it is empty now.
pub fn without(text: &str, whose: Whose, before: Option<&str>) -> Result<String, String> {
    let document = Document::parse(text)?;
    let before = before.and_then(|text| Document::parse(text).ok());
    let had = |path: &[&str]| before.as_ref().is_some_and(|document| document.has(path));
    let Some(found) = property(document.object(), "hooks") else {
        return Ok(text.to_owned());
    };
    let hooks = found.object_value().ok_or("hooks is not an object")?;
    let mut changed = false;
    for name in names(&hooks) {
        if !remove_from(&hooks, &name, whose)? {
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
    Ok(if changed {
        document.text()
    } else {
        text.to_owned()
    })
}

/// Every command hook in the text.
pub fn registered(text: &str) -> Result<Vec<Registered>, String> {
    let document = Document::parse(text)?;
    let Some(hooks) = property(document.object(), "hooks").and_then(|p| p.object_value()) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for event in names(&hooks) {
        for group in array(&hooks, &event)?.iter().flat_map(CstArray::elements) {
            let inner = meaning(&group)["hooks"].take();
            for hook in inner.as_array().into_iter().flatten() {
                found.push(Registered {
                    event: event.clone(),
                    whose: entry::whose(hook),
                    hook: hook.clone(),
                });
            }
        }
    }
    Ok(found)
}

fn names(hooks: &CstObject) -> Vec<String> {
    let properties = hooks.properties();
    properties
        .iter()
        .filter_map(CstObjectProp::decoded_name)
        .collect()
}

/// The groups of one event, `None` where it has none.
fn array(hooks: &CstObject, event: &str) -> Result<Option<CstArray>, String> {
    let Some(found) = property(hooks, event) else {
        return Ok(None);
    };
    let groups = found.array_value();
    groups
        .map(Some)
        .ok_or_else(|| format!("hooks.{event} is not a list"))
}

fn remove_if_empty(hooks: &CstObject, event: &str) -> Result<(), String> {
    let is_empty = array(hooks, event)?.is_some_and(|groups| groups.elements().is_empty());
    if let Some(found) = property(hooks, event).filter(|_| is_empty) {
        found.remove();
    }
    Ok(())
}

/// Puts our group in, in the place of the one that stood there.
fn put(hooks: &CstObject, event: &str, group: &CstInputValue) -> Result<(), String> {
    let Some(groups) = array(hooks, event)? else {
        hooks.append(event, CstInputValue::Array(vec![group.clone()]));
        return Ok(());
    };
    let ours: Vec<_> = groups
        .elements()
        .into_iter()
        .filter(|group| hooks_in(&meaning(group)).any(|hook| entry::whose(hook) == Whose::Ours))
        .collect();
    if let [only] = &ours[..] {
        let is = meaning(only);
        if is == meaning_of(group) {
            return Ok(());
        }
        let alone = hooks_in(&is).all(|hook| entry::whose(hook) == Whose::Ours);
        if let Some(node) = only.as_object().filter(|_| alone) {
            node.replace_with(group.clone());
            return Ok(());
        }
    }
    remove_from(hooks, event, Whose::Ours)?;
    groups.append(group.clone());
    Ok(())
}

fn hooks_in(group: &Value) -> impl Iterator<Item = &Value> {
    group["hooks"].as_array().into_iter().flatten()
}

/// Takes the hooks of one kind out of an event; a group that held nothing else goes with them.
fn remove_from(hooks: &CstObject, event: &str, whose: Whose) -> Result<bool, String> {
    let Some(groups) = array(hooks, event)? else {
        return Ok(false);
    };
    let mut changed = false;
    for group in groups.elements().iter().filter_map(CstNode::as_object) {
        let Some(inner) = property(&group, "hooks").and_then(|p| p.array_value()) else {
            continue;
        };
        let elements = inner.elements();
        let is_meant = |hook: &&CstNode| entry::whose(&meaning(hook)) == whose;
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
