//! The text of a record: made of a row when it is sent, and taken apart when it is received.
//!
//! Invariant: a body holds no path outside the project, no local mark and no prompt; it went through
//! redaction when it was stored and again here. A received body is cleaned like an import, and nothing in it
//! can make a row pinned, replace a row of another member, or hold in more than its project.

use serde_json::Value;

use crate::share_rules::{ShareFacts, ShareRules, ShareVerdict, share_verdict};
use claude_mem_core::clock::Millis;
use claude_mem_core::glyph::is_invisible;
use claude_mem_core::ids::{AccountId, ObservationId, ProjectId, PublicId};
use claude_mem_core::limits::{FACT_CHARS_MAX, TITLE_CHARS_MAX};
use claude_mem_core::memory::{ObservationType, Origin};
use claude_mem_core::project::REMOTE_KEY;
use claude_mem_store::{
    AccountRecord, MemoryLevel, ObservationRecord, RowId, RowKind, SpaceRow, StoreError, StoreReader,
};
use claude_mem_transfer::import::{CleanRejection, clean_account, clean_observation};
use claude_mem_wire::RecordKind;

/// The format of bodies that this client writes and understands.
pub const BODY_FORMAT: u16 = 1;

/// The field of a body that names its project; only between the user's own machines.
const PLACE: &str = "place";

/// The project of a record between the user's own machines.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct BodyPlace {
    pub uid: PublicId,
    pub name: String,
    pub keys: Vec<String>,
}

/// A row as it would leave.
#[derive(Clone, Debug)]
pub struct OutgoingBody {
    pub uid: PublicId,
    pub kind: RecordKind,
    pub made_at: Millis,
    pub json: String,
    pub verdict: ShareVerdict,
    /// The title, for previews.
    pub title: String,
    pub origin: Origin,
    pub observation_type: String,
}

/// A received row.
#[derive(Clone, Debug)]
pub enum IncomingBody {
    Observation(Box<ObservationRecord>),
    Account(Box<AccountRecord>),
}

/// The row as it would leave the space now; `None` if it is gone.
pub fn outgoing_body(
    reads: &StoreReader<'_>,
    space: &SpaceRow,
    row: RowId,
    rules: &ShareRules,
) -> Result<Option<OutgoingBody>, StoreError> {
    match row.kind {
        RowKind::Observation => outgoing_observation(reads, space, ObservationId(row.row_id), rules),
        RowKind::Account => outgoing_account(reads, space, AccountId(row.row_id), rules),
        RowKind::Summary | RowKind::Prompt | RowKind::Message => Ok(None),
    }
}

fn outgoing_observation(
    reads: &StoreReader<'_>,
    space: &SpaceRow,
    id: ObservationId,
    rules: &ShareRules,
) -> Result<Option<OutgoingBody>, StoreError> {
    let row = RowId::new(RowKind::Observation, id.0);
    let Some(mut record) = reads.observation_record(id)? else { return Ok(None) };
    let project = reads.observation(id)?.project;
    let files = record
        .text
        .files_read
        .iter()
        .chain(&record.text.files_modified)
        .map(String::as_str)
        .collect::<Vec<_>>();
    let is_shared = reads.share_in_space(space.id, row)?.is_some_and(|share| share.rev > 0);
    let facts = ShareFacts {
        is_others: reads.member_of_row(row)?.is_some(),
        level: record.level,
        origin: record.origin.unwrap_or(Origin::Import),
        wrong: record.wrong && !is_shared,
        is_before_sharing: id.0 <= space.from_observation && !is_shared,
        in_space: is_in_space(reads, space, project, row)?,
        files: &files,
    };
    let verdict = share_verdict(&facts, rules);
    // Prompts are never shared, under any field name.
    if !rules.requests && reads.is_prompt_of_session(record.session, &record.text.subtitle)? {
        record.text.subtitle.clear();
    }
    let is_empty = clean_observation(&mut record).is_err();
    let verdict = if is_empty { verdict.without_text() } else { verdict };
    record.text.files_read.retain(|file| is_within_project(file));
    record.text.files_modified.retain(|file| is_within_project(file));
    let sent = ObservationRecord {
        project: None,
        level: MemoryLevel::Project,
        agent_id: None,
        agent_type: None,
        discovery_tokens: 0,
        read_tokens: 0,
        pinned: false,
        updated_at: Millis(0),
        sessions: Vec::new(),
        ..record
    };
    Ok(Some(OutgoingBody {
        uid: sent.uid,
        kind: RecordKind::OBSERVATION,
        made_at: sent.created_at,
        json: with_place(reads, space, project, serde_json::to_value(&sent)?)?,
        verdict,
        origin: sent.origin.unwrap_or(Origin::Import),
        observation_type: sent.text.kind.as_str().to_owned(),
        title: sent.text.title,
    }))
}

