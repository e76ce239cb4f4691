//! Manual edits of memory by the user or an agent: save, correct, pin, mark, forget.
//!
//! The CLI, MCP and HTTP all call these functions, so redaction, limits and the feedback log are
//! the same for each of them.

use std::path::Path;

use schemars::JsonSchema;

use crate::known_note::NewNote;
use crate::quote;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ClientSessionId, ObservationId, ProjectId, SessionId};
use claude_mem_core::limits::{FACT_CHARS_MAX, LIST_ENTRIES_MAX, MESSAGE_BYTES_MAX, TITLE_CHARS_MAX};
use claude_mem_core::memory::{NewObservation, ObservationText, ObservationType, Origin};
use claude_mem_core::vocabulary::Vocabulary;
use claude_mem_distil::EpisodeClaims;
use claude_mem_redact::HeadTailLimit;
use claude_mem_search::index;
use claude_mem_store::{
    FeedbackSignal, MANUAL, MemoryLevel, NewFeedback, NewRowContext, NewSession, Observation,
    ObservationEdit, RowId, RowKind, Store, StoreError, StoreWriter, VectorStore,
};

/// A note to save, as typed.
#[derive(Clone, Debug, Default)]
pub struct ManualNote<'a> {
    pub text: &'a str,
    pub title: Option<&'a str>,
    pub kind: Option<&'a str>,
    /// The project it belongs to; `None` only for a global note.
    pub project: Option<ProjectId>,
    /// Whether it should apply in every project.
    pub global: bool,
    /// Whether an agent saves it, instead of the user.
    pub by_agent: bool,
    /// The client session it is saved from, which need not be told of it again.
    pub session: Option<ClientSession<'a>>,
    /// The allowed types; `None` means the default vocabulary.
    pub vocabulary: Option<&'a Vocabulary>,
}

/// A session by its client and the client's id for it.
#[derive(Clone, Copy, Debug)]
pub struct ClientSession<'a> {
    pub client: &'a str,
    pub id: &'a str,
}

