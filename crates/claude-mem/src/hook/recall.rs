//! What a hook tells the agent, beyond "go on".
//!
//! Invariant: whatever goes wrong here costs the agent a memory, never its turn.

use std::collections::HashSet;
use std::path::Path;

use jiff::tz::TimeZone;

use super::agents::{Agent, Kind};
use super::answer::Answer;
use super::event::{Body, ProjectHint};
use super::settings::HookSettings;
use super::wire::{Head, Wire};
use crate::clock::Millis;
use crate::context::{self, recall};
use crate::ids::{ClientSessionId, ProjectId, SessionId};
use crate::paths::DataDir;
use crate::store::{Feedback, RowKind, Signal, Store, StoreError};

/// What the choice of an answer can depend on.
#[derive(Debug)]
pub struct Question<'a> {
    pub agent: &'static Agent,
    pub kind: Kind,
    pub head: &'a Head,
    pub dir: &'a DataDir,
    pub project: Option<&'a ProjectHint>,
    pub about: About<'a>,
    pub settings: &'a HookSettings,
    pub now: Millis,
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
        Kind::SessionStart => session_start(question),
        Kind::Prompt => prompt(question),
        Kind::BeforeTool => before_tool(question),
        Kind::ToolFailure | Kind::ToolUse => failure(question),
        _ => return Answer::Neutral,
    };
    match told {
        Ok(Some(text)) => Answer::Context {
            event: question.agent.event_name(question.kind),
            text,
        },
        Ok(None) => Answer::Neutral,
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

/// The store and where in it this session belongs. `None`: it has never been heard of.
struct Place {
    store: Store,
    project: ProjectId,
    session: Option<SessionId>,
}

fn place(question: &Question<'_>) -> Result<Option<Place>, StoreError> {
    let Some(hint) = question.project else {
        return Ok(None);
    };
    let store = match Store::open_read_only(&question.dir.db()) {
        Err(StoreError::Missing) => return Ok(None),
        store => store?,
    };
    let reads = store.read();
    let Some(project) = reads.project_by_keys(&hint.keys)? else {
        return Ok(None);
    };
    let client_session = ClientSessionId(question.head.session.clone().unwrap_or_default());
    let session = reads
        .session_of_client(question.agent.name, &client_session)?
        .map(|session| session.id);
    Ok(Some(Place {
        store,
        project,
        session,
    }))
}

fn session_start(question: &Question<'_>) -> Result<Option<String>, StoreError> {
    if question.head.source.as_deref() == Some("compact") {
        note_compaction(question)?;
    }
    let settings = question.settings.all();
    let (Some(hint), true) = (question.project, settings.context) else {
        return Ok(None);
    };
    let Some(Place {
        store,
        project,
        session,
    }) = place(question)?
    else {
        return Ok(None);
    };
    let reads = store.read();
    let resumed = question.head.source.as_deref() == Some("resume");
    let resumed = match session.filter(|_| resumed) {
        Some(id) => Some((id, reads.session(id)?.last_activity)),
        None => None,
    };
    let block = context::session_start(
        &reads,
        &context::Ask {
            project,
            name: &hint.name,
            root: Path::new(&hint.root),
            branch: hint.branch.as_deref(),
            resumed,
            budget_tokens: settings.context_tokens,
            parts: context::Parts {
                summary: settings.context_summary,
                index: settings.context_index,
                preferences: settings.context_preferences,
                economics: settings.context_economics,
            },
            zone: &TimeZone::system(),
            notices: &[],
        },
    )?;
    let shown = block.chosen.items.iter().enumerate();
    let shown = shown.map(|(at, item)| {
        (
            item.row.kind,
            item.row.row_id,
            Shown {
                score: item.value,
                rank: at,
                tokens: item.tokens,
                reason: item.reasons.join(", "),
            },
        )
    });
    record(question, "session_start", &shown.collect::<Vec<_>>())?;
    Ok((!block.text.is_empty()).then_some(block.text))
}

fn prompt(question: &Question<'_>) -> Result<Option<String>, StoreError> {
    let settings = question.settings.all();
    let (About::Prompt(text), true) = (&question.about, settings.recall_prompt) else {
        return Ok(None);
    };
    if recall::worth_asking(text).is_none() {
        return Ok(None);
    }
    let Some(place) = place(question)? else {
        return Ok(None);
    };
    let shown = place.shown(question)?;
    let zone = TimeZone::system();
    let ask = place.ask(
        text,
        &shown,
        settings.recall_prompt_tokens,
        recall::FLOOR,
        &zone,
    );
    let recalled = recall::prompt(&place.store.read(), &ask, None)?;
    tell(question, "prompt", recalled)
}

fn note_compaction(question: &Question<'_>) -> Result<(), StoreError> {
    let session = question.head.session.as_deref().unwrap_or_default();
    let mut inbox = crate::store::Inbox::open(&question.dir.db())?;
    inbox.note_compaction(question.agent.name, session, question.now)?;
    inbox.close()
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
    let (Some(hint), Some(place)) = (question.project, place(question)?) else {
        return Ok(None);
    };
    let relative = Path::new(path)
        .strip_prefix(&hint.root)
        .unwrap_or(Path::new(path));
    let relative = relative.to_string_lossy();
    let session = question.head.session.as_deref().unwrap_or_default();
    let reads = place.store.read();
    let since = reads.last_compaction(question.agent.name, session)?;
    let told = reads.feedback_in_session(session)?;
    if told
        .iter()
        .any(|entry| entry.place == "file" && entry.reason == relative && entry.at >= since)
    {
        return Ok(None);
    }
    let shown = place.shown(question)?;
    let ask = context::file::Ask {
        project: place.project,
        own: place.session,
        path: &relative,
        shown: &shown,
        budget_tokens: settings.recall_file_tokens,
        zone: &TimeZone::system(),
    };
    let recalled = context::file::file(&place.store.read(), &ask)?;
    tell(question, "file", recalled)
}

/// The same error seen before.
fn failure(question: &Question<'_>) -> Result<Option<String>, StoreError> {
    let settings = question.settings.all();
    let (About::Failure(output), true) = (&question.about, settings.recall_failure) else {
        return Ok(None);
    };
    let Some(place) = place(question)? else {
        return Ok(None);
    };
    let shown = place.shown(question)?;
    let zone = TimeZone::system();
    let ask = place.ask(
        output,
        &shown,
        settings.recall_failure_tokens,
        context::failure::FLOOR,
        &zone,
    );
    let recalled = context::failure::failure(&place.store.read(), &ask, None)?;
    tell(question, "failure", recalled)
}

impl Place {
    fn shown(&self, question: &Question<'_>) -> Result<HashSet<(RowKind, i64)>, StoreError> {
        let session = question.head.session.as_deref().unwrap_or_default();
        let agent = question.head.agent_id.as_deref().unwrap_or_default();
        let reads = self.store.read();
        let since = reads.last_compaction(question.agent.name, session)?;
        let shown = reads.shown_to(question.agent.name, session, agent, since)?;
        Ok(shown.into_iter().collect())
    }

    fn ask<'a>(
        &self,
        text: &'a str,
        shown: &'a HashSet<(RowKind, i64)>,
        budget_tokens: u32,
        floor: recall::Floor,
        zone: &'a TimeZone,
    ) -> recall::Ask<'a> {
        recall::Ask {
            project: self.project,
            own: self.session,
            prompt: text,
            shown,
            budget_tokens,
            zone,
            floor,
        }
    }
}