fn outgoing_account(
    reads: &StoreReader<'_>,
    space: &SpaceRow,
    id: AccountId,
    rules: &ShareRules,
) -> Result<Option<OutgoingBody>, StoreError> {
    let row = RowId::new(RowKind::Account, id.0);
    let Some(mut record) = reads.account_record(id)? else { return Ok(None) };
    let project = reads.account(id)?.project;
    let files = record.text.files_edited.iter().map(String::as_str).collect::<Vec<_>>();
    let is_shared = reads.share_in_space(space.id, row)?.is_some_and(|share| share.rev > 0);
    let facts = ShareFacts {
        is_others: reads.member_of_row(row)?.is_some(),
        level: MemoryLevel::Project,
        origin: record.origin.unwrap_or(Origin::Import),
        wrong: false,
        is_before_sharing: id.0 <= space.from_account && !is_shared,
        in_space: is_in_space(reads, space, project, row)?,
        files: &files,
    };
    let verdict = share_verdict(&facts, rules);
    // Without a model, the purpose quotes the first prompt.
    if !rules.requests && record.made_by == "local" {
        record.text.purpose.clear();
    }
    let is_empty = clean_account(&mut record).is_err();
    let verdict = if is_empty { verdict.without_text() } else { verdict };
    record.text.files_edited.retain(|file| is_within_project(file));
    let sent = AccountRecord { project: None, ..record };
    let title = [&sent.text.purpose]
        .into_iter()
        .chain(&sent.text.decided)
        .chain(&sent.text.done)
        .find(|line| !line.is_empty());
    Ok(Some(OutgoingBody {
        uid: sent.uid,
        kind: RecordKind::ACCOUNT,
        made_at: sent.created_at,
        title: title.cloned().unwrap_or_default(),
        json: with_place(reads, space, project, serde_json::to_value(&sent)?)?,
        verdict,
        origin: sent.origin.unwrap_or(Origin::Agent),
        observation_type: "account".to_owned(),
    }))
}

/// Whether rows of the project go into the space. Between the user's own machines all projects do that are not
/// shared otherwise, and what they have stays there until the project's space takes it.
fn is_in_space(
    reads: &StoreReader<'_>,
    space: &SpaceRow,
    project: Option<ProjectId>,
    row: RowId,
) -> Result<bool, StoreError> {
    let Some(project) = project else { return Ok(false) };
    if !space.own {
        return Ok(space.project == Some(project));
    }
    let is_shared_otherwise = reads.space_of_project(project)?.is_some_and(|other| other.mode.sends());
    Ok(!is_shared_otherwise || reads.share_in_space(space.id, row)?.is_some())
}

fn with_place(
    reads: &StoreReader<'_>,
    space: &SpaceRow,
    project: Option<ProjectId>,
    mut value: Value,
) -> Result<String, StoreError> {
    if let (true, Some(project), Some(fields)) = (space.own, project, value.as_object_mut()) {
        let known = reads.project_records(Some(project))?.into_iter().next();
        if let Some(known) = known {
            let keys = known.keys.into_iter().filter(|key| key.starts_with(REMOTE_KEY)).collect();
            let place = BodyPlace { uid: known.uid, name: known.name, keys };
            fields.insert(PLACE.to_owned(), serde_json::to_value(place)?);
        }
    }
    Ok(serde_json::to_string(&value)?)
}

/// Paths outside the project are of this machine alone.
fn is_within_project(path: &str) -> bool {
    let has_drive = path.as_bytes().get(1) == Some(&b':');
    !path.starts_with(['/', '~', '\\']) && !has_drive && !path.split('/').any(|part| part == "..")
}

/// Why a received body is not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyRejection {
    #[error("this client does not store records of kind {}", .0.0)]
    OtherKind(RecordKind),
    /// The position only: the parser's message quotes the record.
    #[error("the record cannot be read (at byte {0})")]
    Malformed(usize),
    #[error("nothing of the record is left: {0:?}")]
    Cleaned(CleanRejection),
}

impl From<serde_json::Error> for BodyRejection {
    fn from(error: serde_json::Error) -> Self {
        Self::Malformed(error.column())
    }
}

