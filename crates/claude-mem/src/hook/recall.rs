//! What a hook tells the agent, beyond "go on".
//!
//! Invariant: whatever goes wrong here costs the agent a memory, never its turn.

use std::collections::HashSet;
use std::path::Path;

use jiff::tz::TimeZone;

use super::agents::{Agent, Kind};
use super::answer::Answer;
use super::event::ProjectHint;
use super::settings::HookSettings;
use super::wire::Head;
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
    /// The prompt as it was kept: redacted.
    pub prompt: Option<&'a str>,
    pub settings: &'a HookSettings,
    pub now: Millis,
}

/// The answer to one hook call.
pub fn answer(question: &Question<'_>) -> Answer {
    let told = match question.kind {
        Kind::SessionStart => session_start(question),
        Kind::Prompt => prompt(question),
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
    record(question, "session_start", shown.collect())?;
    Ok((!block.text.is_empty()).then_some(block.text))
}

fn prompt(question: &Question<'_>) -> Result<Option<String>, StoreError> {
    let settings = question.settings.all();
    let (Some(text), true) = (question.prompt, settings.recall_prompt) else {
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
    let session_name = question.head.session.as_deref().unwrap_or_default();
    let shown = reads.shown_to(question.agent.name, session_name, "", Millis(0))?;
    let shown: HashSet<(RowKind, i64)> = shown.into_iter().collect();
    let recalled = recall::prompt(
        &reads,
        &recall::Ask {
            project,
            own: session,
            prompt: text,
            shown: &shown,
            budget_tokens: settings.recall_prompt_tokens,
            zone: &TimeZone::system(),
            floor: recall::FLOOR,
        },
        None,
    )?;
    let items = recalled.items.into_iter().enumerate().map(|(at, item)| {
        let reason = format!("matched {}", item.matched.join(", "));
        (
            item.kind,
            item.row_id,
            Shown {
                score: item.score,
                rank: at,
                tokens: item.tokens,
                reason,
            },
        )
    });
    record(question, "prompt", items.collect())?;
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
    shown: Vec<(RowKind, i64, Shown)>,
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
