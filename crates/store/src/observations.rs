//! Observations: single facts worth remembering.

use rusqlite::{OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{PageRequest, RowFilter, RowId, RowKind, RowPage, StoreError, StoreReader, StoreWriter};
use crate::columns::{JsonList, ReadColumn, SqlColumn, id_column, name_column, text_column};
use crate::documents::DocumentFields;
use claude_mem_core::clock::Millis;
use claude_mem_core::event_key::hex;
use claude_mem_core::ids::{MemberRowId, ObservationId, ProjectId, PublicId, SessionId};
use claude_mem_core::memory::{NewObservation, ObservationType, Origin};
use claude_mem_core::tokens;

/// Seconds within which two observations with identical content are the same one.
const DEDUP_WINDOW_SECONDS: i64 = 30;

/// Which projects an observation applies to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Level")]
pub enum MemoryLevel {
    #[default]
    Project,
    /// The project it was made in, until the user confirms it as a preference.
    Proposed,
    /// All projects.
    User,
}

impl MemoryLevel {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Proposed => "proposed",
            Self::User => "user",
        }
    }

    pub(super) fn from_column(text: &str) -> Self {
        match text {
            "proposed" => Self::Proposed,
            "user" => Self::User,
            _ => Self::Project,
        }
    }
}

/// An observation as stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct Observation {
    pub id: ObservationId,
    pub uid: PublicId,
    pub session: Option<SessionId>,
    pub project: Option<ProjectId>,
    pub level: MemoryLevel,
    pub prompt_number: u32,
    #[serde(rename = "type")]
    pub kind: ObservationType,
    pub title: String,
    pub subtitle: String,
    pub narrative: String,
    pub facts: Vec<String>,
    pub concepts: Vec<String>,
    pub files_read: Vec<String>,
    pub files_modified: Vec<String>,
    pub branch: Option<String>,
    pub agent_type: Option<String>,
    pub origin: Origin,
    pub made_by: String,
    pub discovery_tokens: u32,
    pub read_tokens: u32,
    pub pinned: bool,
    pub wrong: bool,
    pub replaced_by: Option<ObservationId>,
    pub created_at: Millis,
    pub updated_at: Millis,
    /// A person changed its text: consolidation leaves it alone.
    pub edited: bool,
    /// How many sessions said it.
    pub source_count: u32,
    /// The member of the team who recorded it; `None`: one's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberRowId>,
    /// Another member's row that reads like an instruction: it is never offered unasked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub held_back: bool,
}

/// Where a new observation belongs and which compressor made it.
#[derive(Clone, Debug, Default)]
pub struct NewObservationMeta<'a> {
    pub session: Option<SessionId>,
    pub project: Option<ProjectId>,
    pub level: MemoryLevel,
    pub prompt_number: u32,
    pub branch: Option<&'a str>,
    pub agent_id: Option<&'a str>,
    pub agent_type: Option<&'a str>,
    pub made_by: &'a str,
    pub read_tokens: u32,
    pub import_run: Option<i64>,
}

/// What a person may correct. Absent means unchanged.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObservationEdit {
    #[serde(rename = "type")]
    pub kind: Option<ObservationType>,
    pub title: Option<String>,
    pub subtitle: Option<String>,
    pub narrative: Option<String>,
    pub facts: Option<Vec<String>>,
    pub concepts: Option<Vec<String>>,
    pub pinned: Option<bool>,
    pub wrong: Option<bool>,
    pub level: Option<MemoryLevel>,
    /// `updatedAt` of the version that the edit was made from. If the observation has changed since, nothing
    /// is changed and the result is [`StoreError::Conflict`].
    #[serde(rename = "expectedUpdatedAt")]
    pub expected_updated_at: Option<Millis>,
}

impl ObservationEdit {
    /// Whether the edit changes what the observation says.
    pub fn changes_text(&self, old: &Observation) -> bool {
        let differs = |new: &Option<String>, old: &String| new.as_ref().is_some_and(|new| new != old);
        let list_differs =
            |new: &Option<Vec<String>>, old: &Vec<String>| new.as_ref().is_some_and(|new| new != old);
        differs(&self.title, &old.title)
            || differs(&self.subtitle, &old.subtitle)
            || differs(&self.narrative, &old.narrative)
            || list_differs(&self.facts, &old.facts)
            || list_differs(&self.concepts, &old.concepts)
            || self.kind.as_ref().is_some_and(|kind| *kind != old.kind)
    }
}

