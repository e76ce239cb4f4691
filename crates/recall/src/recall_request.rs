//! [`RecallRequest`]: a request for memories as a value. A hook answers it from the store, or sends it to the
//! worker, which has everything open. The answer is the same except for the vectors.

use std::borrow::Cow;
use std::collections::HashSet;

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::recall::{self, EvidenceThreshold, PromptQuestion, RecallQuery, RecalledMemory, RecalledText};
use super::{IndexItem, StartContextText, failure};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ClientSessionId, SessionId};
use claude_mem_core::limits::{MESSAGE_BYTES_MAX, RECALL_CHARS_MAX, RECALL_HEAD_CHARS};
use claude_mem_core::tokens;
use claude_mem_redact::HeadTailLimit;
use claude_mem_search::VectorRetriever;
use claude_mem_store::{
    ExposureLevel, FeedbackSignal, IndexRow, NewFeedback, RowId, StoreError, StoreReader,
};

/// The agent that receives memories. Each agent of a session has its own record of what it was shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecallTarget {
    pub client: String,
    pub session: String,
    /// Empty: the session's own agent.
    pub agent_id: String,
}

/// A request for memories about a prompt or a failed command; its text is redacted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecallRequest {
    #[serde(rename = "listener")]
    pub recipient: RecallTarget,
    /// The project's keys, strongest first.
    pub project: Vec<String>,
    #[serde(rename = "need")]
    pub occasion: RecallOccasion,
    pub text: String,
    pub budget_tokens: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecallOccasion {
    /// A prompt was given.
    Prompt,
    /// A command failed.
    Failure,
}

impl RecallOccasion {
    /// The name of the occasion in the ledger.
    pub const fn place(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Failure => "failure",
        }
    }
}

impl RecallRequest {
    /// The part of a text that is searched for. `None` if it is about nothing in particular.
    pub fn text_of(occasion: RecallOccasion, said: &str) -> Option<String> {
        let said = match occasion {
            RecallOccasion::Prompt => Cow::Borrowed(said),
            RecallOccasion::Failure => Cow::Owned(failure::telling(said)),
        };
        let text = ends_of(&said);
        PromptQuestion::read(&text).map(|_| text.into_owned())
    }

    /// The same of text that was not redacted yet. `None` also for text that is private as a whole.
    pub fn redacted_text_of(occasion: RecallOccasion, typed: &str) -> Option<String> {
        let redacted = claude_mem_redact::text(typed, HeadTailLimit::from_total(MESSAGE_BYTES_MAX));
        if redacted.fully_private {
            return None;
        }
        Self::text_of(occasion, &redacted.text)
    }

    /// The recalled memories; none in a project that the store does not know.
    pub fn recall(
        &self,
        reads: &StoreReader<'_>,
        retriever: Option<&mut VectorRetriever<'_>>,
        zone: &TimeZone,
    ) -> Result<RecalledText, StoreError> {
        let Some(project) = reads.project_by_keys(&self.project)? else {
            return Ok(RecalledText::default());
        };
        let ask = RecallQuery {
            project,
            own: self.recipient.own_session(reads)?,
            prompt: &self.text,
            shown: &self.recipient.shown_rows(reads, ExposureLevel::FullText)?,
            budget_tokens: self.budget_tokens,
            zone,
            threshold: match self.occasion {
                RecallOccasion::Prompt => EvidenceThreshold::Prompt,
                RecallOccasion::Failure => EvidenceThreshold::Failure,
            },
        };
        recall::recall_for_prompt(reads, &ask, retriever)
    }
}

/// The beginning and the end of a long text: a prompt states its request before or after what it pastes.
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

impl RecallTarget {
    /// The session itself, if it is known already.
    pub fn own_session(&self, reads: &StoreReader<'_>) -> Result<Option<SessionId>, StoreError> {
        let client_session = ClientSessionId(self.session.clone());
        let session = reads.session_of_client(&self.client, &client_session)?;
        Ok(session.map(|session| session.id))
    }

    /// The memories that it was shown and still has in its context.
    pub fn shown_rows(
        &self,
        reads: &StoreReader<'_>,
        level: ExposureLevel,
    ) -> Result<HashSet<RowId>, StoreError> {
        let Self { client, session, agent_id } = self;
        let since = reads.last_compaction(client, session)?;
        let known = reads.rows_seen_by_agent(client, session, agent_id, since, level)?;
        Ok(known.into_iter().collect())
    }

    /// The ledger entries that record that it was shown these memories, best first.
    pub fn shown_entries<'a>(
        &'a self,
        place: &'a str,
        brought: &'a [RecalledMemory],
        at: Millis,
    ) -> Vec<NewFeedback<'a>> {
        let entry = |(rank, item): (usize, &'a RecalledMemory)| NewFeedback {
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

impl StartContextText {
    /// Its memories, as the ledger counts them.
    pub fn brought(&self) -> Vec<RecalledMemory> {
        let account = self.last.iter().map(|last| RecalledMemory {
            kind: last.row_id().kind,
            row_id: last.row_id().row_id,
            title: last.purpose().to_owned(),
            score: 0.0,
            tokens: self.last_tokens,
            reason: "the last session's account".to_owned(),
        });
        let stated = |rows: &'_ [IndexRow], reason: &'static str| -> Vec<RecalledMemory> {
            let each = rows.iter().map(|row| RecalledMemory {
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
            .chain(stated(&self.known, "known about working here"))
            .chain(stated(&self.team, "recorded by another member"));
        let items = self.chosen.items.iter().map(brought_item);
        account.chain(preferences).chain(items).collect()
    }
}

/// A line of the index, as the ledger counts it.
pub fn brought_item(item: &IndexItem) -> RecalledMemory {
    RecalledMemory {
        kind: item.row.kind,
        row_id: item.row.row_id,
        title: item.row.title.clone(),
        score: item.value,
        tokens: item.tokens,
        reason: item.reasons.join(", "),
    }
}