/// Why a note or correction was not saved.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    #[error("nothing to save")]
    Empty,
    #[error("the whole text is private; nothing was saved")]
    Private,
    #[error("{said:?} is not a type; known types: {known}")]
    UnknownType { said: String, known: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Saves a note, redacted like all stored text. It can be found immediately.
pub fn save(store: &mut Store, note: &ManualNote<'_>, now: Millis) -> Result<ObservationId, SaveError> {
    let text = claude_mem_redact::text(note.text, HeadTailLimit::from_total(MESSAGE_BYTES_MAX));
    if text.fully_private {
        return Err(SaveError::Private);
    }
    let body = text.text.trim();
    let title = note.title.map(|title| {
        claude_mem_redact::text(title, HeadTailLimit::from_total(MESSAGE_BYTES_MAX)).text.trim().to_owned()
    });
    let title = title.filter(|title| !title.is_empty()).unwrap_or_else(|| first_sentence(body));
    if title.is_empty() {
        return Err(SaveError::Empty);
    }
    let narrative = if body == title { String::new() } else { body.to_owned() };
    // Only the user can make a memory global; an agent's request is stored as a proposal.
    let (level, project) = match (note.global, note.by_agent) {
        (true, false) => (MemoryLevel::User, None),
        (true, true) => (MemoryLevel::Proposed, note.project),
        (false, _) => (MemoryLevel::Project, note.project),
    };
    let kind = match note.kind {
        Some(kind) => match note.vocabulary {
            Some(vocabulary) => parse_type(kind, vocabulary)?,
            None => parse_type(kind, &Vocabulary::default())?,
        },
        None => ObservationType::DISCOVERY,
    };
    let text = ObservationText { narrative, ..ObservationText::new(kind, title) };
    let place = NewRowContext {
        project,
        level,
        made_by: MANUAL,
        read_tokens: text.read_tokens(),
        ..NewRowContext::default()
    };
    let origin = if note.by_agent { Origin::Agent } else { Origin::Manual };
    let new = NewObservation::from_text(text, origin, now);
    Ok(store.write(|tx| {
        let session = match note.session {
            Some(session) => known_session(tx, session, note.project, now)?,
            None => None,
        };
        let known = NewNote { observation: &new, project, session }.merge_into_known(tx, now)?;
        if let Some(known) = known {
            return Ok(known);
        }
        tx.create_observation(&new, &NewRowContext { session, ..place })
    })?)
}

/// The session's row, if hooks have reported the session. Otherwise none is created: its transcript
/// may be imported later.
fn known_session(
    tx: &StoreWriter<'_>,
    session: ClientSession<'_>,
    project: Option<ProjectId>,
    now: Millis,
) -> Result<Option<SessionId>, StoreError> {
    let id = ClientSessionId(session.id.to_owned());
    if let Some(known) = tx.session_of_client(session.client, &id)? {
        return Ok(Some(known.id));
    }
    if tx.queued_session_info(session.client, &id)?.oldest_at.is_none() {
        return Ok(None);
    }
    let made = tx.ensure_session(&NewSession {
        client: session.client,
        client_session: &id,
        project,
        branch: None,
        transcript_path: None,
        origin: Origin::Agent,
        import_run: None,
        at: now,
    })?;
    Ok(Some(made))
}

/// Parses a type. Unknown types are refused, because no filter by type would ever find them.
fn parse_type(typed: &str, vocabulary: &Vocabulary) -> Result<ObservationType, SaveError> {
    vocabulary.find_type(typed).ok_or_else(|| {
        let said = claude_mem_redact::text(typed, HeadTailLimit::from_total(MESSAGE_BYTES_MAX)).text;
        SaveError::UnknownType { said: quote::line(&said, 40), known: vocabulary.type_names() }
    })
}

/// The first sentence of a text, as its title.
pub fn first_sentence(text: &str) -> String {
    quote::line(claude_mem_core::first_sentence(text), TITLE_CHARS_MAX)
}

/// A correction as typed; `None` means unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservationCorrection {
    pub title: Option<String>,
    pub text: Option<String>,
    pub kind: Option<String>,
    pub facts: Option<Vec<String>>,
}

/// Corrects an observation. The text is redacted like all stored text, and can be found
/// immediately.
pub fn edit(
    store: &mut Store,
    id: ObservationId,
    correction: &ObservationCorrection,
    vocabulary: &Vocabulary,
    now: Millis,
) -> Result<(), SaveError> {
    let edit = ObservationEdit {
        kind: correction.kind.as_deref().map(ObservationType::named),
        title: correction.title.clone(),
        narrative: correction.text.clone(),
        facts: correction.facts.clone(),
        ..ObservationEdit::default()
    };
    correct(store, id, &edit, vocabulary, now)
}

/// Applies an edit of any fields, redacted and cut like all stored text. Changing the text of an
/// observation clears its "wrong" mark.
pub fn correct(
    store: &mut Store,
    id: ObservationId,
    edit: &ObservationEdit,
    vocabulary: &Vocabulary,
    now: Millis,
) -> Result<(), SaveError> {
    let old = store.read().observation(id)?;
    let mut edit = redact_edit(edit, &old, vocabulary)?;
    if old.wrong && edit.wrong.is_none() && changes_text(&edit, &old) {
        edit.wrong = Some(false);
    }
    Ok(store.write(|tx| tx.edit_observation(id, &edit, now))?)
}

/// Whether the edit changes title, narrative or facts.
fn changes_text(edit: &ObservationEdit, old: &Observation) -> bool {
    edit.title.as_ref().is_some_and(|title| *title != old.text.title)
        || edit.narrative.as_ref().is_some_and(|text| *text != old.text.narrative)
        || edit.facts.as_ref().is_some_and(|facts| *facts != old.text.facts)
}

