//! `settings.json` as a file: read leniently, edited without touching what is not ours.
//!
//! Comments, order, unknown keys and the indentation survive an edit. The file is replaced in one
//! step, so that a hook that starts meanwhile reads the old one or the new one, never half of it; and
//! by one at a time, so that of two changes at once neither is lost.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jsonc_parser::cst::{CstInputValue, CstRootNode};
use jsonc_parser::{CollectOptions, ParseOptions, ast};
use rustix::fs::FlockOperation;
use rustix::io::Errno;

use super::kind::{Raw, Value};
use crate::limits::{SETTINGS_BYTES_MAX, SETTINGS_LOCK_SECONDS_MAX};
use crate::paths;

pub const FILE_NAME: &str = "settings.json";

/// Why the file was not changed.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error("{path} is not JSON ({reason}); mend or move it first, nothing was changed", path = path.display())]
    NotJson { path: PathBuf, reason: String },
    #[error("{path}: {source}", path = path.display())]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },
}

/// The text of the file, or nothing where there is none.
pub(super) fn read(data_dir: &Path) -> std::io::Result<Option<String>> {
    read_path(&data_dir.join(FILE_NAME))
}

fn read_path(path: &Path) -> std::io::Result<Option<String>> {
    let Some(file) = crate::paths::open_file_if_any(path)? else {
        return Ok(None);
    };
    let mut text = String::new();
    let mut bounded = std::io::Read::take(file, SETTINGS_BYTES_MAX as u64 + 1);
    std::io::Read::read_to_string(&mut bounded, &mut text)?;
    if text.len() > SETTINGS_BYTES_MAX {
        return Err(std::io::Error::other("it is too long"));
    }
    Ok(Some(text))
}

/// The top-level properties in their order. An empty file is an empty object.
pub(super) fn properties(text: &str) -> Result<Vec<(String, Raw)>, String> {
    let text = text.trim_start_matches('\u{feff}');
    let parsed =
        jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default())
            .map_err(|error| error.to_string())?;
    match parsed.value {
        None => Ok(Vec::new()),
        Some(ast::Value::Object(object)) => Ok(object
            .properties
            .into_iter()
            .map(|property| (property.name.into_string(), raw(&property.value)))
            .collect()),
        Some(_) => Err("an object was expected".to_owned()),
    }
}

fn raw(value: &ast::Value<'_>) -> Raw {
    match value {
        ast::Value::Array(array) => array
            .elements
            .iter()
            .map(scalar)
            .collect::<Option<Vec<_>>>()
            .map_or(Raw::Other, Raw::List),
        ast::Value::NullKeyword(_) => Raw::Null,
        other => scalar(other).map_or(Raw::Other, Raw::Text),
    }
}

fn scalar(value: &ast::Value<'_>) -> Option<String> {
    match value {
        ast::Value::StringLit(text) => Some(text.value.to_string()),
        ast::Value::NumberLit(number) => Some(number.value.to_owned()),
        ast::Value::BooleanLit(boolean) => Some(boolean.value.to_string()),
        ast::Value::Object(_) | ast::Value::Array(_) | ast::Value::NullKeyword(_) => None,
    }
}

/// One change of the file.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    Set(&'a str, &'a Value),
    /// Takes these names out.
    Unset(&'a [String]),
}

/// The file, opened to be edited.
#[derive(Debug)]
pub struct SettingsFile {
    path: PathBuf,
}

impl SettingsFile {
    pub fn of(data_dir: &Path) -> Self {
        Self {
            path: data_dir.join(FILE_NAME),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn set(&self, name: &str, value: &Value) -> Result<(), WriteError> {
        self.apply(&[Change::Set(name, value)]).map(drop)
    }

    /// Takes all of these names out. True if there was one.
    pub fn unset(&self, names: &[String]) -> Result<bool, WriteError> {
        self.apply(&[Change::Unset(names)])
    }

    /// All of these changes or none, in one step. True if something was taken out.
    pub fn apply(&self, changes: &[Change<'_>]) -> Result<bool, WriteError> {
        let mut found = false;
        self.edit(|text| {
            let mut text = text.to_owned();
            for change in changes {
                text = match change {
                    Change::Set(name, value) => with(&text, name, value)?,
                    Change::Unset(names) => {
                        let (text, any) = without(&text, names)?;
                        found |= any;
                        text
                    }
                };
            }
            Ok(text)
        })?;
        Ok(found)
    }

    fn edit(&self, change: impl FnOnce(&str) -> Result<String, String>) -> Result<(), WriteError> {
        // A link stays a link: people keep such files in a repository of their own.
        let path = std::fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let io = |source| WriteError::Io {
            path: path.clone(),
            source,
        };
        // From the reading to the renaming: what another one changes between the two is kept.
        let _alone = alone(&self.path).map_err(io)?;
        let before = read_path(&path).map_err(io)?.unwrap_or_default();
        let after = change(&before).map_err(|reason| WriteError::NotJson {
            path: path.clone(),
            reason,
        })?;
        if after == before {
            return Ok(());
        }
        paths::replace_file(&path, after.as_bytes()).map_err(io)
    }
}

/// Waits until nobody else changes the file, in this process or another one. The kernel takes the
/// lock back from whoever dies.
fn alone(settings: &Path) -> std::io::Result<File> {
    let file = paths::append_file(&settings.with_extension("lock"))?;
    let until = Instant::now() + Duration::from_secs(SETTINGS_LOCK_SECONDS_MAX);
    loop {
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(Errno::WOULDBLOCK) if Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(Errno::WOULDBLOCK) => {
                let what = "another program has been changing it for too long";
                return Err(std::io::Error::new(ErrorKind::TimedOut, what));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn with(text: &str, name: &str, value: &Value) -> Result<String, String> {
    let root = parse(text)?;
    let object = root.object_value_or_set();
    let value = input(value);
    match object.properties().into_iter().rfind(|p| named(p, name)) {
        Some(property) => property.set_value(value),
        None => {
            object.append(name, value);
        }
    }
    object.ensure_multiline();
    Ok(ended(root.to_string()))
}

fn without(text: &str, names: &[String]) -> Result<(String, bool), String> {
    let root = parse(text)?;
    let mut any = false;
    for property in root.object_value_or_set().properties() {
        if names.iter().any(|name| named(&property, name)) {
            property.remove();
            any = true;
        }
    }
    Ok((
        if any {
            ended(root.to_string())
        } else {
            text.to_owned()
        },
        any,
    ))
}

fn parse(text: &str) -> Result<CstRootNode, String> {
    // `properties` refuses what is not an object, which the editor would overwrite.
    properties(text)?;
    let text = text.trim_start_matches('\u{feff}');
    CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| error.to_string())
}

fn named(property: &jsonc_parser::cst::CstObjectProp, name: &str) -> bool {
    property.decoded_name().as_deref() == Some(name)
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Switch(on) => CstInputValue::Bool(*on),
        Value::Number(n) => CstInputValue::Number(n.to_string()),
        Value::Text(text) => CstInputValue::String(text.clone()),
        Value::Secret(secret) => CstInputValue::String(secret.expose().to_owned()),
        Value::List(items) => CstInputValue::Array(
            items
                .iter()
                .map(|item| CstInputValue::String(item.clone()))
                .collect(),
        ),
    }
}

fn ended(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
