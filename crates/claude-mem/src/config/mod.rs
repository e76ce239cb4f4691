//! The user's settings: typed, and never a reason to fail.
//!
//! In: `settings.json` of the data directory and the environment. Out: `Settings`, where each
//! value came from, and warnings for whoever can show them.
//!
//! Invariant: loading always yields usable settings. A value that cannot be read is a warning and
//! the next source's value is taken: the environment, then the file, then the default. An unknown
//! key is a warning with a suggestion, and stays in the file. Absent on purpose: printing, and
//! asking the process for its environment, which the caller passes in.

mod file;
mod keys;
mod kind;
mod older;
mod reference;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

pub use file::{Change, FILE_NAME, SettingsFile, WriteError};
pub use keys::{KEYS, Key, Provider, Settings, VARIABLES, WorkerStart, key};
pub use kind::{Kind, Raw, Secret, Value};
pub use reference::markdown as reference_markdown;

/// Where a setting's value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    Default,
    File,
    Environment,
}

/// Something in the settings that has no effect, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// `settings.json`, or the variable's name.
    pub place: String,
    pub message: String,
    /// The entry of the file, where it is about one.
    pub entry: Option<String>,
}

impl Warning {
    /// The command that makes it go away.
    pub fn fix(&self) -> String {
        match &self.entry {
            Some(name) => format!("claude-mem config unset {name}"),
            None if self.place == FILE_NAME => "claude-mem config".to_owned(),
            None => format!("unset {}", self.place),
        }
    }
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// Settings with their history.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub settings: Settings,
    values: BTreeMap<&'static str, (Value, Source)>,
    pub warnings: Vec<Warning>,
    /// The file is there and cannot be read: what it would have ignored or switched off is not
    /// known.
    pub file_unreadable: bool,
    /// Keys whose value was given and cannot be read. `null` is no value.
    refused: BTreeSet<&'static str>,
}

impl Loaded {
    /// Whether somebody said what to ignore in words that cannot be read. Such a rule is no rule,
    /// so that nobody may go on as if there was none.
    pub fn unknown_rules(&self) -> bool {
        let rules = ["ignore_projects", "ignore_paths"];
        rules.iter().any(|name| self.refused.contains(name))
    }

    /// The value in force and its source.
    pub fn get(&self, key: &Key) -> (Value, Source) {
        match self.values.get(key.name) {
            Some((value, source)) => (value.clone(), *source),
            None => (default_of(key), Source::Default),
        }
    }
}

/// Reads the settings of a data directory. `env` is asked for variables by name.
pub fn load(data_dir: &Path, env: impl Fn(&str) -> Option<String>) -> Loaded {
    let mut warnings = Vec::new();
    let mut file_unreadable = false;
    let text = file::read(data_dir).unwrap_or_else(|error| {
        file_unreadable = true;
        warnings.push(in_file(format!(
            "cannot be read ({error}); the defaults hold"
        )));
        None
    });
    let mut loaded = from_text(text.as_deref(), env);
    warnings.append(&mut loaded.warnings);
    Loaded {
        file_unreadable: file_unreadable || loaded.file_unreadable,
        warnings,
        ..loaded
    }
}

/// As `load`, with the file's text.
pub fn from_text(text: Option<&str>, env: impl Fn(&str) -> Option<String>) -> Loaded {
    let mut layers = Layers::default();
    let mut file_unreadable = false;
    match text.map(file::properties) {
        None => {}
        Some(Ok(properties)) => layers.take_file(&properties),
        Some(Err(reason)) => {
            file_unreadable = true;
            layers.warn_file(format!("is not JSON ({reason}); the defaults hold"));
        }
    }
    layers.take_environment(env);
    let Layers {
        values,
        warnings,
        refused,
    } = layers;
    let typed = Settings::from_values(|key| match values.get(key.name) {
        Some((value, _)) => value.clone(),
        None => default_of(key),
    });
    Loaded {
        settings: typed.unwrap_or_default(),
        values,
        warnings,
        file_unreadable,
        refused,
    }
}