fn redact_edit(
    edit: &ObservationEdit,
    old: &Observation,
    vocabulary: &Vocabulary,
) -> Result<ObservationEdit, SaveError> {
    let typed = |text: &String| {
        let kept = claude_mem_redact::text(text, HeadTailLimit::from_total(MESSAGE_BYTES_MAX));
        if kept.fully_private { Err(SaveError::Private) } else { Ok(kept.text.trim().to_owned()) }
    };
    let line = |text: &String| Ok::<_, SaveError>(quote::line(&typed(text)?, TITLE_CHARS_MAX));
    let list = |entries: &Vec<String>| {
        let redacted = entries.iter().take(LIST_ENTRIES_MAX).map(typed);
        let kept: Result<Vec<String>, _> = redacted.collect();
        kept.map(|kept| {
            let cut = |text: String| text.chars().take(FACT_CHARS_MAX).collect::<String>();
            let said = kept.into_iter().filter(|text| !text.is_empty());
            said.map(cut).collect::<Vec<_>>()
        })
    };
    let title = edit.title.as_ref().map(line).transpose()?;
    if title.as_ref().is_some_and(String::is_empty) {
        return Err(SaveError::Empty);
    }
    // An imported observation may keep a type outside the vocabulary.
    let kind = edit.kind.as_ref().map(|kind| match kind {
        kind if *kind == old.text.kind => Ok(kind.clone()),
        kind => parse_type(kind.as_str(), vocabulary),
    });
    Ok(ObservationEdit {
        kind: kind.transpose()?,
        title,
        subtitle: edit.subtitle.as_ref().map(line).transpose()?,
        narrative: edit.narrative.as_ref().map(typed).transpose()?,
        facts: edit.facts.as_ref().map(list).transpose()?,
        concepts: edit.concepts.as_ref().map(list).transpose()?,
        ..edit.clone()
    })
}

/// Pins or unpins observations. A pinned one is shown first and never superseded.
pub fn pin(store: &mut Store, ids: &[ObservationId], pinned: bool, now: Millis) -> Result<(), StoreError> {
    let edit = ObservationEdit { pinned: Some(pinned), ..ObservationEdit::default() };
    store.write(|tx| ids.iter().try_for_each(|id| tx.edit_observation(*id, &edit, now)))
}

/// A user's or agent's verdict on a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Judgement {
    Useless,
    Wrong,
    Useful,
}

impl Judgement {
    /// The feedback signal it is recorded as.
    pub const fn signal(self) -> FeedbackSignal {
        match self {
            Self::Useless => FeedbackSignal::Useless,
            Self::Wrong => FeedbackSignal::Wrong,
            Self::Useful => FeedbackSignal::Useful,
        }
    }

    /// Whether this verdict applies to a kind of row. Only observations can be wrong; prompts,
    /// messages and summaries record what was said.
    pub fn applies_to(self, kind: RowKind) -> bool {
        self != Self::Wrong || kind == RowKind::Observation
    }
}

/// Records a verdict on a row. A wrong observation is never shown again until it is corrected or
/// marked useful. Returns whether this cleared a "wrong" mark.
pub fn mark(
    store: &mut Store,
    row: RowId,
    judgement: Judgement,
    from: &FeedbackSource<'_>,
    now: Millis,
) -> Result<bool, StoreError> {
    let back = mark_all(store, &[row], judgement, from, now)?;
    Ok(!back.is_empty())
}

/// Takes back the last verdict of this kind from the same place. False if there is none. Flags stay as they are.
pub fn unmark(
    store: &mut Store,
    row: RowId,
    judgement: Judgement,
    from: &FeedbackSource<'_>,
) -> Result<bool, StoreError> {
    store.write(|tx| tx.remove_last_feedback(row, judgement.signal(), from.place))
}

/// Records a verdict on several rows in one transaction. Returns the rows whose "wrong" mark was
/// cleared.
pub fn mark_all(
    store: &mut Store,
    rows: &[RowId],
    judgement: Judgement,
    from: &FeedbackSource<'_>,
    now: Millis,
) -> Result<Vec<RowId>, StoreError> {
    store.write(|tx| {
        let mut back = Vec::new();
        for &row in rows {
            if apply_mark(tx, row, judgement, now)? {
                back.push(row);
            }
            tx.record_feedback(&NewFeedback {
                kind: row.kind,
                row_id: row.row_id,
                client: from.client,
                session: from.session,
                agent_id: "",
                signal: judgement.signal(),
                place: from.place,
                score: None,
                rank: None,
                tokens: 0,
                reason: "",
                at: now,
            })?;
        }
        Ok(back)
    })
}

