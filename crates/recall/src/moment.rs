//! A moment of need as a value: a hook asks the store about it, or a worker that has everything
//! open already. The answer is the same but for the vectors.

use std::borrow::Cow;
use std::collections::HashSet;

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::recall::{self, Ask, Asking, Bar, Brought, Recalled};
use super::{Block, Item, failure};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ClientSessionId, SessionId};
use claude_mem_core::limits::{MESSAGE_BYTES_MAX, RECALL_CHARS_MAX, RECALL_HEAD_CHARS};
use claude_mem_core::tokens;
use claude_mem_redact::HeadTailLimit;
use claude_mem_search::VectorRetriever;
use claude_mem_store::{
    ExposureLevel, FeedbackSignal, IndexRow, NewFeedback, RowId, StoreError, StoreReader,
};

/// The agent that is told something: one of a session may not know what another was told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listener {
    pub client: String,
    pub session: String,
    /// Empty: the session's own agent.
    pub agent_id: String,
}

/// What may bring something to mind, redacted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    pub listener: Listener,
    /// The project's names, strongest first.
    pub project: Vec<String>,
    pub need: Need,
    pub text: String,
    pub budget_tokens: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// A prompt was given.
    Prompt,
    /// A command failed.
    Failure,
}

impl Need {
    /// As the ledger names it.
    pub const fn place(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Failure => "failure",
        }
    }
}

impl Moment {
    /// Of what is said, the part that is asked about. `None`: it is about nothing.
    pub fn text_of(need: Need, said: &str) -> Option<String> {
        let said = match need {
            Need::Prompt => Cow::Borrowed(said),
            Need::Failure => Cow::Owned(failure::telling(said)),
        };
        let text = ends_of(&said);
        Asking::read(&text).map(|_| text.into_owned())
    }

    /// The same of text that was not redacted yet. `None` also for text that is private as a whole.
    pub fn redacted_text_of(need: Need, typed: &str) -> Option<String> {
        let redacted = claude_mem_redact::text(typed, HeadTailLimit::from_total(MESSAGE_BYTES_MAX));
        if redacted.fully_private {
            return None;
        }
        Self::text_of(need, &redacted.text)
    }

    /// What it brings to mind; nothing in a project that memory does not know.
    pub fn recall(
        &self,
        reads: &StoreReader<'_>,
        leg: Option<&mut VectorRetriever<'_>>,
        zone: &TimeZone,
    ) -> Result<Recalled, StoreError> {
        let Some(project) = reads.project_by_keys(&self.project)? else {
            return Ok(Recalled::default());
        };
        let ask = Ask {
            project,
            own: self.listener.own_session(reads)?,
            prompt: &self.text,
            shown: &self.listener.has_heard(reads, ExposureLevel::FullText)?,
            budget_tokens: self.budget_tokens,
            zone,
            bar: match self.need {
                Need::Prompt => Bar::Prompt,
                Need::Failure => Bar::Failure,
            },
        };
        recall::prompt(reads, &ask, leg)
    }
}

/// A long prompt says what it wants before what it pastes, or after.
fn ends_of(said: &str) -> Cow<'_, str> {
    if said.chars().count() <= RECALL_CHARS_MAX {
        return Cow::Borrowed(said);
    }
    let byte_of = |char: usize| said.char_indices().nth(char).map_or(said.len(), |(at, _)| at);
    let head = &said[..byte_of(RECALL_HEAD_CHARS)];
    let rest = RECALL_CHARS_MAX - RECALL_HEAD_CHARS - 1;
    let tail = &said[byte_of(said.chars().count() - rest)..];
    Cow::Owned(format!("{head}\n{tail}"))
}

impl Listener {
    /// The session itself, if it is known already.
    pub fn own_session(&self, reads: &StoreReader<'_>) -> Result<Option<SessionId>, StoreError> {
        let client_session = ClientSessionId(self.session.clone());
        let session = reads.session_of_client(&self.client, &client_session)?;
        Ok(session.map(|session| session.id))
    }

    /// What it was told and has not forgotten since.
    pub fn has_heard(
        &self,
        reads: &StoreReader<'_>,
        heard: ExposureLevel,
    ) -> Result<HashSet<RowId>, StoreError> {
        let Self { client, session, agent_id } = self;
        let since = reads.last_compaction(client, session)?;
        let known = reads.rows_seen_by_agent(client, session, agent_id, since, heard)?;
        Ok(known.into_iter().collect())
    }

    /// What the ledger keeps of having told it these, best first.
    pub fn told<'a>(&'a self, place: &'a str, brought: &'a [Brought], at: Millis) -> Vec<NewFeedback<'a>> {
        let entry = |(rank, item): (usize, &'a Brought)| NewFeedback {
            kind: item.kind,
            row_id: item.row_id,
            client: &self.client,
            session: &self.session,
            agent_id: &self.agent_id,
            signal: FeedbackSignal::Injected,
            place,
            score: Some(item.score),
            rank: u32::try_from(rank).ok(),
            tokens: item.tokens,
            reason: &item.reason,
            at,
        };
        brought.iter().enumerate().map(entry).collect()
    }
}

impl Block {
    /// What stands in it, as the ledger counts it.
    pub fn brought(&self) -> Vec<Brought> {
        let account = self.last.iter().map(|last| Brought {
            kind: last.row_id().kind,
            row_id: last.row_id().row_id,
            title: last.purpose().to_owned(),
            score: 0.0,
            tokens: self.last_tokens,
            reason: "the last session's account".to_owned(),
        });
        let stated = |rows: &'_ [IndexRow], reason: &'static str| -> Vec<Brought> {
            let each = rows.iter().map(|row| Brought {
                kind: row.kind,
                row_id: row.row_id,
                title: row.title.clone(),
                score: 0.0,
                tokens: tokens::estimate(&row.title),
                reason: reason.to_owned(),
            });
            each.collect()
        };
        let preferences = stated(&self.preferences, "a preference")
            .into_iter()
            .chain(stated(&self.rules, "a standing rule"))
            .chain(stated(&self.team, "recorded by another member"));
        let items = self.chosen.items.iter().map(brought_item);
        account.chain(preferences).chain(items).collect()
    }
}

/// A line of the index, as the ledger counts it.
pub fn brought_item(item: &Item) -> Brought {
    Brought {
        kind: item.row.kind,
        row_id: item.row.row_id,
        title: item.row.title.clone(),
        score: item.value,
        tokens: item.tokens,
        reason: item.reasons.join(", "),
    }
}