const COLUMNS: &str = "SELECT id, uid, session_id, project_id, level, prompt_number, type, title, subtitle, narrative,
    facts, concepts, files_read, files_modified, branch, agent_type, origin, made_by, discovery_tokens, read_tokens,
    pinned, wrong, replaced_by, created_at_epoch, updated_at_epoch, edited, source_count, member, held_back
    FROM observations";

fn observation(row: &Row<'_>) -> rusqlite::Result<Observation> {
    Ok(Observation {
        id: row.column(0)?,
        uid: row.column(1)?,
        session: row.column(2)?,
        project: row.column(3)?,
        level: MemoryLevel::from_column(row.get_ref(4)?.as_str()?),
        prompt_number: row.get(5)?,
        kind: ObservationType::named(row.get::<_, String>(6)?),
        title: row.get(7)?,
        subtitle: row.get(8)?,
        narrative: row.get(9)?,
        facts: row.get::<_, JsonList>(10)?.0,
        concepts: row.get::<_, JsonList>(11)?.0,
        files_read: row.get::<_, JsonList>(12)?.0,
        files_modified: row.get::<_, JsonList>(13)?.0,
        branch: row.get(14)?,
        agent_type: row.get(15)?,
        origin: Origin::from_name(row.get_ref(16)?.as_str()?).unwrap_or(Origin::Import),
        made_by: row.get(17)?,
        discovery_tokens: row.get(18)?,
        read_tokens: row.get(19)?,
        pinned: row.get(20)?,
        wrong: row.get(21)?,
        replaced_by: row.column(22)?,
        created_at: row.column(23)?,
        updated_at: row.column(24)?,
        edited: row.get(25)?,
        source_count: row.get(26)?,
        member: row.column(27)?,
        held_back: row.get(28)?,
    })
}

impl StoreReader<'_> {
    pub fn observation(&self, id: ObservationId) -> Result<Observation, StoreError> {
        let found = self
            .0
            .prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?
            .query_row([id.sql()], observation)
            .optional()?;
        found.ok_or(StoreError::NoSuchRow { what: "observation", id: id.0 })
    }

    /// The existing observations among `ids`, in that order.
    pub fn observations_by_id(&self, ids: &[ObservationId]) -> Result<Vec<Observation>, StoreError> {
        let mut by_id = self.0.prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?;
        let mut found = Vec::with_capacity(ids.len());
        for id in ids {
            found.extend(by_id.query_row([id.sql()], observation).optional()?);
        }
        Ok(found)
    }

    pub fn observations(
        &self,
        filter: &RowFilter,
        page: PageRequest,
    ) -> Result<RowPage<Observation>, StoreError> {
        // Few observations are marked: their partial index is better than that of the project.
        let is_marked = (filter.pinned || filter.wrong) && !filter.user_level;
        let project = filter.project.filter(|_| !is_marked);
        let mut clause = RowFilter { session: None, project, ..filter.clone() }.observation_clause();
        if let Some(project) = filter.project.filter(|_| is_marked) {
            clause.and("+project_id = ?", [project.sql()]);
        }
        if let Some(session) = filter.session {
            // Its own rows, and those that it shares with earlier sessions.
            clause.and(
                "session_id = ? OR id IN (SELECT observation_id FROM observation_sources WHERE session_id = ?)",
                [session.sql(), session.sql()],
            );
        }
        for (is_asked, column) in [(filter.pinned, "pinned = 1"), (filter.wrong, "wrong = 1")] {
            if is_asked {
                clause.and(column, []);
            }
        }
        let kind = RowKind::Observation;
        self.and_files(&mut clause, kind, filter.project, &filter.files)?;
        let sql = filter.page_sql(COLUMNS, kind.table(), &mut clause, page);
        let mut statement = self.0.prepare_cached(&sql)?;
        let rows = statement.query_map(rusqlite::params_from_iter(clause.values()), observation)?;
        Ok(RowPage::from_overfetch(rows.collect::<Result<_, _>>()?, page))
    }

    /// All observations at a level, newest first.
    pub fn observations_at_level(&self, level: MemoryLevel) -> Result<Vec<Observation>, StoreError> {
        // Said so that SQLite may use the index of the few rows above the level of a project.
        let few = if level == MemoryLevel::Project { "" } else { " AND level <> 'project'" };
        let mut rows = self
            .0
            .prepare_cached(&format!("{COLUMNS} WHERE level = ?1{few} ORDER BY created_at_epoch DESC"))?;
        Ok(rows.query_map([level.as_str()], observation)?.collect::<Result<_, _>>()?)
    }

    /// An observation with this content, project and level, created at about the same time.
    fn find_duplicate(
        &self,
        hash: &str,
        place: &NewObservationMeta<'_>,
        at: Millis,
    ) -> Result<Option<ObservationId>, StoreError> {
        let window = DEDUP_WINDOW_SECONDS * 1_000;
        Ok(self
            .0
            .prepare_cached(
                "SELECT id FROM observations WHERE content_hash = ?1 AND abs(created_at_epoch - ?2) <= ?3
                 AND project_id IS ?4 AND level = ?5 AND member IS NULL LIMIT 1",
            )?
            .query_row(params![hash, at.sql(), window, place.project.sql(), place.level.as_str()], |row| {
                row.column(0)
            })
            .optional()?)
    }
}

