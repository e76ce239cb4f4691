//! What a person or an agent does to memory by hand: save, forget, mark.
//!
//! The CLI, MCP and HTTP all come through here, so that redaction, limits and the ledger are the
//! same whichever door was used.

use std::path::Path;

use schemars::JsonSchema;

use crate::clock::Millis;
use crate::context::quote;
use crate::ids::{ClientSessionId, ObservationId, ProjectId, SessionId};
use crate::limits::{FACT_CHARS_MAX, LIST_ENTRIES_MAX, MESSAGE_BYTES_MAX, TITLE_CHARS_MAX};
use crate::memory::{NewObservation, ObservationType, Origin};
use crate::redact::{self, Cut};
use crate::search::{RowKey, index};
use crate::store::{
    Feedback, Level, NewSession, Observation, ObservationEdit, RowKind, Signal, Store, StoreError,
    Stored, VectorStore, Writes,
};
use crate::tokens;
use crate::vocabulary::Vocabulary;

/// Something to be kept, as it was typed.
#[derive(Clone, Debug, Default)]
pub struct Note<'a> {
    pub text: &'a str,
    pub title: Option<&'a str>,
    pub kind: Option<&'a str>,
    /// `None` only at user level.
    pub project: Option<ProjectId>,
    pub global: bool,
    /// Who saves: the person's own words, or the agent's.
    pub by_agent: bool,
    /// The client's session that it is saved from: it knows it already.
    pub session: Option<ClientSession<'a>>,
    /// The words that a type may be; `None`: the standard ones.
    pub vocabulary: Option<&'a Vocabulary>,
}

/// A session as its client calls it.
#[derive(Clone, Copy, Debug)]
pub struct ClientSession<'a> {
    pub client: &'a str,
    pub id: &'a str,
}

