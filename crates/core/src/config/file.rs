//! `settings.json`: parsed leniently, edited without touching anything else.
//!
//! An edit keeps comments, order, unknown keys and indentation. The file is replaced atomically, so
//! that a hook never reads half of it, and under a lock, so that concurrent edits are not lost.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jsonc_parser::cst::{CstInputValue, CstRootNode};
use jsonc_parser::{CollectOptions, ParseOptions, ast};
use rustix::fs::FlockOperation;
use rustix::io::Errno;

use super::kind::{RawSetting, SettingValue};
use crate::paths;

/// Maximum seconds that a change of the settings waits for a concurrent one.
const SETTINGS_LOCK_SECONDS_MAX: u64 = 5;

/// Maximum bytes of `settings.json`. A larger file was not written by a person.
pub(crate) const SETTINGS_BYTES_MAX: usize = 1 << 20;

pub use crate::paths::SETTINGS_NAME as FILE_NAME;

/// Why the file was not changed.
#[derive(Debug, thiserror::Error)]
pub enum SettingsWriteError {
    #[error("{path} is not valid JSON ({reason}); fix or move it first; nothing was changed", path = path.display())]
    NotJson { path: PathBuf, reason: String },
    #[error("{path}: {source}", path = path.display())]
    Io { path: PathBuf, source: std::io::Error },
}

/// The text of the file; `None` if it does not exist.
pub fn read(data_dir: &Path) -> std::io::Result<Option<String>> {
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
        return Err(std::io::Error::other("the file is too large"));
    }
    Ok(Some(text))
}

/// The top-level properties in order. An empty file is an empty object.
pub(super) fn properties(text: &str) -> Result<Vec<(String, RawSetting)>, String> {
    let text = text.trim_start_matches('\u{feff}');
    let parsed = jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default())
        .map_err(|error| error.to_string())?;
    match parsed.value {
        None => Ok(Vec::new()),
        Some(ast::Value::Object(object)) => Ok(object
            .properties
            .into_iter()
            .map(|property| (property.name.into_string(), to_raw(&property.value)))
            .collect()),
        Some(_) => Err("expected an object".to_owned()),
    }
}

fn to_raw(value: &ast::Value<'_>) -> RawSetting {
    match value {
        ast::Value::Array(array) => array
            .elements
            .iter()
            .map(scalar_text)
            .collect::<Option<Vec<_>>>()
            .map_or(RawSetting::Other, RawSetting::List),
        ast::Value::NullKeyword(_) => RawSetting::Null,
        other => scalar_text(other).map_or(RawSetting::Other, RawSetting::Text),
    }
}

fn scalar_text(value: &ast::Value<'_>) -> Option<String> {
    match value {
        ast::Value::StringLit(text) => Some(text.value.to_string()),
        ast::Value::NumberLit(number) => Some(number.value.to_owned()),
        ast::Value::BooleanLit(boolean) => Some(boolean.value.to_string()),
        ast::Value::Object(_) | ast::Value::Array(_) | ast::Value::NullKeyword(_) => None,
    }
}

/// One change of the file.
#[derive(Clone, Copy, Debug)]
pub enum SettingsChange<'a> {
    Set(&'a str, &'a SettingValue),
    /// Removes these properties.
    Unset(&'a [String]),
}

/// The file, for editing.
#[derive(Debug)]
pub struct SettingsFile {
    path: PathBuf,
}

