//! What a hook tells the agent, beyond "go on".
//!
//! Invariant: whatever goes wrong here costs the agent a memory, never its turn.

use std::path::Path;

use super::agents::{Agent, Kind};
use super::answer::Answer;
use super::event::{Body, ProjectHint};
use super::session_start;
use super::settings::HookSettings;
use super::wire::{Head, Wire};
use crate::clock::Millis;
use crate::context::moment::{Listener, Moment, Need};
use crate::context::{self, recall};
use crate::install::version::Version;
use crate::limits::{HOOK_FILE_MS, HOOK_MOMENT_MS, HOOK_START_MS};
use crate::paths::DataDir;
use crate::store::{FeedbackRow, Heard, Inbox, Store, StoreError};

/// What the choice of an answer can depend on.
#[derive(Debug)]
pub struct Question<'a> {
    pub agent: &'static Agent,
    pub kind: Kind,
    pub head: &'a Head,
    pub dir: &'a DataDir,
    /// Where a worker listens, if one runs.
    pub socket: &'a Path,
    pub project: Option<&'a ProjectHint>,
    pub about: About<'a>,
    pub settings: &'a HookSettings,
    pub now: Millis,
    /// The client's version, where it says so.
    pub client: Option<Version>,
    /// Nothing of this turn may be kept, not even what was told in it.
    pub silent: bool,
}

/// What may bring something to mind. Redacted, but for a path that is only looked up.
#[derive(Debug)]
pub enum About<'a> {
    Nothing,
    Prompt(&'a str),
    /// A file that is about to be read or changed.
    File(String),
    /// The output of a command that failed.
    Failure(String),
}

/// Tools that open one file.
const FILE_TOOLS: [&str; 5] = ["Read", "Edit", "Write", "MultiEdit", "NotebookEdit"];

impl<'a> About<'a> {
    /// Of a call that is not kept.
    pub fn before_tool(wire: &Wire<'_>) -> Self {
        #[derive(serde::Deserialize)]
        struct Input {
            #[serde(alias = "notebook_path")]
            file_path: String,
        }
        let input = wire
            .tool_input
            .and_then(|raw| serde_json::from_str::<Input>(raw.get()).ok());
        input.map_or(Self::Nothing, |input| Self::File(input.file_path))
    }

    /// Of an event that was kept.
    pub fn event(body: &'a Body) -> Self {
        match body {
            Body::Prompt {
                text,
                private: false,
            } => Self::Prompt(text),
            Body::ToolUse {
                tool,
                output,
                failed: true,
                ..
            } if tool == "Bash" => Self::Failure(
                output
                    .as_str()
                    .map_or_else(|| output.to_string(), str::to_owned),
            ),
            _ => Self::Nothing,
        }
    }
}

/// The answer to one hook call.
pub fn answer(question: &Question<'_>) -> Answer {
    let told = match question.kind {
        Kind::SessionStart => session_start::told(question),
        Kind::Prompt => prompt(question).map(Told::agent),
        Kind::BeforeTool => before_tool(question).map(Told::agent),
        Kind::ToolFailure | Kind::ToolUse => failure(question).map(Told::agent),
        Kind::SessionEnd => {
            session_start::note_end(question);
            return Answer::Neutral;
        }
        _ => return Answer::Neutral,
    };
    let event = question.agent.event_name(question.kind);
    match told {
        Ok(Told { text, message }) if text.is_empty() && message.is_empty() => Answer::Neutral,
        Ok(Told { text, message }) if message.is_empty() => Answer::Context { event, text },
        Ok(Told { text, message }) => Answer::Message {
            event,
            text,
            message,
        },
        Err(e) => {
            super::log::line(
                question.dir,
                question.now.micros(),
                &format!("nothing recalled: {e}"),
            );
            Answer::Neutral
        }
    }
}

/// What is said to whom; empty: nothing.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) text: String,
    pub(super) message: String,
}

impl Told {
    fn agent(text: Option<String>) -> Self {
        Self {
            text: text.unwrap_or_default(),
            message: String::new(),
        }
    }
}

impl Question<'_> {
    /// Writes something down that the answer does not depend on. `None`: it could not be.
    pub(super) fn note<T>(
        &self,
        what: &str,
        write: impl FnOnce(&mut Inbox) -> Result<T, StoreError>,
    ) -> Option<T> {
        let noted = Inbox::open_to_note(&self.dir.db()).and_then(|mut inbox| {
            let noted = write(&mut inbox)?;
            inbox.close()?;
            Ok(noted)
        });
        let at = self.now.micros();
        noted
            .inspect_err(|e| super::log::line(self.dir, at, &format!("{what} is not noted: {e}")))
            .ok()
    }

    pub(super) fn listener(&self) -> Listener {
        Listener {
            client: self.agent.name.to_owned(),
            session: self.head.session.clone().unwrap_or_default(),
            agent_id: self.head.agent_id.clone().unwrap_or_default(),
        }
    }
}