/// Warnings for variables that look like ours and name nothing.
pub fn unknown_variables<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Warning> {
    names
        .filter(|name| name.starts_with("CLAUDE_MEM_"))
        .filter(|name| older::key_of(name).is_none() && !older::is_known(name))
        .filter(|name| VARIABLES.iter().all(|(known, _)| known != name))
        .map(|name| Warning {
            place: name.to_owned(),
            message: format!(
                "is not a setting{}",
                suggestion(&name["CLAUDE_MEM_".len()..])
            ),
            entry: None,
        })
        .collect()
}

/// `; did you mean context_tokens?` or nothing.
pub fn suggestion(typed: &str) -> String {
    let typed = typed.to_ascii_lowercase();
    KEYS.iter()
        .map(|key| (strsim::damerau_levenshtein(key.name, &typed), key.name))
        .min()
        .filter(|(distance, name)| *distance * 3 <= name.len())
        .map_or_else(String::new, |(_, name)| format!("; did you mean {name}?"))
}

impl Default for Settings {
    fn default() -> Self {
        match Self::from_values(default_of) {
            Some(settings) => settings,
            None => unreachable!("every_default_is_valid_and_typed"),
        }
    }
}

fn default_of(key: &Key) -> Value {
    let raw = Raw::Text(key.default.to_owned());
    key.kind
        .read(&raw)
        .unwrap_or_else(|_| Value::Text(String::new()))
}

fn in_file(message: String) -> Warning {
    Warning {
        place: FILE_NAME.to_owned(),
        message,
        entry: None,
    }
}

/// Values as they pile up, weakest source first.
#[derive(Default)]
struct Layers {
    values: BTreeMap<&'static str, (Value, Source)>,
    warnings: Vec<Warning>,
    refused: BTreeSet<&'static str>,
}

impl Layers {
    /// Our own names win over the older ones, wherever they stand in the file.
    fn take_file(&mut self, properties: &[(String, Raw)]) {
        let find = |name: &str| properties.iter().rev().find(|(known, _)| known == name);
        let older = older::translate(|name| match find(name) {
            Some((_, Raw::Text(text))) => Some(text.clone()),
            Some((_, Raw::List(items))) => Some(items.join(",")),
            Some((_, Raw::Null | Raw::Other)) | None => None,
        });
        for (name, raw) in properties {
            if let (Some(key), Raw::Other) = (older::key_of(name), raw) {
                let message = format!("{name} must be {}", key.kind.expects());
                self.warn_entry(name, message);
                self.refused.insert(key.name);
            }
        }
        // The first translation of a key is the closest one.
        for (name, text) in older.into_iter().rev() {
            self.set(name, &Raw::Text(text), FILE_NAME, Source::File);
        }
        for (name, raw) in properties {
            if let Some(key) = key(name) {
                self.set(key.name, raw, FILE_NAME, Source::File);
            } else if older::key_of(name).is_none() && !older::is_known(name) {
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

    fn take_environment(&mut self, env: impl Fn(&str) -> Option<String>) {
        for key in KEYS {
            let older = key.older.iter().map(|name| format!("CLAUDE_MEM_{name}"));
            for variable in older.chain([key.variable()]) {
                if let Some(text) = env(&variable) {
                    self.set(key.name, &Raw::Text(text), &variable, Source::Environment);
                }
            }
        }
    }

    fn set(&mut self, name: &'static str, raw: &Raw, place: &str, source: Source) {
        let Some(key) = key(name) else { return };
        match key.kind.read(raw) {
            Ok(value) => {
                self.values.insert(key.name, (value, source));
                self.refused.remove(key.name);
            }
            Err(expected) => {
                if *raw != Raw::Null {
                    self.refused.insert(key.name);
                }
                self.warnings.push(Warning {
                    place: place.to_owned(),
                    message: format!("{name} must be {expected}"),
                    entry: (source == Source::File).then(|| name.to_owned()),
                });
            }
        }
    }

    fn warn_file(&mut self, message: String) {
        self.warnings.push(in_file(message));
    }

    fn warn_entry(&mut self, name: &str, message: String) {
        self.warnings.push(Warning {
            entry: Some(name.to_owned()),
            ..in_file(message)
        });
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
