//! Final messages: the agent's last message of each turn, which usually summarises what was done.

use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;

use super::{PageRequest, RowFilter, RowId, RowKind, RowPage, StoreError, StoreReader, StoreWriter};
use crate::columns::{ReadColumn, SqlColumn, id_column, name_column, read_origin, text_column};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{FinalMessageId, ProjectId, PublicId, SessionId};
use claude_mem_core::memory::Origin;

/// A final message to be stored.
#[derive(Clone, Debug)]
pub struct NewFinalMessage<'a> {
    pub session: SessionId,
    pub project: Option<ProjectId>,
    pub prompt_number: u32,
    pub text: &'a str,
    pub agent_id: Option<&'a str>,
    pub agent_type: Option<&'a str>,
    pub origin: Origin,
    pub import_run: Option<i64>,
    pub at: Millis,
}

/// A final message as stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FinalMessageRow {
    pub id: FinalMessageId,
    pub session: SessionId,
    pub project: Option<ProjectId>,
    pub prompt_number: u32,
    pub text: String,
    pub agent_type: Option<String>,
    pub created_at: Millis,
    pub origin: Origin,
}

const COLUMNS: &str = "SELECT id, session_id, project_id, prompt_number, message_text, agent_type, created_at_epoch, origin FROM final_messages";

fn final_message_row(row: &Row<'_>) -> rusqlite::Result<FinalMessageRow> {
    Ok(FinalMessageRow {
        id: row.column(0)?,
        session: row.column(1)?,
        project: row.column(2)?,
        prompt_number: row.get(3)?,
        text: row.get(4)?,
        agent_type: row.get(5)?,
        created_at: row.column(6)?,
        origin: read_origin(row, 7)?,
    })
}

impl StoreReader<'_> {
    pub fn final_message(&self, id: FinalMessageId) -> Result<FinalMessageRow, StoreError> {
        let found = self
            .0
            .prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?
            .query_row([id.sql()], final_message_row)
            .optional()?;
        found.ok_or(StoreError::NoSuchRow { what: "message", id: id.0 })
    }

    pub fn final_messages(
        &self,
        filter: &RowFilter,
        page: PageRequest,
    ) -> Result<RowPage<FinalMessageRow>, StoreError> {
        let mut clause = filter.base_clause();
        let sql = filter.page_sql(COLUMNS, RowKind::Message.table(), &mut clause, page);
        let mut statement = self.0.prepare_cached(&sql)?;
        let rows = statement.query_map(rusqlite::params_from_iter(clause.values()), final_message_row)?;
        Ok(RowPage::from_overfetch(rows.collect::<Result<_, _>>()?, page))
    }
}

impl StoreWriter<'_> {
    pub fn create_final_message(&self, new: &NewFinalMessage<'_>) -> Result<FinalMessageId, StoreError> {
        self.tx
            .prepare_cached(
                "INSERT INTO final_messages (uid, session_id, project_id, prompt_number, message_text, agent_id,
                   agent_type, origin, import_run, created_at_epoch) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?
            .execute(params![
                PublicId::new().sql(),
                new.session.sql(),
                new.project.sql(),
                new.prompt_number,
                text_column(new.text),
                new.agent_id.map(id_column),
                new.agent_type.map(name_column),
                new.origin.as_str(),
                new.import_run,
                new.at.sql()
            ])?;
        let id = FinalMessageId(self.tx.last_insert_rowid());
        self.reindex_row(RowId::new(RowKind::Message, id.0))?;
        Ok(id)
    }
}
