//! Exports rows as records, page by page in insertion order.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Params, Row, params};

use super::rows::{
    MessageRecord, ObservationRecord, ProjectRecord, PromptRecord, SessionRecord, SummaryRecord,
};
use super::team_record::{RowAuthors, TeamRecord};
use crate::columns::{JsonList, ReadColumn, SqlColumn, read_origin};
use crate::row_values::TextColumns;
use crate::{MemoryLevel, SessionStatus, StoreError, StoreReader};
use claude_mem_core::ids::{ProjectId, PublicId};
use claude_mem_core::memory::{ObservationText, SummaryText};

/// One page of records, each with its row id: the next page starts after the last one.
type NumberedRows<T> = Vec<(i64, T)>;

impl StoreReader<'_> {
    pub fn project_records(&self, only: Option<ProjectId>) -> Result<Vec<ProjectRecord>, StoreError> {
        let sql = "SELECT id, uid, name, root, last_active_epoch, created_at_epoch FROM projects
             WHERE ?1 IS NULL OR id = ?1 ORDER BY created_at_epoch, uid";
        let found = query_rows(self.0, sql, params![only.sql()], |row| {
            Ok((
                row.column::<ProjectId>(0)?,
                ProjectRecord {
                    uid: row.column(1)?,
                    name: row.get(2)?,
                    root: row.get(3)?,
                    keys: Vec::new(),
                    last_active: row.column(4)?,
                    created_at: row.column(5)?,
                },
            ))
        })?;
        let mut records = Vec::with_capacity(found.len());
        for (id, mut record) in found {
            record.keys = self.project_keys(id)?;
            records.push(record);
        }
        Ok(records)
    }

    /// Sessions after `after`, ignored ones included: they must not be remembered elsewhere either.
    pub fn session_records(
        &self,
        only: Option<ProjectId>,
        after: i64,
        limit: u32,
    ) -> Result<NumberedRows<SessionRecord>, StoreError> {
        let sql = "SELECT s.id, s.uid, s.client, s.content_session_id, p.uid, s.branch, s.transcript_path,
               s.transcript_closed, s.user_prompt, s.status, s.origin, s.prompt_counter, s.carry, s.rolling_summary,
               s.last_activity_epoch, s.completed_at_epoch, s.created_at_epoch,
               (SELECT json_group_array(path) FROM session_files WHERE session_id = s.id AND edited = 0),
               (SELECT json_group_array(path) FROM session_files WHERE session_id = s.id AND edited = 1)
             FROM sdk_sessions AS s LEFT JOIN projects AS p ON p.id = s.project_id
             WHERE s.id > ?2 AND (?1 IS NULL OR s.project_id = ?1) AND s.member IS NULL ORDER BY s.id LIMIT ?3";
        query_rows(self.0, sql, params![only.sql(), after, limit], |row| {
            let record = SessionRecord {
                uid: row.column(1)?,
                client: row.get(2)?,
                client_session: row.get(3)?,
                project: row.column(4)?,
                branch: row.get(5)?,
                transcript_path: row.get(6)?,
                transcript_closed: row.get(7)?,
                user_prompt: row.get(8)?,
                status: Some(SessionStatus::from_column(row.get_ref(9)?.as_str()?)),
                origin: Some(read_origin(row, 10)?),
                prompt_counter: row.get(11)?,
                carry: row.get(12)?,
                rolling_summary: row.get(13)?,
                last_activity: row.column(14)?,
                completed_at: row.column(15)?,
                created_at: row.column(16)?,
                files_read: row.get::<_, JsonList>(17)?.0,
                files_edited: row.get::<_, JsonList>(18)?.0,
            };
            Ok((row.get(0)?, record))
        })
    }

    pub fn prompt_records(
        &self,
        only: Option<ProjectId>,
        after: i64,
        limit: u32,
    ) -> Result<NumberedRows<PromptRecord>, StoreError> {
        let sql = session_rows_sql(
            "user_prompts",
            "r.prompt_id, r.prompt_text, r.private, r.origin, r.created_at_epoch",
            RowAuthors::User,
        );
        query_rows(self.0, &sql, params![only.sql(), after, limit], |row| {
            let record = PromptRecord {
                uid: row.column(1)?,
                session: row.column(2)?,
                project: row.column(3)?,
                prompt_number: row.get(4)?,
                prompt_id: row.get(5)?,
                text: row.get(6)?,
                private: row.get(7)?,
                origin: Some(read_origin(row, 8)?),
                created_at: row.column(9)?,
            };
            Ok((row.get(0)?, record))
        })
    }

    pub fn message_records(
        &self,
        only: Option<ProjectId>,
        after: i64,
        limit: u32,
    ) -> Result<NumberedRows<MessageRecord>, StoreError> {
        let sql = session_rows_sql(
            "final_messages",
            "r.message_text, r.agent_id, r.agent_type, r.origin, r.created_at_epoch",
            RowAuthors::User,
        );
        query_rows(self.0, &sql, params![only.sql(), after, limit], |row| {
            let record = MessageRecord {
                uid: row.column(1)?,
                session: row.column(2)?,
                project: row.column(3)?,
                prompt_number: row.get(4)?,
                text: row.get(5)?,
                agent_id: row.get(6)?,
                agent_type: row.get(7)?,
                origin: Some(read_origin(row, 8)?),
                created_at: row.column(9)?,
            };
            Ok((row.get(0)?, record))
        })
    }

    pub fn observation_records(
        &self,
        only: Option<ProjectId>,
        after: i64,
        limit: u32,
    ) -> Result<NumberedRows<ObservationRecord>, StoreError> {
        let sql = observations_sql(RowAuthors::User);
        query_rows(self.0, &sql, params![only.sql(), after, limit], observation_record)
    }

    /// Observations that other members of the team shared.
    pub fn team_observation_records(
        &self,
        only: Option<ProjectId>,
        after: i64,
        limit: u32,
    ) -> Result<NumberedRows<TeamRecord<ObservationRecord>>, StoreError> {
        let sql = observations_sql(RowAuthors::OtherMembers);
        query_rows(self.0, &sql, params![only.sql(), after, limit], |row| {
            let (id, record) = observation_record(row)?;
            Ok((id, TeamRecord { member: read_member(row)?, record }))
        })
    }
    pub fn summary_records(
        &self,
        only: Option<ProjectId>,
        after: i64,
        limit: u32,
    ) -> Result<NumberedRows<SummaryRecord>, StoreError> {
        let columns = format!(
            "r.branch, r.origin, r.made_by, r.discovery_tokens, r.read_tokens, r.created_at_epoch, {}",
            SummaryText::select_list("r")
        );
        let sql = session_rows_sql("session_summaries", &columns, RowAuthors::User);
        query_rows(self.0, &sql, params![only.sql(), after, limit], |row| {
            let record = SummaryRecord {
                uid: row.column(1)?,
                session: row.column(2)?,
                project: row.column(3)?,
                prompt_number: row.get(4)?,
                branch: row.get(5)?,
                origin: Some(read_origin(row, 6)?),
                made_by: row.get(7)?,
                discovery_tokens: row.get(8)?,
                read_tokens: row.get(9)?,
                created_at: row.column(10)?,
                text: SummaryText::read(row, 11)?,
            };
            Ok((row.get(0)?, record))
        })
    }

    /// All tombstones. They hold no text.
    pub fn tombstones(&self) -> Result<Vec<String>, StoreError> {
        query_rows(self.0, "SELECT key FROM tombstones ORDER BY key", [], |row| row.get(0))
    }
}

