//! Our server in the text of the client's own state: for the user, or for one project of theirs.

use serde_json::Value;

use super::NAME;
use super::entry::{self, Launch, Whose};
use super::json::{Document, meaning, meaning_of, object_in, property};

/// Where in the text servers stand: the user's, or those of the user in one project.
pub fn way(project: Option<&str>) -> Vec<&str> {
    match project {
        None => vec!["mcpServers"],
        Some(dir) => vec!["projects", dir, "mcpServers"],
    }
}

/// Why ours was not put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Somebody else's server has our name.
    Taken,
    /// The text is not what it should be.
    Unreadable(String),
}

impl From<String> for Refused {
    fn from(reason: String) -> Self {
        Self::Unreadable(reason)
    }
}

/// The text with our server in it.
pub fn with(text: &str, project: Option<&str>, launch: &Launch) -> Result<String, Refused> {
    match registered(text, project)? {
        Some(server) if server == meaning_of(&launch.server()) => return Ok(text.to_owned()),
        Some(server) if entry::whose_server(&server) == Whose::Foreign => {
            return Err(Refused::Taken);
        }
        _ => {}
    }
    let document = Document::parse(text)?;
    let mut object = document.object().clone();
    for name in way(project) {
        object = object_in(&object, name)?;
    }
    match property(&object, NAME) {
        Some(there) => there.set_value(launch.server()),
        None => drop(object.append(NAME, launch.server())),
    }
    Ok(document.text())
}

/// The text without our server. Containers that `before` had stay, even if they are empty now.
pub fn without(text: &str, project: Option<&str>, before: Option<&str>) -> Result<String, String> {
    let is_ours = |server: &Value| entry::whose_server(server) == Whose::Ours;
    if !registered(text, project)?.as_ref().is_some_and(is_ours) {
        return Ok(text.to_owned());
    }
    let document = Document::parse(text)?;
    let before = before.and_then(|text| Document::parse(text).ok());
    let mut path = way(project);
    path.push(NAME);
    loop {
        remove(&document, &path);
        path.pop();
        let had = before.as_ref().is_some_and(|document| document.has(&path));
        if path.is_empty() || had || !is_empty(&document, &path) {
            return Ok(document.text());
        }
    }
}

/// What stands under our name.
pub fn registered(text: &str, project: Option<&str>) -> Result<Option<Value>, String> {
    let document = Document::parse(text)?;
    let mut object = document.object().clone();
    for name in way(project) {
        match property(&object, name).map(|found| found.object_value()) {
            None => return Ok(None),
            Some(None) => return Err(format!("{name} is not an object")),
            Some(Some(next)) => object = next,
        }
    }
    let found = property(&object, NAME).and_then(|server| server.value());
    Ok(found.map(|server| meaning(&server)))
}

fn remove(document: &Document, path: &[&str]) {
    if let Some(found) = at(document, path) {
        found.remove();
    }
}

fn is_empty(document: &Document, path: &[&str]) -> bool {
    let object = at(document, path).and_then(|found| found.object_value());
    object.is_some_and(|object| object.properties().is_empty())
}

fn at(document: &Document, path: &[&str]) -> Option<jsonc_parser::cst::CstObjectProp> {
    let (last, way) = path.split_last()?;
    let mut object = document.object().clone();
    for name in way {
        object = property(&object, name)?.object_value()?;
    }
    property(&object, last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::client::Abilities;

    fn launch() -> Launch {
        Launch {
            executable: "/bin/claude-mem".into(),
            data_dir: None,
            abilities: Abilities::of(None),
        }
    }

    #[test]
    fn it_goes_in_once_and_out_without_a_trace() {
        for (state, project) in [
            ("{\n  \"numStartups\": 3,\n  \"mcpServers\": {}\n}", None),
            ("{\n  \"numStartups\": 3\n}", None),
            (
                "{\n  \"projects\": {\n    \"/p\": {\n      \"allowedTools\": []\n    }\n  }\n}",
                Some("/p"),
            ),
            ("{\"projects\":{}}", Some("/p")),
            ("", None),
            ("{\"mcpServers\":{\"other\":{\"command\":\"x\"}}}", None),
        ] {
            let there = with(state, project, &launch()).unwrap();
            assert_eq!(with(&there, project, &launch()).unwrap(), there);
            let server = registered(&there, project).unwrap().unwrap();
            assert_eq!(server["command"], "/bin/claude-mem");
            let back = without(&there, project, Some(state)).unwrap();
            let value =
                |text: &str| meaning(&Document::parse(text).unwrap().object().clone().into());
            assert_eq!(value(&back), value(state), "{state}");
        }
    }

    #[test]
    fn one_that_was_added_by_hand_becomes_ours_and_a_foreign_one_does_not() {
        let by_hand =
            r#"{"mcpServers": {"claude-mem": {"command": "claude-mem", "args": ["mcp"]}}}"#;
        assert!(
            with(by_hand, None, &launch())
                .unwrap()
                .contains("/bin/claude-mem")
        );
        let foreign = r#"{"mcpServers": {"claude-mem": {"command": "python", "args": ["x.py"]}}}"#;
        assert_eq!(with(foreign, None, &launch()), Err(Refused::Taken));
        assert_eq!(without(foreign, None, None).unwrap(), foreign);
    }
}
