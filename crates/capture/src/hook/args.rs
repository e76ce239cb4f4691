//! Recognises a hook invocation on the command line.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use super::stdin;
use claude_mem_core::agents::{CLAUDE_CODE, CodingAgent, HookEventKind};
use claude_mem_core::paths::DataDir;

/// Milliseconds that the short form of a hook command waits for the first byte of stdin: a person
/// may have typed it and meant the everyday command of the same name.
const STDIN_MAYBE_MS: u64 = 300;

/// A hook invocation as the command line describes it.
#[derive(Debug)]
pub struct HookInvocation {
    pub(super) agent: Option<&'static CodingAgent>,
    /// The event, by the client's name for it.
    pub(super) event: String,
    /// The short form, one verb, which a user may also type: do not wait for a terminal.
    pub(super) is_short_form: bool,
    /// The verb is an ordinary command too, and a hook only if stdin holds a payload.
    pub(super) requires_payload: bool,
    /// The data directory of this installation, if it is not the default one.
    pub(super) data_dir: Option<OsString>,
}

impl HookInvocation {
    /// Parses `hook <agent> <event> [--data-dir <dir>]` or one of the short forms `context`, `new`,
    /// `save` and `summary` without arguments. Returns `None` for any other command line.
    pub fn from_args(args: &[OsString]) -> Option<Self> {
        let mut args = args.iter().map(OsString::as_os_str);
        let first = args.next()?;
        if first == OsStr::new("hook") {
            let agent = args.next().and_then(OsStr::to_str);
            let event = args.next().and_then(OsStr::to_str);
            let said = args.next().is_some_and(|word| word == OsStr::new("--data-dir"));
            let data_dir = args.next().filter(|_| said).map(OsStr::to_owned);
            return Some(Self {
                data_dir,
                agent: agent.and_then(CodingAgent::by_name),
                event: event.unwrap_or_default().to_owned(),
                is_short_form: false,
                requires_payload: false,
            });
        }
        let kind = match first.to_str()? {
            "context" => HookEventKind::SessionStart,
            "new" => HookEventKind::Prompt,
            "save" => HookEventKind::ToolUse,
            "summary" => HookEventKind::Stop,
            _ => return None,
        };
        let alone = args.next().is_none();
        alone.then(|| Self {
            agent: Some(&CLAUDE_CODE),
            event: CLAUDE_CODE.event_name(kind).to_owned(),
            is_short_form: true,
            requires_payload: matches!(kind, HookEventKind::SessionStart | HookEventKind::ToolUse),
            data_dir: None,
        })
    }

    /// The data directory. The command line takes precedence: the installer wrote it.
    pub(super) fn resolve_data_dir(&self, env: impl Fn(&str) -> Option<OsString>) -> Option<DataDir> {
        let said = self.data_dir.as_ref().map(Path::new);
        match said.filter(|dir| dir.is_absolute()) {
            Some(dir) => Some(DataDir::new(dir)),
            None => DataDir::find(env),
        }
    }

    /// The short form waits less for the first byte.
    pub(super) fn stdin_timeouts(&self) -> stdin::StdinTimeouts {
        let usual = stdin::StdinTimeouts::default();
        if !self.is_short_form {
            return usual;
        }
        stdin::StdinTimeouts { first_byte: Duration::from_millis(STDIN_MAYBE_MS), ..usual }
    }
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