/// Sets or clears the "wrong" flag. Returns whether it was cleared.
fn apply_mark(
    tx: &StoreWriter<'_>,
    row: RowId,
    judgement: Judgement,
    now: Millis,
) -> Result<bool, StoreError> {
    if row.kind != RowKind::Observation {
        tx.document(row)?.ok_or(StoreError::NoSuchRow { what: row.kind.as_str(), id: row.row_id })?;
        return Ok(false);
    }
    let id = ObservationId(row.row_id);
    let was = tx.observation(id)?.wrong;
    let wrong = match judgement {
        Judgement::Wrong => true,
        Judgement::Useful => false,
        Judgement::Useless => was,
    };
    if wrong != was {
        let edit = ObservationEdit { wrong: Some(wrong), ..ObservationEdit::default() };
        tx.edit_observation(id, &edit, now)?;
    }
    Ok(was && !wrong)
}

/// Deletes rows and their vectors. If removing vectors fails, the error is returned in `Ok`: they
/// are never read without their row, and their removal stays in the backlog.
pub fn forget(
    store: &mut Store,
    vectors: &Path,
    rows: &[RowId],
    now: Millis,
) -> Result<Option<StoreError>, StoreError> {
    store.write(|tx| {
        rows.iter().try_for_each(|row| {
            let sessions = sessions_of_row(tx, *row)?;
            tx.forget(*row, now)?;
            sessions.into_iter().try_for_each(|session| refresh_account(tx, session))
        })
    })?;
    if !vectors.exists() {
        return Ok(None);
    }
    let swept = VectorStore::open(vectors, embed::EmbeddingModel::built_in().id())
        .and_then(|mut vectors| index::remove_orphan_vectors(store, &mut vectors));
    Ok(swept.err())
}

/// Restores a forgotten row and what was made from it. False if that is no longer possible.
pub fn undo_forget(store: &mut Store, row: RowId) -> Result<bool, StoreError> {
    store.write(|tx| {
        if !tx.undo_forget(row)? {
            return Ok(false);
        }
        sessions_of_row(tx, row)?.into_iter().try_for_each(|session| refresh_account(tx, session))?;
        Ok(true)
    })
}

/// The sessions whose account may repeat a row.
fn sessions_of_row(tx: &StoreWriter<'_>, row: RowId) -> Result<Vec<SessionId>, StoreError> {
    match row.kind {
        RowKind::Observation => tx.sessions_of_observation(ObservationId(row.row_id)),
        RowKind::Account | RowKind::Summary | RowKind::Prompt | RowKind::Message => Ok(Vec::new()),
    }
}

/// Makes the account of a session anew from the claims that are left.
fn refresh_account(tx: &StoreWriter<'_>, session: SessionId) -> Result<(), StoreError> {
    let (stored, known) = (tx.session_claims(session)?, tx.account_of_session(session)?);
    let Some(known) = known.filter(|_| !stored.is_empty()) else {
        return Ok(());
    };
    let episodes: Vec<EpisodeClaims> =
        stored.iter().map(|claims| serde_json::from_str(&claims.body)).collect::<Result<_, _>>()?;
    if let Some(account) = claude_mem_distil::consolidate(&episodes).account {
        let place = NewRowContext {
            project: known.project,
            branch: known.branch.as_deref(),
            made_by: &known.made_by,
            read_tokens: account.text.read_tokens(),
            ..NewRowContext::default()
        };
        tx.set_session_account(session, &account, &place)?;
    }
    Ok(())
}

/// Where feedback came from, for the feedback log.
#[derive(Clone, Copy, Debug, Default)]
pub struct FeedbackSource<'a> {
    pub client: &'a str,
    pub session: &'a str,
    /// The interface: `mcp`, `cli` or `viewer`.
    pub place: &'a str,
}

#[cfg(test)]
#[path = "manual_edits_tests.rs"]
mod tests;
