//! Summaries of a turn's work. A session has many; the newest one is shown.

use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;

use super::{
    NewRowContext, PageRequest, RowFilter, RowId, RowKind, RowPage, StoreError, StoreReader, StoreWriter,
};
use crate::columns::{ReadColumn, SqlColumn, name_column, read_origin};
use crate::documents::DocumentFields;
use crate::row_values::{RowValues, TextColumns};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ProjectId, PublicId, SessionId, SummaryId};
use claude_mem_core::memory::{NewSummary, Origin, SummaryText};

/// A summary as stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SummaryRow {
    pub id: SummaryId,
    pub uid: PublicId,
    pub session: SessionId,
    pub project: Option<ProjectId>,
    pub prompt_number: u32,
    #[serde(flatten)]
    pub text: SummaryText,
    pub branch: Option<String>,
    pub origin: Origin,
    pub made_by: String,
    pub discovery_tokens: u32,
    pub read_tokens: u32,
    pub created_at: Millis,
}

fn select_summaries() -> String {
    format!(
        "SELECT id, uid, session_id, project_id, prompt_number, branch, origin, made_by, discovery_tokens,
           read_tokens, created_at_epoch, {} FROM session_summaries",
        SummaryText::select_list("")
    )
}

fn summary(row: &Row<'_>) -> rusqlite::Result<SummaryRow> {
    Ok(SummaryRow {
        id: row.column(0)?,
        uid: row.column(1)?,
        session: row.column(2)?,
        project: row.column(3)?,
        prompt_number: row.get(4)?,
        branch: row.get(5)?,
        origin: read_origin(row, 6)?,
        made_by: row.get(7)?,
        discovery_tokens: row.get(8)?,
        read_tokens: row.get(9)?,
        created_at: row.column(10)?,
        text: SummaryText::read(row, 11)?,
    })
}

impl StoreReader<'_> {
    pub fn summary(&self, id: SummaryId) -> Result<SummaryRow, StoreError> {
        let sql = format!("{} WHERE id = ?1", select_summaries());
        let found = self.0.prepare_cached(&sql)?.query_row([id.sql()], summary).optional()?;
        found.ok_or(StoreError::NoSuchRow { what: "summary", id: id.0 })
    }

    pub fn summaries(
        &self,
        filter: &RowFilter,
        page: PageRequest,
    ) -> Result<RowPage<SummaryRow>, StoreError> {
        let mut clause = filter.base_clause();
        filter.and_owner_of_row(&mut clause);
        let kind = RowKind::Summary;
        self.and_files(&mut clause, kind, filter.project, &filter.files)?;
        let sql = filter.page_sql(&select_summaries(), kind.table(), &mut clause, page);
        let mut statement = self.0.prepare_cached(&sql)?;
        let rows = statement.query_map(rusqlite::params_from_iter(clause.values()), summary)?;
        Ok(RowPage::from_overfetch(rows.collect::<Result<_, _>>()?, page))
    }

    /// The newest summary of a session.
    pub fn newest_summary(&self, session: SessionId) -> Result<Option<SummaryRow>, StoreError> {
        let sql = format!(
            "{} WHERE session_id = ?1 ORDER BY created_at_epoch DESC, id DESC LIMIT 1",
            select_summaries()
        );
        Ok(self.0.prepare_cached(&sql)?.query_row([session.sql()], summary).optional()?)
    }
}

impl StoreWriter<'_> {
    /// Stores a summary of `session`. The session in `place` is not read.
    pub fn create_summary(
        &self,
        new: &NewSummary,
        session: SessionId,
        place: &NewRowContext<'_>,
    ) -> Result<SummaryId, StoreError> {
        let id = RowValues::from_text(&new.text)
            .set("uid", PublicId::new().sql())
            .set("session_id", session.sql())
            .set("project_id", place.project.sql())
            .set("prompt_number", place.prompt_number)
            .set("branch", place.branch.map(name_column))
            .set("origin", Origin::Agent.as_str())
            .set("made_by", name_column(place.made_by))
            .set("discovery_tokens", new.discovery_tokens)
            .set("read_tokens", place.read_tokens)
            .set("import_run", place.import_run)
            .set("created_at_epoch", new.created_at.sql())
            .insert(self.tx, RowKind::Summary.table())?;
        let id = SummaryId(id);
        self.index_summary(id)?;
        Ok(id)
    }

    /// Replaces the text of a turn's summary that no model wrote, and indexes it again. `None` if the turn has
    /// no such summary.
    pub fn rewrite_summary(
        &self,
        session: SessionId,
        prompt_number: u32,
        new: &NewSummary,
        made_by: &str,
        read_tokens: u32,
    ) -> Result<Option<SummaryId>, StoreError> {
        let found: Option<i64> = self
            .tx
            .prepare_cached(
                "SELECT id FROM session_summaries WHERE session_id = ?1 AND prompt_number = ?2 AND made_by = 'local'
                 ORDER BY created_at_epoch DESC, id DESC LIMIT 1",
            )?
            .query_row(params![session.sql(), prompt_number], |row| row.get(0))
            .optional()?;
        let Some(id) = found.map(SummaryId) else {
            return Ok(None);
        };
        // The files of the turn are known without a model.
        let SummaryText { files_read, files_edited, .. } = self.summary(id)?.text;
        let text = SummaryText { files_read, files_edited, ..new.text.clone() };
        RowValues::from_text(&text)
            .set("made_by", name_column(made_by))
            .set("discovery_tokens", new.discovery_tokens)
            .set("read_tokens", read_tokens)
            .update(self.tx, RowKind::Summary.table(), id.0)?;
        self.index_summary(id)?;
        Ok(Some(id))
    }

    pub(super) fn index_summary(&self, id: SummaryId) -> Result<(), StoreError> {
        let row = self.summary(id)?;
        // The request is the title.
        let [_, body @ ..] = row.text.texts();
        let body: Vec<&str> = body.into_iter().filter(|text| !text.is_empty()).collect();
        let files = row.text.files_edited.iter().chain(&row.text.files_read);
        let tags: Vec<&str> = files.map(String::as_str).collect();
        self.index_document(&DocumentFields {
            kind: RowKind::Summary,
            row_id: id.0,
            project: row.project,
            user_level: false,
            session: Some(row.session),
            at: row.created_at,
            title: &row.text.request,
            body: &body.join("\n"),
            tags: &tags.join(" "),
        })?;
        if let Some(project) = row.project {
            self.index_files(
                RowId::new(RowKind::Summary, id.0),
                project,
                row.created_at,
                &row.text.files_read,
                &row.text.files_edited,
            )?;
        }
        Ok(())
    }
}