impl From<CleanRejection> for BodyRejection {
    fn from(why: CleanRejection) -> Self {
        Self::Cleaned(why)
    }
}

/// Takes a received body apart and cleans it.
pub fn incoming_body(
    kind: RecordKind,
    uid: PublicId,
    json: &str,
    at_most: Millis,
) -> Result<IncomingBody, BodyRejection> {
    match kind {
        RecordKind::OBSERVATION => {
            let mut record: ObservationRecord = serde_json::from_str(json)?;
            record.uid = uid;
            clean_incoming(&mut record, at_most)?;
            Ok(IncomingBody::Observation(Box::new(record)))
        }
        RecordKind::ACCOUNT => {
            let mut record: AccountRecord = serde_json::from_str(json)?;
            record.uid = uid;
            record.project = None;
            record.created_at = bounded_time(record.created_at, at_most);
            for list in record.text.lists_mut() {
                tidy_list(list);
            }
            tidy(&mut record.text.purpose, TITLE_CHARS_MAX);
            record.text.files_edited.retain(|file| is_within_project(file));
            record.branch.iter_mut().for_each(|branch| tidy(branch, TITLE_CHARS_MAX));
            clean_account(&mut record)?;
            Ok(IncomingBody::Account(Box::new(record)))
        }
        other => Err(BodyRejection::OtherKind(other)),
    }
}

fn clean_incoming(record: &mut ObservationRecord, at_most: Millis) -> Result<(), CleanRejection> {
    record.project = None;
    record.level = MemoryLevel::Project;
    record.pinned = false;
    record.agent_id = None;
    record.agent_type = None;
    record.sessions.clear();
    record.created_at = bounded_time(record.created_at, at_most);
    record.updated_at = record.created_at;
    tidy(&mut record.text.title, TITLE_CHARS_MAX);
    tidy(&mut record.text.subtitle, TITLE_CHARS_MAX);
    strip_invisible(&mut record.text.narrative);
    for list in [&mut record.text.facts, &mut record.text.concepts] {
        tidy_list(list);
    }
    record.text.files_read.retain(|file| is_within_project(file));
    record.text.files_modified.retain(|file| is_within_project(file));
    record.branch.iter_mut().for_each(|branch| tidy(branch, TITLE_CHARS_MAX));
    if !ObservationType::ALL.contains(&record.text.kind) {
        record.text.kind = ObservationType::DISCOVERY;
    }
    clean_observation(record)
}

/// A clock that runs ahead must not keep a row the newest forever.
fn bounded_time(at: Millis, at_most: Millis) -> Millis {
    Millis(at.0.min(at_most.0).max(0))
}

fn strip_invisible(text: &mut String) {
    if text.chars().any(|c| !c.is_whitespace() && is_invisible(c)) {
        *text = text.chars().filter(|c| c.is_whitespace() || !is_invisible(*c)).collect();
    }
}

fn tidy(text: &mut String, chars_max: usize) {
    strip_invisible(text);
    if text.contains(['\n', '\r']) || text.chars().count() > chars_max {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        *text = line.chars().take(chars_max).collect();
    }
}

fn tidy_list(list: &mut [String]) {
    for entry in list {
        tidy(entry, FACT_CHARS_MAX);
    }
}

/// The project of a body between the user's own machines.
pub fn place_of_body(json: &str) -> Option<BodyPlace> {
    let value: Value = serde_json::from_str(json).ok()?;
    serde_json::from_value(value.get(PLACE)?.clone()).ok()
}

impl IncomingBody {
    pub const fn session(&self) -> Option<PublicId> {
        match self {
            Self::Observation(record) => record.session,
            Self::Account(record) => Some(record.session),
        }
    }

    pub fn branch(&self) -> Option<&str> {
        match self {
            Self::Observation(record) => record.branch.as_deref(),
            Self::Account(record) => record.branch.as_deref(),
        }
    }

    pub const fn created_at(&self) -> Millis {
        match self {
            Self::Observation(record) => record.created_at,
            Self::Account(record) => record.created_at,
        }
    }

    /// All texts that an agent may read.
    pub fn texts(&self) -> Vec<&str> {
        match self {
            Self::Observation(record) => {
                record.text.texts().into_iter().chain(&record.text.facts).map(String::as_str).collect()
            }
            Self::Account(record) => record.text.texts().map(String::as_str).collect(),
        }
    }
}

#[cfg(test)]
#[path = "record_body_tests.rs"]
mod tests;