/// Reads one page of observations, as [`observation_record`] takes them.
fn observations_sql(of: RowAuthors) -> String {
    let columns = format!(
        "r.level, r.branch, r.agent_id, r.agent_type, r.origin, r.made_by, r.discovery_tokens, r.read_tokens,
         r.pinned, r.wrong, (SELECT newer.uid FROM observations AS newer WHERE newer.id = r.replaced_by),
         r.created_at_epoch, r.updated_at_epoch, r.edited,
         (SELECT json_group_array(also.uid) FROM (SELECT o.uid FROM observation_sources AS x
            JOIN sdk_sessions AS o ON o.id = x.session_id WHERE x.observation_id = r.id
            ORDER BY x.session_id) AS also), {}",
        ObservationText::select_list("r")
    );
    session_rows_sql("observations", &columns, of)
}

fn observation_record(row: &Row<'_>) -> rusqlite::Result<(i64, ObservationRecord)> {
    let mut sessions: Vec<PublicId> = row.column::<Option<PublicId>>(2)?.into_iter().collect();
    for uid in row.get::<_, JsonList>(19)?.0 {
        sessions.push(PublicId::from_sql(ValueRef::Text(uid.as_bytes()))?);
    }
    let record = ObservationRecord {
        uid: row.column(1)?,
        session: row.column(2)?,
        project: row.column(3)?,
        prompt_number: row.get(4)?,
        level: MemoryLevel::from_column(row.get_ref(5)?.as_str()?),
        branch: row.get(6)?,
        agent_id: row.get(7)?,
        agent_type: row.get(8)?,
        origin: Some(read_origin(row, 9)?),
        made_by: row.get(10)?,
        discovery_tokens: row.get(11)?,
        read_tokens: row.get(12)?,
        pinned: row.get(13)?,
        wrong: row.get(14)?,
        replaced_by: row.column(15)?,
        created_at: row.column(16)?,
        updated_at: row.column(17)?,
        edited: row.get(18)?,
        text: ObservationText::read(row, 20)?,
        sessions,
    };
    Ok((row.get(0)?, record))
}

/// The SQL for rows of a session: first row id, public id, session, project and turn, then `columns`.
fn session_rows_sql(table: &str, columns: &str, of: RowAuthors) -> String {
    let of = match table {
        "observations" | "session_summaries" => of.condition("r"),
        _ => "TRUE".to_owned(),
    };
    let member = of_member(table);
    format!(
        "SELECT r.id, r.uid, s.uid, p.uid, r.prompt_number, {columns}{member} FROM {table} AS r
         LEFT JOIN sdk_sessions AS s ON s.id = r.session_id LEFT JOIN projects AS p ON p.id = r.project_id
         WHERE r.id > ?2 AND (?1 IS NULL OR r.project_id = ?1) AND {of} ORDER BY r.id LIMIT ?3"
    )
}

/// The column with the public id of the member who wrote a row, for [`read_member`].
pub(super) const MEMBER_COLUMN: &str =
    ", (SELECT uid FROM members WHERE members.id = r.member) AS member_uid";

fn of_member(table: &str) -> &'static str {
    if table == "observations" { MEMBER_COLUMN } else { "" }
}

pub(super) fn read_member(row: &Row<'_>) -> rusqlite::Result<PublicId> {
    Ok(PublicId::from_sql(row.get_ref("member_uid")?)?)
}

fn query_rows<T>(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, StoreError> {
    let mut statement = conn.prepare_cached(sql)?;
    Ok(statement.query_map(params, read)?.collect::<Result<_, _>>()?)
}