/// Notes what is shown, and shows it.
fn tell(
    question: &Question<'_>,
    place: &str,
    recalled: recall::Recalled,
) -> Result<Option<String>, StoreError> {
    let items = recalled.items.into_iter().enumerate().map(|(rank, item)| {
        let reason = item.matched.join(", ");
        (
            item.kind,
            item.row_id,
            Shown {
                score: item.score,
                rank,
                tokens: item.tokens,
                reason,
            },
        )
    });
    record(question, place, &items.collect::<Vec<_>>())?;
    Ok((!recalled.text.is_empty()).then_some(recalled.text))
}

/// What the ledger keeps of one memory that was shown.
struct Shown {
    score: f64,
    rank: usize,
    tokens: u32,
    reason: String,
}

/// The ledger. What cannot be noted now is shown all the same: at worst it is shown twice.
fn record(
    question: &Question<'_>,
    place: &str,
    shown: &[(RowKind, i64, Shown)],
) -> Result<(), StoreError> {
    if shown.is_empty() {
        return Ok(());
    }
    let mut inbox = crate::store::Inbox::open(&question.dir.db())?;
    let entries: Vec<Feedback<'_>> = shown
        .iter()
        .map(|(kind, row_id, shown)| Feedback {
            kind: *kind,
            row_id: *row_id,
            client: question.agent.name,
            session: question.head.session.as_deref().unwrap_or_default(),
            agent_id: question.head.agent_id.as_deref().unwrap_or_default(),
            signal: Signal::Injected,
            place,
            score: Some(shown.score),
            rank: u32::try_from(shown.rank).ok(),
            tokens: shown.tokens,
            reason: &shown.reason,
            at: question.now,
        })
        .collect();
    inbox.record_feedback(&entries)?;
    inbox.close()
}
