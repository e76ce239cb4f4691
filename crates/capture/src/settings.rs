//! The settings that decide whether an event is captured.
//!
//! Without a settings file and without environment variables, the usual case, nothing is parsed.
//! Otherwise `config` reads everything, so that a setting means the same here as everywhere.
//!
//! Invariant: if the ignore rules cannot be read, everything is ignored.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, Read as _};

use serde_json::value::RawValue;

use super::ignored;
use claude_mem_core::config;
use claude_mem_core::config::{Settings, WorkerStart};
use claude_mem_core::event::ProjectHint;
use claude_mem_core::glob;
use claude_mem_core::paths;
use claude_mem_core::paths::DataDir;
use claude_mem_core::project::COMMIT_KEY;

/// The settings as a hook sees them.
#[derive(Debug)]
pub struct HookSettings {
    /// `None` if every setting has its default.
    loaded: Option<Settings>,
    /// The ignore rules are unreadable: nothing may be captured until they can be read.
    pub ignore_everything: bool,
    /// The environment sets capture rules for this session alone; other processes do not see them.
    pub has_session_rules: bool,
}

/// Environment variables of the settings that a hook uses, capture rules first.
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
/// How many of [`VARIABLES`], from the front, decide what is captured.
const RULE_VARIABLES_COUNT: usize = 4;

impl HookSettings {
    pub fn load(dir: &DataDir, env: impl Fn(&str) -> Option<String>) -> Self {
        let Ok(bytes) = read_settings_file(dir) else {
            return Self::without_settings(true);
        };
        let text = bytes.as_deref().map(String::from_utf8_lossy);
        if text.is_none() && VARIABLES.iter().all(|name| env(name).is_none()) {
            return Self::default();
        }
        let own_rules = VARIABLES[..RULE_VARIABLES_COUNT].iter().any(|name| env(name).is_some());
        let loaded = config::from_text(text.as_deref(), env);
        let speaks_of_it = text.is_some_and(|text| mentions_ignoring(&text));
        Self {
            ignore_everything: loaded.file_unreadable && speaks_of_it || loaded.has_unreadable_ignore_rules(),
            loaded: Some(loaded.settings),
            has_session_rules: own_rules,
        }
    }

    /// Loads the settings with an environment of OS strings. A capture rule that is not UTF-8 cannot
    /// be followed, so everything is ignored.
    pub fn load_os(dir: &DataDir, env: impl Fn(&str) -> Option<OsString>) -> Self {
        let mut settings = Self::load(dir, |name| env(name)?.into_string().ok());
        let is_garbled = |name: &&str| env(name).is_some_and(|value| value.to_str().is_none());
        settings.ignore_everything |= VARIABLES[..RULE_VARIABLES_COUNT].iter().any(is_garbled);
        settings
    }

    /// Wraps the settings of a process that is not a hook.
    pub const fn from_settings(settings: Settings, ignore_everything: bool) -> Self {
        Self { loaded: Some(settings), ignore_everything, has_session_rules: false }
    }

    /// All settings with their defaults, for hooks that recall memories.
    pub fn effective(&self) -> Cow<'_, Settings> {
        match &self.loaded {
            Some(settings) => Cow::Borrowed(settings),
            None => Cow::Owned(config::from_text(None, |_| None).settings),
        }
    }

    /// True if calls of this tool are not captured.
    pub fn skips_tool(&self, tool: &str) -> bool {
        match &self.loaded {
            Some(settings) => settings.skip_tools.iter().any(|pattern| glob::matches(pattern, tool)),
            None => default_value("skip_tools").split(',').any(|pattern| glob::matches(pattern, tool)),
        }
    }

    /// Whether any rule depends on the project.
    pub fn has_project_rules(&self) -> bool {
        let given = self.loaded.as_ref();
        given.is_some_and(|settings| !settings.ignore_projects.is_empty())
    }

    /// True if one of the project's names or its root matches a pattern.
    pub fn ignores_project(&self, names: &[&str], root: &str, home: &str) -> bool {
        let Some(settings) = &self.loaded else {
            return false;
        };
        let by_name = settings.ignore_projects.iter().any(|pattern| {
            names.iter().any(|name| glob::matches(pattern, name)) || glob::matches_path(pattern, root, home)
        });
        by_name || self.ignores_path(root, home)
    }

    /// True if nothing about this file is captured.
    pub fn ignores_path(&self, path: &str, home: &str) -> bool {
        self.loaded.as_ref().is_some_and(|settings| {
            let mut patterns = settings.ignore_paths.iter();
            patterns.any(|pattern| glob::matches_path(pattern, path, home))
        })
    }

    /// True if any of the project's keys, its name or its root is ignored.
    pub fn ignores_project_hint(&self, project: &ProjectHint, home: &str) -> bool {
        let keys = project.keys.iter().filter(|key| !key.starts_with(COMMIT_KEY));
        let keys = keys.filter_map(|key| key.split_once(':'));
        let mut names: Vec<&str> = keys.map(|(_, name)| name).collect();
        names.push(&project.name);
        self.ignores_project(&names, &project.root, home)
    }

    /// True if the raw contents of a call name an ignored path.
    pub fn touches_ignored_path(
        &self,
        contents: &[Option<&RawValue>],
        cwd: Option<&str>,
        home: &str,
    ) -> bool {
        self.loaded
            .as_ref()
            .is_some_and(|settings| ignored::names_ignored_path(&settings.ignore_paths, contents, cwd, home))
    }

    /// True if a text names an ignored path.
    pub fn text_names_ignored_path(&self, text: &str, cwd: Option<&str>, home: &str) -> bool {
        let patterns = self.loaded.as_ref().map_or(&[][..], |settings| &settings.ignore_paths);
        if patterns.is_empty() {
            return false;
        }
        // A string that cannot be encoded cannot be checked either.
        let raw = serde_json::value::to_raw_value(text);
        raw.map_or(true, |raw| ignored::names_ignored_path(patterns, &[Some(&raw)], cwd, home))
    }

    /// True if a hook may start the worker.
    pub fn may_start_worker(&self) -> bool {
        let given = self.loaded.as_ref();
        given.is_none_or(|settings| settings.worker == WorkerStart::Auto)
    }

    const fn without_settings(ignore_everything: bool) -> Self {
        Self { loaded: None, ignore_everything, has_session_rules: false }
    }
}

impl Default for HookSettings {
    fn default() -> Self {
        Self::without_settings(false)
    }
}

fn default_value(name: &str) -> &'static str {
    config::key(name).map_or("", |key| key.default)
}

fn read_settings_file(dir: &DataDir) -> io::Result<Option<Vec<u8>>> {
    let Some(mut file) = paths::open_file_if_any(&dir.settings())? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

fn mentions_ignoring(text: &str) -> bool {
    ["ignore_projects", "ignore_paths", "EXCLUDED_PROJECTS"].iter().any(|name| text.contains(name))
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
