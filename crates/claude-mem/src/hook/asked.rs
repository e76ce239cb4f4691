//! Whether the command line is a hook's, and which.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use super::agents::{Agent, CLAUDE_CODE, Kind};
use super::stdin;
use crate::limits::STDIN_MAYBE_MS;
use crate::paths::DataDir;

/// What the command line asks for.
#[derive(Debug)]
pub struct Asked {
    pub(super) agent: Option<&'static Agent>,
    /// As the client names it.
    pub(super) event: String,
    /// A first name, which a person may type: a terminal is not waited for.
    pub(super) first_name: bool,
    /// It is an everyday command too, and a hook if a payload stands on stdin.
    pub(super) only_with_payload: bool,
    /// Where this installation keeps its data, if not in the usual place.
    pub(super) data_dir: Option<OsString>,
}

impl Asked {
    /// `hook <agent> <event> [--data-dir <dir>]`, or one of the first names alone. `None`:
    /// something else.
    pub fn from_args(args: &[OsString]) -> Option<Self> {
        let mut args = args.iter().map(OsString::as_os_str);
        let first = args.next()?;
        if first == OsStr::new("hook") {
            let agent = args.next().and_then(OsStr::to_str);
            let event = args.next().and_then(OsStr::to_str);
            let said = args
                .next()
                .is_some_and(|word| word == OsStr::new("--data-dir"));
            let data_dir = args.next().filter(|_| said).map(OsStr::to_owned);
            return Some(Self {
                data_dir,
                agent: agent.and_then(Agent::named),
                event: event.unwrap_or_default().to_owned(),
                first_name: false,
                only_with_payload: false,
            });
        }
        let kind = match first.to_str()? {
            "context" => Kind::SessionStart,
            "new" => Kind::Prompt,
            "save" => Kind::ToolUse,
            "summary" => Kind::Stop,
            _ => return None,
        };
        let alone = args.next().is_none();
        alone.then(|| Self {
            agent: Some(&CLAUDE_CODE),
            event: CLAUDE_CODE.event_name(kind).to_owned(),
            first_name: true,
            only_with_payload: matches!(kind, Kind::SessionStart | Kind::ToolUse),
            data_dir: None,
        })
    }

    /// The command line knows best; it was written when this was installed.
    pub(super) fn dir(&self, env: impl Fn(&str) -> Option<OsString>) -> Option<DataDir> {
        let said = self.data_dir.as_ref().map(Path::new);
        match said.filter(|dir| dir.is_absolute()) {
            Some(dir) => Some(DataDir::new(dir)),
            None => DataDir::find(env),
        }
    }

    pub(super) fn patience(&self) -> stdin::Patience {
        let usual = stdin::Patience::default();
        if !self.first_name {
            return usual;
        }
        stdin::Patience {
            first_byte: Duration::from_millis(STDIN_MAYBE_MS),
            ..usual
        }
    }
}