impl StoreWriter<'_> {
    /// Stores an observation, or returns the existing row with the same content.
    pub fn create_observation(
        &self,
        new: &NewObservation,
        place: &NewObservationMeta<'_>,
    ) -> Result<ObservationId, StoreError> {
        let hash = content_hash(place.session, &new.title, &new.narrative);
        if let Some(twin) = self.find_duplicate(&hash, place, new.created_at)? {
            return Ok(twin);
        }
        self.tx
            .prepare_cached(
                "INSERT INTO observations (uid, session_id, project_id, level, prompt_number, type, title, subtitle,
                   narrative, facts, concepts, files_read, files_modified, branch, agent_id, agent_type, origin, made_by,
                   content_hash, discovery_tokens, read_tokens, import_run, created_at_epoch, updated_at_epoch)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
                   ?22, ?23, ?23)",
            )?
            .execute(params![
                PublicId::new().sql(),
                place.session.sql(),
                place.project.sql(),
                place.level.as_str(),
                place.prompt_number,
                new.kind.as_str(),
                text_column(&new.title),
                text_column(&new.subtitle),
                text_column(&new.narrative),
                JsonList(new.facts.clone()),
                JsonList(new.concepts.clone()),
                JsonList(new.files_read.clone()),
                JsonList(new.files_modified.clone()),
                place.branch.map(name_column),
                place.agent_id.map(id_column),
                place.agent_type.map(name_column),
                new.origin.as_str(),
                name_column(place.made_by),
                hash,
                new.discovery_tokens,
                place.read_tokens,
                place.import_run,
                new.created_at.sql(),
            ])?;
        let id = ObservationId(self.tx.last_insert_rowid());
        self.index_observation(id)?;
        Ok(id)
    }

    /// Applies a correction, indexes the new text and queues it for embedding.
    pub fn edit_observation(
        &self,
        id: ObservationId,
        edit: &ObservationEdit,
        now: Millis,
    ) -> Result<(), StoreError> {
        let old = self.observation(id)?;
        if edit.expected_updated_at.is_some_and(|expected| expected != old.updated_at) {
            return Err(StoreError::Conflict { what: "observation", id: id.0 });
        }
        if edit.changes_text(&old) {
            self.record_version(&old, now)?;
        }
        // A wrong memory is offered to nobody, so it cannot be pinned.
        let wrong = edit.wrong.unwrap_or(old.wrong && edit.pinned != Some(true));
        let pinned = edit.pinned.unwrap_or(old.pinned) && !wrong;
        let facts = edit.facts.clone().unwrap_or_else(|| old.facts.clone());
        let concepts = edit.concepts.clone().unwrap_or_else(|| old.concepts.clone());
        let title = edit.title.as_deref().unwrap_or(&old.title);
        let narrative = edit.narrative.as_deref().unwrap_or(&old.narrative);
        let subtitle = edit.subtitle.as_deref().unwrap_or(&old.subtitle);
        let texts = |title, subtitle, narrative, facts: &[String], concepts: &[String]| {
            let lists = facts.iter().chain(concepts).map(String::as_str);
            let all = [title, subtitle, narrative].into_iter().chain(lists);
            all.map(tokens::estimate).sum::<u32>()
        };
        // Adjust by the change of the text: the compressor's count includes more than these fields.
        let before = texts(&old.title, &old.subtitle, &old.narrative, &old.facts, &old.concepts);
        let after = texts(title, subtitle, narrative, &facts, &concepts);
        let read_tokens = (old.read_tokens + after).saturating_sub(before);
        self.tx.execute(
            "UPDATE observations SET type = ?2, title = ?3, subtitle = ?4, narrative = ?5, facts = ?6, concepts = ?7,
               pinned = ?8, wrong = ?9, level = ?10, content_hash = ?11, read_tokens = ?13, edited = max(edited, ?14),
               updated_at_epoch = max(?12, updated_at_epoch + 1)
             WHERE id = ?1",
            params![
                id.sql(),
                edit.kind.as_ref().unwrap_or(&old.kind).as_str(),
                text_column(title),
                text_column(subtitle),
                text_column(narrative),
                JsonList(facts),
                JsonList(concepts),
                pinned,
                wrong,
                edit.level.unwrap_or(old.level).as_str(),
                content_hash(old.session, title, narrative),
                now.sql(),
                read_tokens,
                edit.changes_text(&old),
            ],
        )?;
        self.index_observation(id)
    }

    /// Clears the mark that `older` is replaced.
    pub fn keep_replaced_observation(&self, older: ObservationId) -> Result<(), StoreError> {
        self.observation(older)?;
        self.tx.execute("UPDATE observations SET replaced_by = NULL WHERE id = ?1", [older.sql()])?;
        Ok(())
    }

    /// Marks `older` as replaced by `newer`.
    pub fn replace_observation(&self, older: ObservationId, newer: ObservationId) -> Result<(), StoreError> {
        self.tx.execute(
            "UPDATE observations SET replaced_by = ?2 WHERE id = ?1",
            params![older.sql(), newer.sql()],
        )?;
        Ok(())
    }

    pub(super) fn index_observation(&self, id: ObservationId) -> Result<(), StoreError> {
        let row = self.observation(id)?;
        let mut body = String::with_capacity(row.narrative.len() + 256);
        // The prompt of a session is indexed by itself: every row of the session would answer for it.
        let is_prompt = self.is_session_prompt(row.session, &row.subtitle)?;
        let subtitle = Some(&row.subtitle).filter(|_| !is_prompt);
        for text in subtitle.into_iter().chain([&row.narrative]).chain(&row.facts) {
            if !text.is_empty() {
                body.push_str(text);
                body.push('\n');
            }
        }
        let files = row.files_modified.iter().chain(&row.files_read);
        let tags = row.concepts.iter().chain(files).map(String::as_str);
        let tags: Vec<&str> = tags.collect();
        self.index_document(&DocumentFields {
            kind: RowKind::Observation,
            row_id: id.0,
            project: row.project,
            user_level: row.level == MemoryLevel::User,
            session: row.session,
            at: row.created_at,
            title: &row.title,
            body: body.trim_end(),
            tags: &tags.join(" "),
        })?;
        if let Some(project) = row.project {
            self.index_files(
                RowId::new(RowKind::Observation, id.0),
                project,
                row.created_at,
                &row.files_read,
                &row.files_modified,
            )?;
        }
        Ok(())
    }
}

/// Sixteen hex digits, equal for two observations of one session with the same title and narrative.
pub(super) fn content_hash(session: Option<SessionId>, title: &str, narrative: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(session.map_or(0, |id| id.0).to_le_bytes());
    hash.update((title.len() as u64).to_le_bytes());
    hash.update(title);
    hash.update(narrative);
    hex(&hash.finalize()[..8])
}
