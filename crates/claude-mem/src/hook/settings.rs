//! The few settings that decide whether an event is kept.
//!
//! Without a settings file and without variables, the usual case, nothing is parsed. Otherwise
//! `config` reads everything, so that a setting means the same here as everywhere.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, Read as _};

use serde_json::value::RawValue;

use super::event::ProjectHint;
use super::ignored;
use crate::config::{self, Settings, WorkerStart};
use crate::glob;
use crate::paths::{self, DataDir};

/// What decides about an event.
#[derive(Debug)]
pub struct HookSettings {
    /// `None`: every default holds.
    given: Option<Settings>,
    /// What to ignore cannot be read: nothing may be kept until it can.
    pub ignore_everything: bool,
    /// A rule of this session alone, which nobody else knows of.
    pub own_rules: bool,
}

/// The settings that a hook asks for, by the names of their variables.
const VARIABLES: [&str; 11] = [
    "CLAUDE_MEM_SKIP_TOOLS",
    "CLAUDE_MEM_IGNORE_PROJECTS",
    "CLAUDE_MEM_EXCLUDED_PROJECTS",
    "CLAUDE_MEM_IGNORE_PATHS",
    "CLAUDE_MEM_WORKER",
    "CLAUDE_MEM_CONTEXT",
    "CLAUDE_MEM_CONTEXT_TOKENS",
    "CLAUDE_MEM_RECALL_PROMPT",
    "CLAUDE_MEM_RECALL_PROMPT_TOKENS",
    "CLAUDE_MEM_RECALL_FILE",
    "CLAUDE_MEM_RECALL_FAILURE",
];
/// How many of them decide what is kept.
const RULES: usize = 4;

impl HookSettings {
    pub fn load(dir: &DataDir, env: impl Fn(&str) -> Option<String>) -> Self {
        let Ok(bytes) = read(dir) else {
            return Self::unreadable(true);
        };
        let text = bytes.as_deref().map(String::from_utf8_lossy);
        if text.is_none() && VARIABLES.iter().all(|name| env(name).is_none()) {
            return Self::default();
        }
        let own_rules = VARIABLES[..RULES].iter().any(|name| env(name).is_some());
        let loaded = config::from_text(text.as_deref(), env);
        let speaks_of_it = text.is_some_and(|text| mentions_ignoring(&text));
        Self {
            ignore_everything: loaded.file_unreadable && speaks_of_it || loaded.unknown_rules(),
            given: Some(loaded.settings),
            own_rules,
        }
    }

    /// By the environment as the system has it. A rule that is no text cannot be followed.
    pub fn load_os(dir: &DataDir, env: impl Fn(&str) -> Option<OsString>) -> Self {
        let mut settings = Self::load(dir, |name| env(name)?.into_string().ok());
        let is_garbled = |name: &&str| env(name).is_some_and(|value| value.to_str().is_none());
        settings.ignore_everything |= VARIABLES[..RULES].iter().any(is_garbled);
        settings
    }

    /// Those of a process that is no hook.
    pub const fn of(settings: Settings, ignore_everything: bool) -> Self {
        Self {
            given: Some(settings),
            ignore_everything,
            own_rules: false,
        }
    }

    /// Every setting, for the hooks that have something to tell the agent.
    pub fn all(&self) -> Cow<'_, Settings> {
        match &self.given {
            Some(settings) => Cow::Borrowed(settings),
            None => Cow::Owned(config::from_text(None, |_| None).settings),
        }
    }

    /// True if this tool's calls leave nothing.
    pub fn skips(&self, tool: &str) -> bool {
        match &self.given {
            Some(settings) => settings
                .skip_tools
                .iter()
                .any(|pattern| glob::matches(pattern, tool)),
            None => default_of("skip_tools")
                .split(',')
                .any(|pattern| glob::matches(pattern, tool)),
        }
    }

    /// Whether the name of a project decides anything.
    pub fn has_project_rules(&self) -> bool {
        let given = self.given.as_ref();
        given.is_some_and(|settings| !settings.ignore_projects.is_empty())
    }

    /// True if one of the project's names or its root fits a pattern.
    pub fn ignores_project(&self, names: &[&str], root: &str, home: &str) -> bool {
        let Some(settings) = &self.given else {
            return false;
        };
        let by_name = settings.ignore_projects.iter().any(|pattern| {
            names.iter().any(|name| glob::matches(pattern, name))
                || glob::matches_path(pattern, root, home)
        });
        by_name || self.ignores_path(root, home)
    }

    /// True if nothing about this file is kept.
    pub fn ignores_path(&self, path: &str, home: &str) -> bool {
        self.given.as_ref().is_some_and(|settings| {
            let mut patterns = settings.ignore_paths.iter();
            patterns.any(|pattern| glob::matches_path(pattern, path, home))
        })
    }

    /// True if nothing of this project is kept, by any of its names.
    pub fn ignores(&self, project: &ProjectHint, home: &str) -> bool {
        let keys = project.keys.iter().filter_map(|key| key.split_once(':'));
        let mut names: Vec<&str> = keys.map(|(_, name)| name).collect();
        names.push(&project.name);
        self.ignores_project(&names, &project.root, home)
    }

    /// True if these contents of a call, unread, are about a file of which nothing is kept.
    pub fn touches_ignored_path(
        &self,
        contents: &[Option<&RawValue>],
        cwd: Option<&str>,
        home: &str,
    ) -> bool {
        self.given
            .as_ref()
            .is_some_and(|settings| ignored::touches(&settings.ignore_paths, contents, cwd, home))
    }

    /// True if a hook may start the worker.
    pub fn starts_worker(&self) -> bool {
        let given = self.given.as_ref();
        given.is_none_or(|settings| settings.worker == WorkerStart::Auto)
    }

    const fn unreadable(ignore_everything: bool) -> Self {
        Self {
            given: None,
            ignore_everything,
            own_rules: false,
        }
    }
}

impl Default for HookSettings {
    fn default() -> Self {
        Self::unreadable(false)
    }
}

fn default_of(name: &str) -> &'static str {
    config::key(name).map_or("", |key| key.default)
}

fn read(dir: &DataDir) -> io::Result<Option<Vec<u8>>> {
    let Some(mut file) = paths::open_file_if_any(&dir.settings())? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

fn mentions_ignoring(text: &str) -> bool {
    ["ignore_projects", "ignore_paths", "EXCLUDED_PROJECTS"]
        .iter()
        .any(|name| text.contains(name))
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
