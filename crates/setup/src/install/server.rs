//! Adds, removes and finds our MCP server in the client's state file, per user or per project.

use jsonc_parser::cst::CstInputValue;
use serde_json::Value;

use super::NAME;
use super::entry::{self, EntryOwner, LaunchSpec};
use super::json::{JsoncDocument, find_property, get_or_create_object, input_to_value, to_value};

/// The path of the servers in the document: the user's, or those of one project.
pub fn servers_path(project: Option<&str>) -> Vec<&str> {
    match project {
        None => vec!["mcpServers"],
        Some(dir) => vec!["projects", dir, "mcpServers"],
    }
}

/// Why our server was not added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerEditError {
    /// Another program's server has our name.
    NameTaken,
    /// The text has another structure than expected.
    Unreadable(String),
}

impl From<String> for ServerEditError {
    fn from(reason: String) -> Self {
        Self::Unreadable(reason)
    }
}

/// The text with our server added.
pub fn add_server(text: &str, project: Option<&str>, launch: &LaunchSpec) -> Result<String, ServerEditError> {
    put_server(text, &servers_path(project), launch.server_entry())
}

/// The text with this entry as our server, in the object at `path`.
pub fn put_server(text: &str, path: &[&str], entry: CstInputValue) -> Result<String, ServerEditError> {
    match server_at(text, path)? {
        Some(server) if server == input_to_value(&entry) => return Ok(text.to_owned()),
        Some(server) if entry::server_owner(&server) == EntryOwner::Foreign => {
            return Err(ServerEditError::NameTaken);
        }
        _ => {}
    }
    let document = JsoncDocument::parse(text)?;
    let mut object = document.object().clone();
    for name in path {
        object = get_or_create_object(&object, name)?;
    }
    match find_property(&object, NAME) {
        Some(there) => there.set_value(entry),
        None => drop(object.append(NAME, entry)),
    }
    Ok(document.text())
}

/// The text without our server. Objects that `before` had are kept, even if they are empty now.
pub fn remove_server(text: &str, project: Option<&str>, before: Option<&str>) -> Result<String, String> {
    remove_server_at(text, &servers_path(project), before)
}

/// The text without our server in the object at `path`.
pub fn remove_server_at(text: &str, path: &[&str], before: Option<&str>) -> Result<String, String> {
    let is_ours = |server: &Value| entry::server_owner(server) == EntryOwner::Ours;
    if !server_at(text, path)?.as_ref().is_some_and(is_ours) {
        return Ok(text.to_owned());
    }
    let document = JsoncDocument::parse(text)?;
    let before = before.and_then(|text| JsoncDocument::parse(text).ok());
    let mut path = path.to_vec();
    path.push(NAME);
    loop {
        remove_property(&document, &path);
        path.pop();
        let had = before.as_ref().is_some_and(|document| document.contains_path(&path));
        if path.is_empty() || had || !is_empty_object(&document, &path) {
            return Ok(document.text());
        }
    }
}

/// The server that is registered under our name.
pub fn registered_server(text: &str, project: Option<&str>) -> Result<Option<Value>, String> {
    server_at(text, &servers_path(project))
}

fn server_at(text: &str, path: &[&str]) -> Result<Option<Value>, String> {
    let document = JsoncDocument::parse(text)?;
    let mut object = document.object().clone();
    for name in path {
        match find_property(&object, name).map(|found| found.object_value()) {
            None => return Ok(None),
            Some(None) => return Err(format!("{name} is not an object")),
            Some(Some(next)) => object = next,
        }
    }
    let found = find_property(&object, NAME).and_then(|server| server.value());
    Ok(found.map(|server| to_value(&server)))
}

fn remove_property(document: &JsoncDocument, path: &[&str]) {
    if let Some(found) = property_at(document, path) {
        found.remove();
    }
}

fn is_empty_object(document: &JsoncDocument, path: &[&str]) -> bool {
    let object = property_at(document, path).and_then(|found| found.object_value());
    object.is_some_and(|object| object.properties().is_empty())
}

fn property_at(document: &JsoncDocument, path: &[&str]) -> Option<jsonc_parser::cst::CstObjectProp> {
    let (last, way) = path.split_last()?;
    let mut object = document.object().clone();
    for name in way {
        object = find_property(&object, name)?.object_value()?;
    }
    find_property(&object, last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::client::ClientCapabilities;

    fn launch() -> LaunchSpec {
        LaunchSpec {
            executable: "/bin/claude-mem".into(),
            data_dir: None,
            capabilities: ClientCapabilities::for_version(None),
        }
    }

    #[test]
    fn server_is_added_once_and_removed_completely() {
        for (state, project) in [
            ("{\n  \"numStartups\": 3,\n  \"mcpServers\": {}\n}", None),
            ("{\n  \"numStartups\": 3\n}", None),
            ("{\n  \"projects\": {\n    \"/p\": {\n      \"allowedTools\": []\n    }\n  }\n}", Some("/p")),
            ("{\"projects\":{}}", Some("/p")),
            ("", None),
            ("{\"mcpServers\":{\"other\":{\"command\":\"x\"}}}", None),
        ] {
            let there = add_server(state, project, &launch()).unwrap();
            assert_eq!(add_server(&there, project, &launch()).unwrap(), there);
            let server = registered_server(&there, project).unwrap().unwrap();
            assert_eq!(server["command"], "/bin/claude-mem");
            let back = remove_server(&there, project, Some(state)).unwrap();
            let value = |text: &str| to_value(&JsoncDocument::parse(text).unwrap().object().clone().into());
            assert_eq!(value(&back), value(state), "{state}");
        }
    }

    #[test]
    fn manual_entry_is_adopted_and_foreign_one_kept() {
        let by_hand = r#"{"mcpServers": {"claude-mem": {"command": "claude-mem", "args": ["mcp"]}}}"#;
        assert!(add_server(by_hand, None, &launch()).unwrap().contains("/bin/claude-mem"));
        let foreign = r#"{"mcpServers": {"claude-mem": {"command": "python", "args": ["x.py"]}}}"#;
        assert_eq!(add_server(foreign, None, &launch()), Err(ServerEditError::NameTaken));
        assert_eq!(remove_server(foreign, None, None).unwrap(), foreign);
    }
}