impl SettingsFile {
    pub fn in_dir(data_dir: &Path) -> Self {
        Self { path: data_dir.join(FILE_NAME) }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn set(&self, name: &str, value: &SettingValue) -> Result<(), SettingsWriteError> {
        self.apply(&[SettingsChange::Set(name, value)]).map(drop)
    }

    /// Removes these properties. True if there was one.
    pub fn unset(&self, names: &[String]) -> Result<bool, SettingsWriteError> {
        self.apply(&[SettingsChange::Unset(names)])
    }

    /// Applies all changes or none, atomically. True if a property was removed.
    pub fn apply(&self, changes: &[SettingsChange<'_>]) -> Result<bool, SettingsWriteError> {
        let mut found = false;
        self.edit(|text| {
            let mut text = text.to_owned();
            for change in changes {
                text = match change {
                    SettingsChange::Set(name, value) => set_property(&text, name, value)?,
                    SettingsChange::Unset(names) => {
                        let (text, any) = remove_properties(&text, names)?;
                        found |= any;
                        text
                    }
                };
            }
            Ok(text)
        })?;
        Ok(found)
    }

    fn edit(&self, change: impl FnOnce(&str) -> Result<String, String>) -> Result<(), SettingsWriteError> {
        // Keep a symlink: users keep such files in a repository of their own. A missing file has no other path, and
        // a link to nowhere fails when it is read.
        let path = std::fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let io = |source| SettingsWriteError::Io { path: path.clone(), source };
        // Locked from reading to renaming, so that no concurrent change is lost.
        let _alone = lock_for_edit(&self.path).map_err(io)?;
        let before = read_path(&path).map_err(io)?.unwrap_or_default();
        let after =
            change(&before).map_err(|reason| SettingsWriteError::NotJson { path: path.clone(), reason })?;
        if after == before {
            return Ok(());
        }
        paths::replace_file(&path, after.as_bytes()).map_err(io)
    }
}

/// Waits for the exclusive lock on the settings, across threads and processes. The kernel releases
/// the lock of a process that dies.
fn lock_for_edit(settings: &Path) -> std::io::Result<File> {
    let file = paths::append_file(&settings.with_extension("lock"))?;
    let until = Instant::now() + Duration::from_secs(SETTINGS_LOCK_SECONDS_MAX);
    loop {
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(Errno::WOULDBLOCK) if Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(Errno::WOULDBLOCK) => {
                let what = "timed out waiting for another process to finish its change";
                return Err(std::io::Error::new(ErrorKind::TimedOut, what));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn set_property(text: &str, name: &str, value: &SettingValue) -> Result<String, String> {
    let root = parse(text)?;
    let object = root.object_value_or_set();
    let value = to_cst_input(value);
    match object.properties().into_iter().rfind(|p| has_name(p, name)) {
        Some(property) => property.set_value(value),
        None => {
            object.append(name, value);
        }
    }
    object.ensure_multiline();
    Ok(with_trailing_newline(root.to_string()))
}

fn remove_properties(text: &str, names: &[String]) -> Result<(String, bool), String> {
    let root = parse(text)?;
    let mut any = false;
    for property in root.object_value_or_set().properties() {
        if names.iter().any(|name| has_name(&property, name)) {
            property.remove();
            any = true;
        }
    }
    Ok((if any { with_trailing_newline(root.to_string()) } else { text.to_owned() }, any))
}

fn parse(text: &str) -> Result<CstRootNode, String> {
    // `properties` rejects non-objects, which the CST editor would overwrite.
    properties(text)?;
    let text = text.trim_start_matches('\u{feff}');
    CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| error.to_string())
}

fn has_name(property: &jsonc_parser::cst::CstObjectProp, name: &str) -> bool {
    property.decoded_name().as_deref() == Some(name)
}

fn to_cst_input(value: &SettingValue) -> CstInputValue {
    match value {
        SettingValue::Switch(on) => CstInputValue::Bool(*on),
        SettingValue::Number(n) => CstInputValue::Number(n.to_string()),
        SettingValue::Text(text) => CstInputValue::String(text.clone()),
        SettingValue::Secret(secret) => CstInputValue::String(secret.expose().to_owned()),
        SettingValue::List(items) => {
            CstInputValue::Array(items.iter().map(|item| CstInputValue::String(item.clone())).collect())
        }
    }
}

fn with_trailing_newline(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