#[derive(Debug, thiserror::Error)]
pub enum CannotSave {
    #[error("there is nothing to save")]
    Empty,
    #[error("all of it is private, so nothing was kept")]
    Private,
    #[error("{said:?} is not a type; there are {known}")]
    NoType { said: String, known: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Keeps a note, redacted like everything else. It can be found at once.
pub fn save(store: &mut Store, note: &Note<'_>, now: Millis) -> Result<ObservationId, CannotSave> {
    let text = redact::text(note.text, Cut::of(MESSAGE_BYTES_MAX));
    if text.fully_private {
        return Err(CannotSave::Private);
    }
    let body = text.text.trim();
    let title = note.title.map(|title| {
        redact::text(title, Cut::of(MESSAGE_BYTES_MAX))
            .text
            .trim()
            .to_owned()
    });
    let title = title
        .filter(|title| !title.is_empty())
        .unwrap_or_else(|| first_sentence(body));
    if title.is_empty() {
        return Err(CannotSave::Empty);
    }
    let narrative = if body == title {
        String::new()
    } else {
        body.to_owned()
    };
    // What holds everywhere is for the person to say: an agent's word for it is a proposal.
    let (level, project) = match (note.global, note.by_agent) {
        (true, false) => (Level::User, None),
        (true, true) => (Level::Proposed, note.project),
        (false, _) => (Level::Project, note.project),
    };
    let place = Stored {
        project,
        level,
        made_by: "hand",
        read_tokens: tokens::estimate(&title) + tokens::estimate(&narrative),
        ..Stored::default()
    };
    let new = NewObservation {
        kind: match note.kind {
            Some(kind) => match note.vocabulary {
                Some(vocabulary) => type_of(kind, vocabulary)?,
                None => type_of(kind, &Vocabulary::default())?,
            },
            None => ObservationType::DISCOVERY,
        },
        title,
        subtitle: String::new(),
        narrative,
        facts: Vec::new(),
        concepts: Vec::new(),
        files_read: Vec::new(),
        files_modified: Vec::new(),
        origin: if note.by_agent {
            Origin::Agent
        } else {
            Origin::Manual
        },
        created_at: now,
        discovery_tokens: 0,
    };
    Ok(store.write(|tx| {
        let session = match note.session {
            Some(session) => heard_of(tx, session, note.project, now)?,
            None => None,
        };
        tx.create_observation(&new, &Stored { session, ..place })
    })?)
}

/// The session's row, where hooks tell of it. One that they do not is not made up for a note: its
/// transcript may yet be imported.
fn heard_of(
    tx: &Writes<'_>,
    session: ClientSession<'_>,
    project: Option<ProjectId>,
    now: Millis,
) -> Result<Option<SessionId>, StoreError> {
    let id = ClientSessionId(session.id.to_owned());
    if let Some(known) = tx.session_of_client(session.client, &id)? {
        return Ok(Some(known.id));
    }
    if tx.queued_place(session.client, &id)?.oldest_at.is_none() {
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

/// A type as it was typed. What is no word of the vocabulary would be found by nobody who asks
/// for one of its types.
fn type_of(typed: &str, vocabulary: &Vocabulary) -> Result<ObservationType, CannotSave> {
    vocabulary.type_named(typed).ok_or_else(|| {
        let said = redact::text(typed, Cut::of(MESSAGE_BYTES_MAX)).text;
        CannotSave::NoType {
            said: quote::line(&said, 40),
            known: vocabulary.type_names(),
        }
    })
}

/// What a text without a title is called.
pub(crate) fn first_sentence(text: &str) -> String {
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    let end = line.find(". ").map_or(line.len(), |at| at + 1);
    quote::line(&line[..end], TITLE_CHARS_MAX)
}

/// What a person corrects, as they typed it. Absent means unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Correction {
    pub title: Option<String>,
    pub text: Option<String>,
    pub kind: Option<String>,
    pub facts: Option<Vec<String>>,
}

/// Corrects a memory. What is typed is redacted like everything else, and found at once.
pub fn edit(
    store: &mut Store,
    id: ObservationId,
    correction: &Correction,
    vocabulary: &Vocabulary,
    now: Millis,
) -> Result<(), CannotSave> {
    let edit = ObservationEdit {
        kind: correction.kind.as_deref().map(ObservationType::named),
        title: correction.title.clone(),
        narrative: correction.text.clone(),
        facts: correction.facts.clone(),
        ..ObservationEdit::default()
    };
    correct(store, id, &edit, vocabulary, now)
}

/// Applies a correction of any of its parts, redacted and cut like everything that is stored. What
/// was wrong is so no longer once it says something else.
pub fn correct(
    store: &mut Store,
    id: ObservationId,
    edit: &ObservationEdit,
    vocabulary: &Vocabulary,
    now: Millis,
) -> Result<(), CannotSave> {
    let old = store.read().observation(id)?;
    let mut edit = fitted(edit, &old, vocabulary)?;
    if old.wrong && edit.wrong.is_none() && says_otherwise(&edit, &old) {
        edit.wrong = Some(false);
    }
    Ok(store.write(|tx| tx.edit_observation(id, &edit, now))?)
}

fn says_otherwise(edit: &ObservationEdit, old: &Observation) -> bool {
    edit.title.as_ref().is_some_and(|title| *title != old.title)
        || edit
            .narrative
            .as_ref()
            .is_some_and(|text| *text != old.narrative)
        || edit.facts.as_ref().is_some_and(|facts| *facts != old.facts)
}

fn fitted(
    edit: &ObservationEdit,
    old: &Observation,
    vocabulary: &Vocabulary,
) -> Result<ObservationEdit, CannotSave> {
    let typed = |text: &String| {
        let kept = redact::text(text, Cut::of(MESSAGE_BYTES_MAX));
        if kept.fully_private {
            Err(CannotSave::Private)
        } else {
            Ok(kept.text.trim().to_owned())
        }
    };
    let line = |text: &String| Ok::<_, CannotSave>(quote::line(&typed(text)?, TITLE_CHARS_MAX));
    let list = |entries: &Vec<String>| {
        let kept = entries.iter().take(LIST_ENTRIES_MAX).map(typed);
        let kept: Result<Vec<String>, _> = kept.collect();
        kept.map(|kept| {
            let cut = |text: String| text.chars().take(FACT_CHARS_MAX).collect::<String>();
            let said = kept.into_iter().filter(|text| !text.is_empty());
            said.map(cut).collect::<Vec<_>>()
        })
    };
    let title = edit.title.as_ref().map(line).transpose()?;
    if title.as_ref().is_some_and(String::is_empty) {
        return Err(CannotSave::Empty);
    }
    // What an import brought may be of a type of its own, and stays so.
    let kind = edit.kind.as_ref().map(|kind| match kind {
        kind if *kind == old.kind => Ok(kind.clone()),
        kind => type_of(kind.as_str(), vocabulary),
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

/// A pinned memory is told first, and no newer one takes its place.
pub fn pin(
    store: &mut Store,
    ids: &[ObservationId],
    pinned: bool,
    now: Millis,
) -> Result<(), StoreError> {
    let edit = ObservationEdit {
        pinned: Some(pinned),
        ..ObservationEdit::default()
    };
    store.write(|tx| {
        ids.iter()
            .try_for_each(|id| tx.edit_observation(*id, &edit, now))
    })
}

/// What somebody may say of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Judgement {
    Useless,
    Wrong,
    Useful,
}

impl Judgement {
    pub const fn signal(self) -> Signal {
        match self {
            Self::Useless => Signal::Useless,
            Self::Wrong => Signal::Wrong,
            Self::Useful => Signal::Useful,
        }
    }

    /// Prompts, answers and accounts are what was said: such a row may be useless, never wrong.
    pub fn fits(self, kind: RowKind) -> bool {
        self != Self::Wrong || kind == RowKind::Observation
    }
}

/// Says what a memory was worth. Wrong is more than a mark: it is never offered again, until it is
/// corrected or called useful. True if it was wrong and is no longer.
pub fn mark(
    store: &mut Store,
    kind: RowKind,
    row_id: i64,
    judgement: Judgement,
    from: &From<'_>,
    now: Millis,
) -> Result<bool, StoreError> {
    let back = mark_all(store, &[(kind, row_id)], judgement, from, now)?;
    Ok(!back.is_empty())
}

/// The same for several, all or none. Those that were wrong and are no longer.
pub fn mark_all(
    store: &mut Store,
    rows: &[RowKey],
    judgement: Judgement,
    from: &From<'_>,
    now: Millis,
) -> Result<Vec<RowKey>, StoreError> {
    store.write(|tx| {
        let mut back = Vec::new();
        for &(kind, row_id) in rows {
            if mark_in(tx, (kind, row_id), judgement, now)? {
                back.push((kind, row_id));
            }
            tx.record_feedback(&Feedback {
                kind,
                row_id,
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

/// The flag that goes with the mark. True if it was taken away.
fn mark_in(
    tx: &Writes<'_>,
    (kind, row_id): RowKey,
    judgement: Judgement,
    now: Millis,
) -> Result<bool, StoreError> {
    if kind != RowKind::Observation {
        tx.document(kind, row_id)?.ok_or(StoreError::NoSuchRow {
            what: kind.as_str(),
            id: row_id,
        })?;
        return Ok(false);
    }
    let id = ObservationId(row_id);
    let was = tx.observation(id)?.wrong;
    let wrong = match judgement {
        Judgement::Wrong => true,
        Judgement::Useful => false,
        Judgement::Useless => was,
    };
    if wrong != was {
        let edit = ObservationEdit {
            wrong: Some(wrong),
            ..ObservationEdit::default()
        };
        tx.edit_observation(id, &edit, now)?;
    }
    Ok(was && !wrong)
}

/// Forgets rows, their vectors included. What could not be done about the vectors yet is told, not
/// failed for: they are never read without their row, and their removal stays owed.
pub fn forget(
    store: &mut Store,
    vectors: &Path,
    rows: &[RowKey],
    now: Millis,
) -> Result<Option<StoreError>, StoreError> {
    store.write(|tx| {
        rows.iter()
            .try_for_each(|&(kind, row_id)| tx.forget(kind, row_id, now))
    })?;
    if !vectors.exists() {
        return Ok(None);
    }
    let swept = VectorStore::open(vectors, embed::Model::built_in().id())
        .and_then(|mut vectors| index::sweep(store, &mut vectors));
    Ok(swept.err())
}

/// Which door somebody came through, for the ledger.
#[derive(Clone, Copy, Debug, Default)]
pub struct From<'a> {
    pub client: &'a str,
    pub session: &'a str,
    /// `mcp`, `cli`, `viewer`.
    pub place: &'a str,
}

#[cfg(test)]
#[path = "remember_tests.rs"]
mod tests;
