//! [`AgentLaunch`]: our entries in the files of an agent other than Claude Code, as text edits.

use std::path::Path;

use jsonc_parser::cst::CstInputValue;

use super::entry::{EntryOwner, shell_quote};
use super::json::{build_object, build_string};
use super::server::ServerEditError;
use super::{NAME, hooks, server, toml_server};
use claude_mem_core::agents::{
    ClientEntries, CodingAgent, DATA_DIR_MARK, EXECUTABLE_MARK, HookShape, OWN_FILE_HEAD, ServerShape,
    TimeoutUnit,
};
use claude_mem_core::limits::HOOK_SECONDS_MAX;

/// How an agent starts our executable.
#[derive(Clone, Copy, Debug)]
pub struct AgentLaunch<'a> {
    pub agent: &'static CodingAgent,
    pub executable: &'a Path,
    /// Set if it is not the default one.
    pub data_dir: Option<&'a Path>,
}

impl AgentLaunch<'_> {
    /// The text with our entries.
    pub fn add(&self, text: &str, entries: &ClientEntries) -> Result<String, ServerEditError> {
        match entries {
            ClientEntries::JsonHooks(shape) => {
                let events = self.agent.events.iter();
                let groups: Vec<_> =
                    events.map(|(event, _)| (*event, self.hook_group(event, shape))).collect();
                Ok(hooks::add_hook_groups(text, &groups)?)
            }
            ClientEntries::JsonServer { object, shape } => {
                server::put_server(text, &[object], self.server_entry(*shape))
            }
            ClientEntries::TomlServer { table } => {
                toml_server::add_server(text, table, &self.program(), &self.server_arguments())
            }
            ClientEntries::OwnFile { template } => {
                if !text.is_empty() && !text.starts_with(OWN_FILE_HEAD) {
                    return Err(ServerEditError::NameTaken);
                }
                let data_dir = self.data_dir.map(|dir| dir.display().to_string());
                let quoted = |value: serde_json::Value| value.to_string();
                Ok(template
                    .replace(EXECUTABLE_MARK, &quoted(self.program().into()))
                    .replace(DATA_DIR_MARK, &quoted(data_dir.into())))
            }
        }
    }

    fn program(&self) -> String {
        self.executable.display().to_string()
    }

    fn shell_line(&self, event: &str) -> String {
        let mut words = vec![self.program(), "hook".to_owned(), self.agent.name.to_owned(), event.to_owned()];
        if let Some(dir) = self.data_dir {
            words.extend(["--data-dir".to_owned(), dir.display().to_string()]);
        }
        words.iter().map(|word| shell_quote(word)).collect::<Vec<_>>().join(" ")
    }

    fn hook_group(&self, event: &str, shape: &HookShape) -> CstInputValue {
        let shorter = shape.shorter.iter().find(|(name, _)| *name == event);
        let seconds = shorter.map_or(HOOK_SECONDS_MAX, |(_, seconds)| *seconds);
        let timeout = match shape.timeout_unit {
            TimeoutUnit::Seconds => seconds,
            TimeoutUnit::Milliseconds => seconds * 1_000,
        };
        let mut hook = Vec::new();
        if shape.is_named {
            hook.push(("name".to_owned(), build_string(NAME)));
        }
        hook.push(("type".to_owned(), build_string("command")));
        hook.push(("command".to_owned(), build_string(self.shell_line(event))));
        hook.push(("timeout".to_owned(), CstInputValue::Number(timeout.to_string())));
        let hooks = CstInputValue::Array(vec![CstInputValue::Object(hook)]);
        match shape.matcher {
            Some(matcher) => build_object([("matcher", build_string(matcher)), ("hooks", hooks)]),
            None => build_object([("hooks", hooks)]),
        }
    }

    fn server_arguments(&self) -> Vec<String> {
        let data_dir = self.data_dir.map(|dir| ["--data-dir".to_owned(), dir.display().to_string()]);
        data_dir.into_iter().flatten().chain(["mcp".to_owned()]).collect()
    }

    fn server_entry(&self, shape: ServerShape) -> CstInputValue {
        let strings =
            |words: Vec<String>| CstInputValue::Array(words.into_iter().map(build_string).collect());
        match shape {
            ServerShape::CommandAndArgs => build_object([
                ("command", build_string(self.program())),
                ("args", strings(self.server_arguments())),
            ]),
            ServerShape::CommandList => {
                let words = std::iter::once(self.program()).chain(self.server_arguments());
                build_object([
                    ("type", build_string("local")),
                    ("command", strings(words.collect())),
                    ("enabled", CstInputValue::Bool(true)),
                ])
            }
        }
    }
}

/// The text without our entries. Objects that `before` had are kept, even if they are empty now. A file of our
/// own becomes empty.
pub fn remove_entries(text: &str, entries: &ClientEntries, before: Option<&str>) -> Result<String, String> {
    match entries {
        ClientEntries::JsonHooks(_) => hooks::remove_hooks(text, EntryOwner::Ours, before),
        ClientEntries::JsonServer { object, .. } => server::remove_server_at(text, &[object], before),
        ClientEntries::TomlServer { table } => Ok(toml_server::remove_server(text, table)),
        ClientEntries::OwnFile { .. } if text.starts_with(OWN_FILE_HEAD) => Ok(String::new()),
        ClientEntries::OwnFile { .. } => Ok(text.to_owned()),
    }
}
