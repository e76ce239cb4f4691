//! The user's settings: typed, and loading never fails.
//!
//! [`load`] reads `settings.json` and the environment and returns [`LoadedSettings`]: the typed
//! [`Settings`], the source of each value, and warnings to show.
//!
//! Invariant: loading always yields usable settings. An unreadable value is a warning, and the next
//! source counts: the environment, then the file, then the default. Only a setting that
//! [`SettingKey::is_per_session`] can come from the environment. An unknown key is a warning
//! with a suggestion and stays in the file. This module prints nothing and does not read the
//! process environment, which the caller passes in.

mod file;
mod keys;
mod kind;
mod older;
mod reference;
mod worker_variables;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

pub use file::{FILE_NAME, SettingsChange, SettingsFile, SettingsWriteError, read as read_text};
pub use keys::{KEYS, Provider, SettingKey, Settings, VARIABLES, WorkerStart, key};
pub use kind::{RawSetting, SecretString, SettingKind, SettingValue};
pub use reference::markdown as reference_markdown;
pub use worker_variables::{WORKER_VARIABLES, worker_environment};

/// Where a setting's value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SettingSource {
    Default,
    File,
    Environment,
}

/// A part of the settings that has no effect, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsWarning {
    /// `settings.json`, or the variable's name.
    pub place: String,
    pub message: String,
    /// The property of the file that the warning is about, if any.
    pub entry: Option<String>,
}

impl SettingsWarning {
    /// The command that fixes it.
    pub fn fix_command(&self) -> String {
        match &self.entry {
            Some(name) => format!("claude-mem config unset {name}"),
            None if self.place == FILE_NAME => "claude-mem config".to_owned(),
            None => format!("unset {}", self.place),
        }
    }
}

impl std::fmt::Display for SettingsWarning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// Settings with the source of each value.
#[derive(Clone, Debug)]
pub struct LoadedSettings {
    pub settings: Settings,
    values: BTreeMap<&'static str, (SettingValue, SettingSource)>,
    pub warnings: Vec<SettingsWarning>,
    /// The file exists and cannot be read: it is unknown what it would ignore or switch off.
    pub file_unreadable: bool,
    /// Keys with an unreadable value. `null` counts as no value.
    refused: BTreeSet<&'static str>,
}

impl LoadedSettings {
    /// Whether an ignore rule was given that cannot be read. Then the caller must not go on as if
    /// there was no rule.
    pub fn has_unreadable_ignore_rules(&self) -> bool {
        let rules = ["ignore_projects", "ignore_paths"];
        rules.iter().any(|name| self.refused.contains(name))
    }

    /// The effective value and its source.
    pub fn get(&self, key: &SettingKey) -> (SettingValue, SettingSource) {
        match self.values.get(key.name) {
            Some((value, source)) => (value.clone(), *source),
            None => (default_value(key), SettingSource::Default),
        }
    }
}

/// Loads the settings of a data directory. `env` looks up a variable by name.
pub fn load(data_dir: &Path, env: impl Fn(&str) -> Option<String>) -> LoadedSettings {
    let mut warnings = Vec::new();
    let mut file_unreadable = false;
    let text = file::read(data_dir).unwrap_or_else(|error| {
        file_unreadable = true;
        warnings.push(file_warning(format!("cannot be read ({error}); the defaults apply")));
        None
    });
    let mut loaded = from_text(text.as_deref(), env);
    warnings.append(&mut loaded.warnings);
    LoadedSettings { file_unreadable: file_unreadable || loaded.file_unreadable, warnings, ..loaded }
}

/// Like [`load`], with the text of the file.
pub fn from_text(text: Option<&str>, env: impl Fn(&str) -> Option<String>) -> LoadedSettings {
    let mut layers = SettingLayers::default();
    let mut file_unreadable = false;
    match text.map(file::properties) {
        None => {}
        Some(Ok(properties)) => layers.apply_file(&properties),
        Some(Err(reason)) => {
            file_unreadable = true;
            layers.warn_file(format!("is not valid JSON ({reason}); the defaults apply"));
        }
    }
    layers.apply_environment(env);
    let SettingLayers { values, warnings, refused } = layers;
    let typed = Settings::from_values(|key| match values.get(key.name) {
        Some((value, _)) => value.clone(),
        None => default_value(key),
    });
    LoadedSettings { settings: typed.unwrap_or_default(), values, warnings, file_unreadable, refused }
}

/// Warnings for variables with our prefix that are not settings.
pub fn unknown_variables<'a>(names: impl Iterator<Item = &'a str>) -> Vec<SettingsWarning> {
    names
        .filter(|name| name.starts_with("CLAUDE_MEM_"))
        .filter(|name| older::find_key(name).is_none() && !older::is_legacy_name(name))
        .filter(|name| VARIABLES.iter().all(|(known, _)| known != name))
        .map(|name| SettingsWarning {
            place: name.to_owned(),
            message: format!("is not a setting{}", suggestion(&name["CLAUDE_MEM_".len()..])),
            entry: None,
        })
        .collect()
}

