//! Observations: single facts worth remembering.

use rusqlite::{OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::filter::WhereClause;
use super::{
    MemoryLevel, NewRowContext, PageRequest, RowFilter, RowId, RowKind, RowPage, StoreError, StoreReader,
    StoreWriter,
};
use crate::columns::{ReadColumn, SqlColumn, id_column, name_column, read_origin};
use crate::documents::DocumentFields;
use crate::row_values::{RowValues, TextColumns};
use claude_mem_core::clock::Millis;
use claude_mem_core::event_key::hex;
use claude_mem_core::ids::{MemberRowId, ObservationId, ProjectId, PublicId, SessionId};
use claude_mem_core::memory::{NewObservation, ObservationText, ObservationType, Origin};

/// Seconds within which two observations with identical content are the same one.
const DEDUP_WINDOW_SECONDS: i64 = 30;

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
    #[serde(flatten)]
    pub text: ObservationText,
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
    /// The member of the team who recorded it; `None` for the user's own rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberRowId>,
    /// Another member's row that reads like an instruction: it is never offered unasked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub held_back: bool,
}

/// The `made_by` value of notes that a person or an agent saved.
pub const MANUAL: &str = "hand";

/// The fields that a person may correct. Absent means unchanged.
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
        self.applied_to(&old.text) != old.text
    }

    /// The text after the edit.
    fn applied_to(&self, old: &ObservationText) -> ObservationText {
        let Self { kind, title, subtitle, narrative, facts, concepts, .. } = self.clone();
        let old = old.clone();
        ObservationText {
            kind: kind.unwrap_or(old.kind),
            title: title.unwrap_or(old.title),
            subtitle: subtitle.unwrap_or(old.subtitle),
            narrative: narrative.unwrap_or(old.narrative),
            facts: facts.unwrap_or(old.facts),
            concepts: concepts.unwrap_or(old.concepts),
            files_read: old.files_read,
            files_modified: old.files_modified,
        }
    }
}

fn select_observations() -> String {
    format!(
        "SELECT id, uid, session_id, project_id, level, prompt_number, branch, agent_type, origin, made_by,
           discovery_tokens, read_tokens, pinned, wrong, replaced_by, created_at_epoch, updated_at_epoch, edited,
           source_count, member, held_back, {} FROM observations",
        ObservationText::select_list("")
    )
}

fn observation(row: &Row<'_>) -> rusqlite::Result<Observation> {
    Ok(Observation {
        id: row.column(0)?,
        uid: row.column(1)?,
        session: row.column(2)?,
        project: row.column(3)?,
        level: MemoryLevel::from_column(row.get_ref(4)?.as_str()?),
        prompt_number: row.get(5)?,
        branch: row.get(6)?,
        agent_type: row.get(7)?,
        origin: read_origin(row, 8)?,
        made_by: row.get(9)?,
        discovery_tokens: row.get(10)?,
        read_tokens: row.get(11)?,
        pinned: row.get(12)?,
        wrong: row.get(13)?,
        replaced_by: row.column(14)?,
        created_at: row.column(15)?,
        updated_at: row.column(16)?,
        edited: row.get(17)?,
        source_count: row.get(18)?,
        member: row.column(19)?,
        held_back: row.get(20)?,
        text: ObservationText::read(row, 21)?,
    })
}

