//! The agent's last words of each turn: already a good account of what was done.

use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;

use super::{Filter, Page, Paged, Reads, RowKind, StoreError, Writes};
use crate::clock::Millis;
use crate::ids::{FinalMessageId, ProjectId, PublicId, SessionId};
use crate::memory::Origin;

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

fn message(row: &Row<'_>) -> rusqlite::Result<FinalMessageRow> {
    Ok(FinalMessageRow {
        id: row.get(0)?,
        session: row.get(1)?,
        project: row.get(2)?,
        prompt_number: row.get(3)?,
        text: row.get(4)?,
        agent_type: row.get(5)?,
        created_at: row.get(6)?,
        origin: Origin::from_name(row.get_ref(7)?.as_str()?).unwrap_or(Origin::Import),
    })
}

impl Reads<'_> {
    pub fn final_message(&self, id: FinalMessageId) -> Result<FinalMessageRow, StoreError> {
        let found = self
            .0
            .prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?
            .query_row([id], message)
            .optional()?;
        found.ok_or(StoreError::NoSuchRow {
            what: "message",
            id: id.0,
        })
    }

    pub fn final_messages(
        &self,
        filter: &Filter,
        page: Page,
    ) -> Result<Paged<FinalMessageRow>, StoreError> {
        let mut clause = filter.common();
        let sql = filter.page(COLUMNS, RowKind::Message.table(), &mut clause, page);
        let mut rows = self.0.prepare_cached(&sql)?;
        let rows = rows.query_map(rusqlite::params_from_iter(clause.values()), message)?;
        Ok(Paged::cut(rows.collect::<Result<_, _>>()?, page))
    }
}

impl Writes<'_> {
    pub fn create_final_message(
        &self,
        new: &NewFinalMessage<'_>,
    ) -> Result<FinalMessageId, StoreError> {
        self.tx
            .prepare_cached(
                "INSERT INTO final_messages (uid, session_id, project_id, prompt_number, message_text, agent_id,
                   agent_type, origin, import_run, created_at_epoch) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?
            .execute(params![
                PublicId::new(),
                new.session,
                new.project,
                new.prompt_number,
                new.text,
                new.agent_id,
                new.agent_type,
                new.origin.as_str(),
                new.import_run,
                new.at
            ])?;
        let id = FinalMessageId(self.tx.last_insert_rowid());
        self.index_row(RowKind::Message, id.0)?;
        Ok(id)
    }
}