/// `; did you mean context_tokens?`, or an empty string.
pub fn suggestion(typed: &str) -> String {
    crate::suggest::did_you_mean(typed, KEYS.iter().map(|key| key.name))
}

impl Default for Settings {
    fn default() -> Self {
        match Self::from_values(default_value) {
            Some(settings) => settings,
            None => unreachable!("every_default_is_valid_and_typed"),
        }
    }
}

fn default_value(key: &SettingKey) -> SettingValue {
    let raw = RawSetting::Text(key.default.to_owned());
    key.kind.read(&raw).unwrap_or_else(|_| SettingValue::Text(String::new()))
}

/// The warning about a variable that would configure the worker of all projects.
fn no_effect_in_environment(key: &SettingKey, variable: String) -> SettingsWarning {
    let message = format!(
        "has no effect: one session does not configure the worker of all projects; \
         `claude-mem config set {}`",
        key.name
    );
    SettingsWarning { place: variable, message, entry: None }
}

fn file_warning(message: String) -> SettingsWarning {
    SettingsWarning { place: FILE_NAME.to_owned(), message, entry: None }
}

/// Values collected so far, weakest source first.
#[derive(Default)]
struct SettingLayers {
    values: BTreeMap<&'static str, (SettingValue, SettingSource)>,
    warnings: Vec<SettingsWarning>,
    refused: BTreeSet<&'static str>,
}

impl SettingLayers {
    /// Applies the file. Our own names win over legacy ones, wherever they are in the file.
    fn apply_file(&mut self, properties: &[(String, RawSetting)]) {
        let find = |name: &str| properties.iter().rev().find(|(known, _)| known == name);
        let older = older::translate(|name| match find(name) {
            Some((_, RawSetting::Text(text))) => Some(text.clone()),
            Some((_, RawSetting::List(items))) => Some(items.join(",")),
            Some((_, RawSetting::Null | RawSetting::Other)) | None => None,
        });
        for (name, raw) in properties {
            if let (Some(key), RawSetting::Other) = (older::find_key(name), raw) {
                let message = format!("{name} must be {}", key.kind.expects());
                self.warn_entry(name, message);
                self.refused.insert(key.name);
            }
        }
        // The first translation of a key is the closest one, so it is applied last.
        for (name, text) in older.into_iter().rev() {
            self.set(name, &RawSetting::Text(text), FILE_NAME, SettingSource::File);
        }
        for (name, raw) in properties {
            if let Some(key) = key(name) {
                self.set(key.name, raw, FILE_NAME, SettingSource::File);
            } else if older::find_key(name).is_none() && !older::is_legacy_name(name) {
                let hint = suggestion(name.strip_prefix("CLAUDE_MEM_").unwrap_or(name));
                self.warn_entry(name, format!("{name} is not a setting{hint}"));
            }
        }
        let data_dir = "CLAUDE_MEM_DATA_DIR";
        if find(data_dir).is_some() {
            let message = "has no effect in this file; set it in the environment";
            self.warn_entry(data_dir, format!("{data_dir} {message}"));
        }
    }

    fn apply_environment(&mut self, env: impl Fn(&str) -> Option<String>) {
        for key in KEYS {
            let older = key.legacy_names.iter().map(|name| format!("CLAUDE_MEM_{name}"));
            for variable in older.chain([key.variable()]) {
                match env(&variable) {
                    Some(text) if key.is_per_session() => {
                        self.set(key.name, &RawSetting::Text(text), &variable, SettingSource::Environment);
                    }
                    Some(_) => self.warnings.push(no_effect_in_environment(key, variable)),
                    None => {}
                }
            }
        }
    }

    fn set(&mut self, name: &'static str, raw: &RawSetting, place: &str, source: SettingSource) {
        let Some(key) = key(name) else { return };
        match key.kind.read(raw) {
            Ok(value) => {
                self.values.insert(key.name, (value, source));
                self.refused.remove(key.name);
            }
            Err(expected) => {
                if *raw != RawSetting::Null {
                    self.refused.insert(key.name);
                }
                self.warnings.push(SettingsWarning {
                    place: place.to_owned(),
                    message: format!("{name} must be {expected}"),
                    entry: (source == SettingSource::File).then(|| name.to_owned()),
                });
            }
        }
    }

    fn warn_file(&mut self, message: String) {
        self.warnings.push(file_warning(message));
    }

    fn warn_entry(&mut self, name: &str, message: String) {
        self.warnings.push(SettingsWarning { entry: Some(name.to_owned()), ..file_warning(message) });
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
