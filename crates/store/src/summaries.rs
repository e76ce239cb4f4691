//! Summaries of a turn's work. A session has many; the newest one is shown.

use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;

use super::{
    NewObservationMeta, PageRequest, RowFilter, RowId, RowKind, RowPage, StoreError, StoreReader, StoreWriter,
};
use crate::columns::{JsonList, ReadColumn, SqlColumn, name_column, text_column};
use crate::documents::DocumentFields;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ProjectId, PublicId, SessionId, SummaryId};
use claude_mem_core::memory::{NewSummary, Origin};

/// A summary as stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SummaryRow {
    pub id: SummaryId,
    pub uid: PublicId,
    pub session: SessionId,
    pub project: Option<ProjectId>,
    pub prompt_number: u32,
    pub request: String,
    pub investigated: String,
    pub learned: String,
    pub completed: String,
    pub next_steps: String,
    pub notes: String,
    pub files_read: Vec<String>,
    pub files_edited: Vec<String>,
    pub branch: Option<String>,
    pub origin: Origin,
    pub made_by: String,
    pub discovery_tokens: u32,
    pub read_tokens: u32,
    pub created_at: Millis,
}

const COLUMNS: &str =
    "SELECT id, uid, session_id, project_id, prompt_number, request, investigated, learned, completed,
    next_steps, notes, files_read, files_edited, branch, origin, made_by, discovery_tokens, read_tokens,
    created_at_epoch FROM session_summaries";

fn summary(row: &Row<'_>) -> rusqlite::Result<SummaryRow> {
    Ok(SummaryRow {
        id: row.column(0)?,
        uid: row.column(1)?,
        session: row.column(2)?,
        project: row.column(3)?,
        prompt_number: row.get(4)?,
        request: row.get(5)?,
        investigated: row.get(6)?,
        learned: row.get(7)?,
        completed: row.get(8)?,
        next_steps: row.get(9)?,
        notes: row.get(10)?,
        files_read: row.get::<_, JsonList>(11)?.0,
        files_edited: row.get::<_, JsonList>(12)?.0,
        branch: row.get(13)?,
        origin: Origin::from_name(row.get_ref(14)?.as_str()?).unwrap_or(Origin::Import),
        made_by: row.get(15)?,
        discovery_tokens: row.get(16)?,
        read_tokens: row.get(17)?,
        created_at: row.column(18)?,
    })
}

impl StoreReader<'_> {
    pub fn summary(&self, id: SummaryId) -> Result<SummaryRow, StoreError> {
        let found = self
            .0
            .prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?
            .query_row([id.sql()], summary)
            .optional()?;
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
        let sql = filter.page_sql(COLUMNS, kind.table(), &mut clause, page);
        let mut statement = self.0.prepare_cached(&sql)?;
        let rows = statement.query_map(rusqlite::params_from_iter(clause.values()), summary)?;
        Ok(RowPage::from_overfetch(rows.collect::<Result<_, _>>()?, page))
    }

    /// The newest summary of a session.
    pub fn newest_summary(&self, session: SessionId) -> Result<Option<SummaryRow>, StoreError> {
        let sql = format!("{COLUMNS} WHERE session_id = ?1 ORDER BY created_at_epoch DESC, id DESC LIMIT 1");
        Ok(self.0.prepare_cached(&sql)?.query_row([session.sql()], summary).optional()?)
    }
}

impl StoreWriter<'_> {
    /// Stores a summary of `session`. The session in `place` is not read.
    pub fn create_summary(
        &self,
        new: &NewSummary,
        session: SessionId,
        place: &NewObservationMeta<'_>,
    ) -> Result<SummaryId, StoreError> {
        self.tx
            .prepare_cached(
                "INSERT INTO session_summaries (uid, session_id, project_id, prompt_number, request, investigated,
                   learned, completed, next_steps, notes, files_read, files_edited, branch, origin, made_by,
                   discovery_tokens, read_tokens, import_run, created_at_epoch)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
            )?
            .execute(params![
                PublicId::new().sql(),
                session.sql(),
                place.project.sql(),
                place.prompt_number,
                text_column(&new.request),
                text_column(&new.investigated),
                text_column(&new.learned),
                text_column(&new.completed),
                text_column(&new.next_steps),
                text_column(&new.notes),
                JsonList(new.files_read.clone()),
                JsonList(new.files_edited.clone()),
                place.branch.map(name_column),
                if place.import_run.is_some() { Origin::Import } else { Origin::Agent }.as_str(),
                name_column(place.made_by),
                new.discovery_tokens,
                place.read_tokens,
                place.import_run,
                new.created_at.sql(),
            ])?;
        let id = SummaryId(self.tx.last_insert_rowid());
        self.index_summary(id)?;
        Ok(id)
    }

    pub(super) fn index_summary(&self, id: SummaryId) -> Result<(), StoreError> {
        let row = self.summary(id)?;
        let fields = [&row.investigated, &row.learned, &row.completed, &row.next_steps, &row.notes];
        let body: Vec<&str> =
            fields.into_iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
        let tags: Vec<&str> = row.files_edited.iter().chain(&row.files_read).map(String::as_str).collect();
        self.index_document(&DocumentFields {
            kind: RowKind::Summary,
            row_id: id.0,
            project: row.project,
            user_level: false,
            session: Some(row.session),
            at: row.created_at,
            title: &row.request,
            body: &body.join(
                "
",
            ),
            tags: &tags.join(" "),
        })?;
        if let Some(project) = row.project {
            self.index_files(
                RowId::new(RowKind::Summary, id.0),
                project,
                row.created_at,
                &row.files_read,
                &row.files_edited,
            )?;
        }
        Ok(())
    }
}
