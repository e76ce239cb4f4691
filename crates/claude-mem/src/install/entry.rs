//! One hook in a client's settings: whose it is, and how ours are written.

use std::path::{Path, PathBuf};

use jsonc_parser::cst::CstInputValue;
use serde_json::Value;

use super::client::{self, Abilities, Form};
use super::json::{object, text};
use crate::limits::HOOK_SECONDS_MAX;

/// How the client is to start us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    pub executable: PathBuf,
    /// Where it is not the usual one: a hook's environment may not say.
    pub data_dir: Option<PathBuf>,
    pub abilities: Abilities,
}

/// Whose a hook or a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    Ours,
    /// Of the earlier program of this name.
    Rival,
    Foreign,
}

impl Launch {
    /// What stands after the executable's name.
    pub fn arguments(&self, event: &str) -> Vec<String> {
        let mut arguments = vec![
            "hook".to_owned(),
            "claude-code".to_owned(),
            event.to_owned(),
        ];
        if let Some(dir) = &self.data_dir {
            arguments.extend(["--data-dir".to_owned(), dir.display().to_string()]);
        }
        arguments
    }

    /// The hook as the client starts it: a program and its arguments.
    pub fn command(&self, event: &str) -> (String, Vec<String>) {
        let program = self.executable.display().to_string();
        match self.abilities.form() {
            Form::Exec => (program, self.arguments(event)),
            Form::Shell => (
                "/bin/sh".to_owned(),
                vec!["-c".to_owned(), self.line(event)],
            ),
        }
    }

    fn line(&self, event: &str) -> String {
        let program = self.executable.display().to_string();
        let words = std::iter::once(program).chain(self.arguments(event));
        words
            .map(|word| quoted(&word))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The group of one event, with our hook in it.
    pub fn group(&self, event: &str) -> CstInputValue {
        let mut hook = vec![("type".to_owned(), text("command"))];
        match self.abilities.form() {
            Form::Exec => {
                let arguments = self.arguments(event).into_iter().map(CstInputValue::String);
                hook.push((
                    "command".to_owned(),
                    text(self.executable.display().to_string()),
                ));
                hook.push(("args".to_owned(), CstInputValue::Array(arguments.collect())));
            }
            Form::Shell => hook.push(("command".to_owned(), text(self.line(event)))),
        }
        let timeout = CstInputValue::Number(HOOK_SECONDS_MAX.to_string());
        hook.push(("timeout".to_owned(), timeout));
        let hooks = CstInputValue::Array(vec![CstInputValue::Object(hook)]);
        match client::matcher(event) {
            Some(tools) => object([("matcher", text(tools)), ("hooks", hooks)]),
            None => object([("hooks", hooks)]),
        }
    }

    /// Our server, as the client starts it.
    pub fn server(&self) -> CstInputValue {
        let mut arguments = vec![text("mcp")];
        if let Some(dir) = &self.data_dir {
            arguments.splice(0..0, [text("--data-dir"), text(dir.display().to_string())]);
        }
        object([
            ("type", text("stdio")),
            ("command", text(self.executable.display().to_string())),
            ("args", CstInputValue::Array(arguments)),
        ])
    }
}

/// Whose this hook is, by what it would run.
pub fn whose(hook: &Value) -> Whose {
    let command = hook["command"].as_str().unwrap_or_default();
    let arguments: Vec<&str> = hook["args"]
        .as_array()
        .map(|items| items.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let words = words_of(command, &arguments);
    let mut words = words.iter().map(String::as_str);
    let is_us = words
        .next()
        .is_some_and(|program| Path::new(program).file_name() == Some(super::NAME.as_ref()));
    let rest: Vec<&str> = words.collect();
    match &rest[..] {
        // Word for word what we write, or the names that these hooks were first known by. A
        // command that goes on is somebody's own, with us in it.
        ["hook", "claude-code", _]
        | ["hook", "claude-code", _, "--data-dir", _]
        | ["context" | "new" | "save" | "summary"]
            if is_us =>
        {
            Whose::Ours
        }
        _ if is_rival(&format!("{command} {}", arguments.join(" "))) => Whose::Rival,
        _ => Whose::Foreign,
    }
}

/// Whose this server is.
pub fn whose_server(server: &Value) -> Whose {
    let command = server["command"].as_str().unwrap_or_default();
    let arguments: Vec<&str> = server["args"]
        .as_array()
        .map(|items| items.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let is_us = Path::new(command).file_name() == Some(super::NAME.as_ref());
    if is_us && arguments.last() == Some(&"mcp") {
        Whose::Ours
    } else if is_rival(&format!("{command} {}", arguments.join(" "))) {
        Whose::Rival
    } else {
        Whose::Foreign
    }
}

/// Scripts of the earlier program. Its name alone is not enough: a directory may be called so.
const SCRIPTS: [&str; 11] = [
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

fn is_rival(line: &str) -> bool {
    line.contains("/thedotmack/")
        || line.contains(".claude-mem/hooks/")
        || (line.contains("claude-mem") && SCRIPTS.iter().any(|script| line.contains(script)))
}

/// The words of a command in either form. Quotes are understood as far as we write them.
pub(crate) fn words_of(command: &str, arguments: &[&str]) -> Vec<String> {
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

/// One word for the shell, quoted only where it must be.
fn quoted(word: &str) -> String {
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