impl StoreReader<'_> {
    pub fn observation(&self, id: ObservationId) -> Result<Observation, StoreError> {
        let sql = format!("{} WHERE id = ?1", select_observations());
        let found = self.0.prepare_cached(&sql)?.query_row([id.sql()], observation).optional()?;
        found.ok_or(StoreError::NoSuchRow { what: "observation", id: id.0 })
    }

    /// The existing observations among `ids`, in that order.
    pub fn observations_by_id(&self, ids: &[ObservationId]) -> Result<Vec<Observation>, StoreError> {
        let mut by_id = self.0.prepare_cached(&format!("{} WHERE id = ?1", select_observations()))?;
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
        let (sql, clause) = self.observations_sql(filter, page)?;
        let mut statement = self.0.prepare_cached(&sql)?;
        let rows = statement.query_map(rusqlite::params_from_iter(clause.values()), observation)?;
        Ok(RowPage::from_overfetch(rows.collect::<Result<_, _>>()?, page))
    }

    /// The query of one page of observations, and its values.
    fn observations_sql(
        &self,
        filter: &RowFilter,
        page: PageRequest,
    ) -> Result<(String, WhereClause), StoreError> {
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
        let sql = filter.page_sql(&select_observations(), kind.table(), &mut clause, page);
        Ok((sql, clause))
    }

    /// All observations at a level, newest first.
    pub fn observations_at_level(&self, level: MemoryLevel) -> Result<Vec<Observation>, StoreError> {
        // Said so that SQLite may use the index of the few rows above the level of a project.
        let few = if level == MemoryLevel::Project { "" } else { " AND level <> 'project'" };
        let sql = format!("{} WHERE level = ?1{few} ORDER BY created_at_epoch DESC", select_observations());
        let mut rows = self.0.prepare_cached(&sql)?;
        Ok(rows.query_map([level.as_str()], observation)?.collect::<Result<_, _>>()?)
    }

    /// An observation with this content, project and level, created at about the same time.
    fn find_duplicate(
        &self,
        hash: &str,
        place: &NewRowContext<'_>,
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
        place: &NewRowContext<'_>,
    ) -> Result<ObservationId, StoreError> {
        let hash = content_hash(place.session, &new.text);
        if let Some(twin) = self.find_duplicate(&hash, place, new.created_at)? {
            return Ok(twin);
        }
        let id = RowValues::from_text(&new.text)
            .set("uid", PublicId::new().sql())
            .set("session_id", place.session.sql())
            .set("project_id", place.project.sql())
            .set("level", place.level.as_str())
            .set("prompt_number", place.prompt_number)
            .set("branch", place.branch.map(name_column))
            .set("agent_id", place.agent_id.map(id_column))
            .set("agent_type", place.agent_type.map(name_column))
            .set("origin", new.origin.as_str())
            .set("made_by", name_column(place.made_by))
            .set("content_hash", hash)
            .set("discovery_tokens", new.discovery_tokens)
            .set("read_tokens", place.read_tokens)
            .set("import_run", place.import_run)
            .set("created_at_epoch", new.created_at.sql())
            .set("updated_at_epoch", new.created_at.sql())
            .insert(self.tx, RowKind::Observation.table())?;
        let id = ObservationId(id);
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
        let takes_over =
            edit.pinned == Some(true) || edit.level.is_some_and(|level| level != MemoryLevel::Project);
        if old.member.is_some() && (takes_over || edit.changes_text(&old)) {
            return Err(StoreError::OthersRow { what: "observation", id: id.0 });
        }
        if edit.changes_text(&old) {
            self.record_version(&old, now)?;
        }
        // A wrong memory is offered to nobody, so it cannot be pinned.
        let wrong = edit.wrong.unwrap_or(old.wrong && edit.pinned != Some(true));
        let pinned = edit.pinned.unwrap_or(old.pinned) && !wrong;
        let text = edit.applied_to(&old.text);
        // Adjusted by the change of the text: an imported row may have come with a count of its own.
        let read_tokens = (old.read_tokens + text.read_tokens()).saturating_sub(old.text.read_tokens());
        RowValues::from_text(&text)
            .set("pinned", pinned)
            .set("wrong", wrong)
            .set("level", edit.level.unwrap_or(old.level).as_str())
            .set("content_hash", content_hash(old.session, &text))
            .set("read_tokens", read_tokens)
            .set_to("edited", "max(edited, ?)", text != old.text)
            .set_to("updated_at_epoch", "max(?, updated_at_epoch + 1)", now.sql())
            .update(self.tx, RowKind::Observation.table(), id.0)?;
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
        let mut body = String::with_capacity(row.text.narrative.len() + 256);
        // The prompt of a session is indexed by itself: every row of the session would answer for it.
        let is_prompt = self.is_session_prompt(row.session, &row.text.subtitle)?;
        let subtitle = Some(&row.text.subtitle).filter(|_| !is_prompt);
        for text in subtitle.into_iter().chain([&row.text.narrative]).chain(&row.text.facts) {
            if !text.is_empty() {
                body.push_str(text);
                body.push('\n');
            }
        }
        let files = row.text.files_modified.iter().chain(&row.text.files_read);
        let tags = row.text.concepts.iter().chain(files).map(String::as_str);
        let tags: Vec<&str> = tags.collect();
        self.index_document(&DocumentFields {
            kind: RowKind::Observation,
            row_id: id.0,
            project: row.project,
            user_level: row.level == MemoryLevel::User,
            session: row.session,
            at: row.created_at,
            title: &row.text.title,
            body: body.trim_end(),
            tags: &tags.join(" "),
        })?;
        if let Some(project) = row.project {
            self.index_files(
                RowId::new(RowKind::Observation, id.0),
                project,
                row.created_at,
                &row.text.files_read,
                &row.text.files_modified,
            )?;
        }
        Ok(())
    }
}

/// Sixteen hex digits, equal for two observations of one session with the same title and narrative.
pub(super) fn content_hash(session: Option<SessionId>, text: &ObservationText) -> String {
    let ObservationText { title, narrative, .. } = text;
    let mut hash = Sha256::new();
    hash.update(session.map_or(0, |id| id.0).to_le_bytes());
    hash.update((title.len() as u64).to_le_bytes());
    hash.update(title);
    hash.update(narrative);
    hex(&hash.finalize()[..8])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    #[test]
    fn marked_lists_read_only_the_marked_rows() {
        let temp = tempfile::tempdir().unwrap();
        let store = Store::open(&temp.path().join("claude-mem.db")).unwrap();
        let reads = store.read();
        for (pinned, index) in [(true, "observations_pinned"), (false, "observations_wrong")] {
            for project in [None, Some(ProjectId(1))] {
                let filter = RowFilter { pinned, wrong: !pinned, project, ..RowFilter::default() };
                let (sql, _) = reads.observations_sql(&filter, PageRequest::first(25)).unwrap();
                let plan = reads.query_plan(&sql);
                assert!(
                    plan.contains(&format!("USING COVERING INDEX {index}"))
                        || plan.contains(&format!("USING INDEX {index}")),
                    "{plan}"
                );
                assert!(
                    !plan.contains("SCAN observations\n") && !plan.contains("observations_by_time"),
                    "{plan}"
                );
            }
        }
    }
}