/// There is no worker, or it is busy.
fn is_usual(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionRefused, NotFound, TimedOut, WouldBlock};
    matches!(
        error.kind(),
        ConnectionRefused | NotFound | TimedOut | WouldBlock
    )
}

/// The store, if there is one yet.
pub(super) fn open(question: &Question<'_>) -> Result<Option<Store>, StoreError> {
    let own_ms = match question.kind {
        Kind::SessionStart => HOOK_START_MS,
        Kind::BeforeTool => HOOK_FILE_MS,
        _ => HOOK_MOMENT_MS,
    };
    match Store::open_for_hook(&question.dir.db(), own_ms) {
        Err(StoreError::Missing) => Ok(None),
        store => store.map(Some),
    }
}

fn prompt(question: &Question<'_>) -> Result<Option<String>, StoreError> {
    let settings = question.settings.all();
    match &question.about {
        About::Prompt(text) if settings.recall_prompt => {
            moment(question, Need::Prompt, text, settings.recall_prompt_tokens)
        }
        _ => Ok(None),
    }
}

/// The same error seen before.
fn failure(question: &Question<'_>) -> Result<Option<String>, StoreError> {
    let settings = question.settings.all();
    match &question.about {
        About::Failure(output) if settings.recall_failure => moment(
            question,
            Need::Failure,
            output,
            settings.recall_failure_tokens,
        ),
        _ => Ok(None),
    }
}

/// Asks the worker, which knows what words mean; without one, or without an answer in time,
/// looks for the words themselves.
fn moment(
    question: &Question<'_>,
    need: Need,
    said: &str,
    budget_tokens: u32,
) -> Result<Option<String>, StoreError> {
    let (Some(hint), Some(text)) = (question.project, Moment::text_of(need, said)) else {
        return Ok(None);
    };
    let moment = Moment {
        listener: question.listener(),
        project: hint.keys.clone(),
        need,
        text,
        budget_tokens,
    };
    match super::ask::worker(question.socket, &moment) {
        Ok(told) => return Ok((!told.text.is_empty()).then_some(told.text)),
        Err(e) if is_usual(&e) => {}
        Err(e) => {
            let why = format!("the worker could not be asked: {}", e.kind());
            super::log::line(question.dir, question.now.micros(), &why);
        }
    }
    let Some(store) = open(question)? else {
        return Ok(None);
    };
    let recalled = moment.recall(&store.read(), None, &crate::clock::zone())?;
    record(question, need.place(), &recalled.items);
    Ok((!recalled.text.is_empty()).then_some(recalled.text))
}

/// What is known of a file, once per file and session.
fn before_tool(question: &Question<'_>) -> Result<Option<String>, StoreError> {
    let settings = question.settings.all();
    let (About::File(path), true) = (&question.about, settings.recall_file) else {
        return Ok(None);
    };
    let tool = question.head.tool.as_deref().unwrap_or_default();
    let large =
        std::fs::metadata(path).is_ok_and(|meta| meta.len() >= context::file::FILE_BYTES_MIN);
    if !FILE_TOOLS.contains(&tool) || !large {
        return Ok(None);
    }
    let (Some(hint), Some(store)) = (question.project, open(question)?) else {
        return Ok(None);
    };
    let reads = store.read();
    let Some(project) = reads.project_by_keys(&hint.keys)? else {
        return Ok(None);
    };
    let relative = Path::new(path)
        .strip_prefix(&hint.root)
        .unwrap_or(Path::new(path));
    let relative = relative.to_string_lossy();
    let listener = question.listener();
    let since = reads.last_compaction(&listener.client, &listener.session)?;
    let told = reads.feedback_in_session(&listener.session)?;
    let of_file = |entry: &&FeedbackRow| entry.place == "file" && entry.reason == relative;
    // What a subagent was told, the others have not heard.
    if told
        .iter()
        .filter(of_file)
        .any(|entry| entry.agent_id == listener.agent_id && entry.at >= since)
    {
        return Ok(None);
    }
    let ask = context::file::Ask {
        project,
        own: listener.own_session(&reads)?,
        path: &relative,
        shown: &listener.has_heard(&reads, Heard::OrItsTitle)?,
        budget_tokens: settings.recall_file_tokens,
        zone: &crate::clock::zone(),
    };
    let recalled = context::file::file(&reads, &ask)?;
    record(question, "file", &recalled.items);
    Ok((!recalled.text.is_empty()).then_some(recalled.text))
}

/// The ledger. What cannot be noted now is shown all the same: at worst it is shown twice.
pub(super) fn record(question: &Question<'_>, place: &str, brought: &[recall::Brought]) {
    if brought.is_empty() || question.silent {
        return;
    }
    let listener = question.listener();
    let shown = listener.told(place, brought, question.now);
    question.note("what was shown", |inbox| inbox.record_feedback(&shown));
}
