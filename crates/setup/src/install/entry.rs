//! One entry in a client's files: who owns it ([`EntryOwner`]), and how ours look ([`LaunchSpec`]).

use std::path::{Path, PathBuf};

use jsonc_parser::cst::CstInputValue;
use serde_json::Value;

use super::client::{self, ClientCapabilities, HookForm};
use super::json::{build_object, build_string};
use claude_mem_core::agents::{CLAUDE_CODE, CodingAgent};
use claude_mem_core::limits::HOOK_SECONDS_MAX;
use claude_mem_core::paths::is_same_file;
use claude_mem_core::platform;

/// How the client starts our executable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchSpec {
    pub executable: PathBuf,
    /// Set if it is not the default one, because a hook's environment may not name it.
    pub data_dir: Option<PathBuf>,
    pub capabilities: ClientCapabilities,
}

/// The program that a hook or an MCP server belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryOwner {
    Ours,
    /// The earlier program of the same name.
    Legacy,
    Foreign,
}

impl LaunchSpec {
    /// The arguments of the hook command for an event.
    pub fn arguments(&self, event: &str) -> Vec<String> {
        let mut arguments = vec!["hook".to_owned(), CLAUDE_CODE.name.to_owned(), event.to_owned()];
        if let Some(dir) = &self.data_dir {
            arguments.extend(["--data-dir".to_owned(), dir.display().to_string()]);
        }
        arguments
    }

    /// The process that the client starts for an event: program and arguments.
    pub fn command(&self, event: &str) -> (String, Vec<String>) {
        let program = self.executable.display().to_string();
        match self.capabilities.form() {
            HookForm::Exec => (program, self.arguments(event)),
            HookForm::Shell => ("/bin/sh".to_owned(), vec!["-c".to_owned(), self.shell_line(event)]),
        }
    }

    fn shell_line(&self, event: &str) -> String {
        let program = self.executable.display().to_string();
        let words = std::iter::once(program).chain(self.arguments(event));
        words.map(|word| shell_quote(&word)).collect::<Vec<_>>().join(" ")
    }

    /// The hook group of an event, with our hook in it.
    pub fn hook_group(&self, event: &str) -> CstInputValue {
        let mut hook = vec![("type".to_owned(), build_string("command"))];
        match self.capabilities.form() {
            HookForm::Exec => {
                let arguments = self.arguments(event).into_iter().map(CstInputValue::String);
                hook.push(("command".to_owned(), build_string(self.executable.display().to_string())));
                hook.push(("args".to_owned(), CstInputValue::Array(arguments.collect())));
            }
            HookForm::Shell => hook.push(("command".to_owned(), build_string(self.shell_line(event)))),
        }
        let timeout = CstInputValue::Number(HOOK_SECONDS_MAX.to_string());
        hook.push(("timeout".to_owned(), timeout));
        let hooks = CstInputValue::Array(vec![CstInputValue::Object(hook)]);
        match client::tool_matcher(event) {
            Some(tools) => build_object([("matcher", build_string(tools)), ("hooks", hooks)]),
            None => build_object([("hooks", hooks)]),
        }
    }

    /// The entry of our MCP server.
    pub fn server_entry(&self) -> CstInputValue {
        let mut arguments = vec![build_string("mcp")];
        if let Some(dir) = &self.data_dir {
            arguments.splice(0..0, [build_string("--data-dir"), build_string(dir.display().to_string())]);
        }
        build_object([
            ("type", build_string("stdio")),
            ("command", build_string(self.executable.display().to_string())),
            ("args", CstInputValue::Array(arguments)),
        ])
    }
}

/// The owner of a hook, judged by the command that it runs.
pub fn hook_owner(hook: &Value) -> EntryOwner {
    let command = hook["command"].as_str().unwrap_or_default();
    let arguments: Vec<&str> = hook["args"]
        .as_array()
        .map(|items| items.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let words = split_command(command, &arguments);
    let mut words = words.iter().map(String::as_str);
    let is_us = words.next().is_some_and(is_our_program);
    let rest: Vec<&str> = words.collect();
    match &rest[..] {
        // Exactly what we write, or the first names of these hooks. A longer command was written
        // by the user and only calls us.
        ["hook", agent, _] | ["hook", agent, _, "--data-dir", _]
            if is_us && CodingAgent::by_name(agent).is_some() =>
        {
            EntryOwner::Ours
        }
        ["context" | "new" | "save" | "summary"] if is_us => EntryOwner::Ours,
        _ if is_legacy(&format!("{command} {}", arguments.join(" "))) => EntryOwner::Legacy,
        _ => EntryOwner::Foreign,
    }
}

/// The owner of an MCP server.
pub fn server_owner(server: &Value) -> EntryOwner {
    let strings = |value: &'_ Value| -> Vec<String> {
        let items = value.as_array().into_iter().flatten();
        items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
    };
    // Some clients write program and arguments as one list.
    let mut words = match server["command"].as_str() {
        Some(command) => vec![command.to_owned()],
        None => strings(&server["command"]),
    };
    words.extend(strings(&server["args"]));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (command, arguments) = words.split_first().map_or(("", &[][..]), |(first, rest)| (*first, rest));
    if is_our_program(command) && arguments.last() == Some(&"mcp") {
        EntryOwner::Ours
    } else if is_legacy(&format!("{command} {}", arguments.join(" "))) {
        EntryOwner::Legacy
    } else {
        EntryOwner::Foreign
    }
}

/// Whether a program is ours: it has our name, or it is the running executable, which may have another name.
pub(super) fn is_our_program(program: &str) -> bool {
    let path = Path::new(program);
    path.file_name() == Some(super::NAME.as_ref())
        || (path.is_absolute() && is_same_file(path, &platform::own_executable()))
}

/// Scripts of the earlier program. Its name alone does not suffice: a directory may have it too.
const LEGACY_SCRIPTS: [&str; 11] = [
    "context-hook",
    "new-hook",
    "save-hook",
    "summary-hook",
    "cleanup-hook",
    "user-message-hook",
    "worker-service",
    "smart-install",
    "bun-runner",
    "mcp-server",
    "search-server",
];

fn is_legacy(line: &str) -> bool {
    line.contains("/thedotmack/")
        || line.contains(".claude-mem/hooks/")
        || (line.contains("claude-mem") && LEGACY_SCRIPTS.iter().any(|script| line.contains(script)))
}

/// Splits a command in either form into words. Only the quoting that we write is supported.
pub(crate) fn split_command(command: &str, arguments: &[&str]) -> Vec<String> {
    if !arguments.is_empty() {
        let all = std::iter::once(command).chain(arguments.iter().copied());
        return all.map(str::to_owned).collect();
    }
    let (mut words, mut word) = (Vec::new(), String::new());
    let mut quote = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), close) if open == close => quote = None,
            (None, ' ') => words.push(std::mem::take(&mut word)),
            (None, '\\') => word.extend(letters.next()),
            _ => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// Quotes a word for the shell, if necessary.
pub(super) fn shell_quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./+:@%,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
#[path = "entry_tests.rs"]
mod tests;
