//! Accounts and open items in their portable form, and the sessions of an observation.

use rusqlite::{OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use super::export::{MEMBER_COLUMN, read_member};
use super::import::{ImportTarget, RowImportOutcome};
use super::team_record::{RowAuthors, TeamRecord};
use crate::columns::{ReadColumn, SqlColumn, id_column, name_column, read_origin, text_column};
use crate::open_items::ItemCloser;
use crate::row_values::{RowValues, TextColumns};
use crate::{RowKind, StoreError, StoreReader, StoreWriter};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{AccountId, ObservationId, ProjectId, PublicId, SessionId};
use claude_mem_core::memory::{AccountText, Origin};

/// The account of a session. Its lists are always written, so that a reader need not know the defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccountRecord {
    pub uid: PublicId,
    pub session: PublicId,
    #[serde(default)]
    pub project: Option<PublicId>,
    #[serde(flatten, with = "AccountFields")]
    pub text: AccountText,
    #[serde(default)]
    pub branch: Option<String>,
    #[serde(default)]
    pub origin: Option<Origin>,
    #[serde(default)]
    pub made_by: String,
    pub created_at: Millis,
}

/// How the text of an account is written.
#[derive(Serialize, Deserialize)]
#[serde(remote = "AccountText")]
struct AccountFields {
    #[serde(rename = "for", default)]
    purpose: String,
    #[serde(default)]
    done: Vec<String>,
    #[serde(default)]
    learned: Vec<String>,
    #[serde(default)]
    decided: Vec<String>,
    #[serde(default)]
    checked: Vec<String>,
    #[serde(default)]
    open: Vec<String>,
    #[serde(default)]
    files_edited: Vec<String>,
}

/// An open item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenItemRecord {
    pub uid: PublicId,
    pub session: PublicId,
    #[serde(default)]
    pub project: Option<PublicId>,
    #[serde(default)]
    pub branch: Option<String>,
    #[serde(default)]
    pub claim: String,
    pub text: String,
    #[serde(default)]
    pub closed_at: Option<Millis>,
    #[serde(default)]
    pub closed_by: Option<ItemCloser>,
    #[serde(default)]
    pub closed_by_session: Option<PublicId>,
    #[serde(default)]
    pub reason: String,
    /// A person closed or reopened it.
    #[serde(default)]
    pub by_hand: bool,
    pub created_at: Millis,
}

/// The successor of an observation that no longer exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuccessorRecord {
    pub uid: PublicId,
    /// The observation that it is part of now; `None` if its session withdrew it.
    pub part_of: Option<PublicId>,
}

fn account_record(row: &Row<'_>) -> rusqlite::Result<(i64, AccountRecord)> {
    let record = AccountRecord {
        uid: row.column(1)?,
        session: row.column(2)?,
        project: row.column(3)?,
        branch: row.get(4)?,
        origin: Some(read_origin(row, 5)?),
        made_by: row.get(6)?,
        created_at: row.column(7)?,
        text: AccountText::read(row, 8)?,
    };
    Ok((row.get(0)?, record))
}

fn open_item_record(row: &Row<'_>) -> rusqlite::Result<(i64, OpenItemRecord)> {
    let record = OpenItemRecord {
        uid: row.column(1)?,
        session: row.column(2)?,
        project: row.column(3)?,
        branch: row.get(4)?,
        claim: row.get(5)?,
        text: row.get(6)?,
        closed_at: row.column(7)?,
        closed_by: row.get::<_, Option<String>>(8)?.as_deref().map(ItemCloser::from_column),
        closed_by_session: row.column(9)?,
        reason: row.get(10)?,
        by_hand: row.get(11)?,
        created_at: row.column(12)?,
    };
    Ok((row.get(0)?, record))
}

/// Reads one page of `table`: row id, public id, session and project, then `columns`.
fn page_sql(table: &str, columns: &str, of: RowAuthors) -> String {
    let of = of.condition("s");
    format!(
        "SELECT r.id, r.uid, s.uid, p.uid, {columns} FROM {table} AS r
         JOIN sdk_sessions AS s ON s.id = r.session_id LEFT JOIN projects AS p ON p.id = r.project_id
         WHERE r.id > ?2 AND (?1 IS NULL OR r.project_id = ?1) AND {of} ORDER BY r.id LIMIT ?3"
    )
}

fn accounts_sql(of: RowAuthors) -> String {
    let columns = format!(
        "r.branch, r.origin, r.made_by, r.created_at_epoch, {}{MEMBER_COLUMN}",
        AccountText::select_list("r")
    );
    page_sql(RowKind::Account.table(), &columns, of)
}

impl StoreReader<'_> {
    pub fn account_records(
        &self,
        only: Option<ProjectId>,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, AccountRecord)>, StoreError> {
        let mut rows = self.0.prepare_cached(&accounts_sql(RowAuthors::User))?;
        let rows = rows.query_map(params![only.sql(), after, limit], account_record)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Accounts of sessions that other members of the team shared.
    pub fn team_account_records(
        &self,
        only: Option<ProjectId>,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, TeamRecord<AccountRecord>)>, StoreError> {
        let mut rows = self.0.prepare_cached(&accounts_sql(RowAuthors::OtherMembers))?;
        let rows = rows.query_map(params![only.sql(), after, limit], |row| {
            let (id, record) = account_record(row)?;
            Ok((id, TeamRecord { member: read_member(row)?, record }))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    pub fn open_item_records(
        &self,
        only: Option<ProjectId>,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, OpenItemRecord)>, StoreError> {
        let sql = page_sql(
            "open_items",
            "r.branch, r.claim, r.text, r.closed_at_epoch, r.closed_by,
             (SELECT uid FROM sdk_sessions WHERE id = r.closed_by_session), r.reason, r.by_hand, r.opened_at_epoch",
            RowAuthors::User,
        );
        let mut rows = self.0.prepare_cached(&sql)?;
        let rows = rows.query_map(params![only.sql(), after, limit], open_item_record)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

impl StoreReader<'_> {
    /// The successors of observations that no longer exist. With a project: of those that are now part of one
    /// of its observations.
    pub fn successor_records(&self, only: Option<ProjectId>) -> Result<Vec<SuccessorRecord>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT s.old_uid, o.uid FROM row_successors AS s LEFT JOIN observations AS o ON o.id = s.new_id
             WHERE s.kind = 'observation' AND (?1 IS NULL OR o.project_id = ?1) ORDER BY s.old_id",
        )?;
        let rows = rows.query_map([only.sql()], |row| {
            Ok(SuccessorRecord { uid: row.column(0)?, part_of: row.column(1)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

impl StoreWriter<'_> {
    /// Imports the account of a session that has none.
    pub fn import_account(
        &self,
        record: &AccountRecord,
        session: SessionId,
        at: ImportTarget,
    ) -> Result<RowImportOutcome, StoreError> {
        if let Some(way) = self.import_conflict(RowKind::Account, record.uid, None)? {
            return Ok(way);
        }
        if self.is_account_forgotten(session)? {
            return Ok(RowImportOutcome::Forgotten);
        }
        if self.account_of_session(session)?.is_some() {
            return Ok(RowImportOutcome::SameContent);
        }
        let id = RowValues::from_text(&record.text)
            .set("uid", record.uid.sql())
            .set("session_id", session.sql())
            .set("project_id", at.project.sql())
            .set("branch", record.branch.as_deref().map(name_column))
            .set("origin", record.origin.unwrap_or(Origin::Import).as_str())
            .set("made_by", name_column(&record.made_by))
            .set("read_tokens", record.text.read_tokens())
            .set("import_run", at.import_run)
            .set("created_at_epoch", record.created_at.sql())
            .insert(self.tx, RowKind::Account.table())?;
        self.index_account(AccountId(id))?;
        Ok(RowImportOutcome::New)
    }

    /// Imports an open item.
    pub fn import_open_item(
        &self,
        record: &OpenItemRecord,
        session: SessionId,
        at: ImportTarget,
    ) -> Result<RowImportOutcome, StoreError> {
        if self.is_claim_forgotten(session, &record.claim)? {
            return Ok(RowImportOutcome::Forgotten);
        }
        let known = self
            .tx
            .prepare_cached(
                "SELECT uid = ?1 FROM open_items WHERE uid = ?1 OR (session_id = ?2 AND claim = ?3)",
            )?
            .query_row(params![record.uid.sql(), session.sql(), id_column(&record.claim)], |row| {
                row.get::<_, bool>(0)
            })
            .optional()?;
        match known {
            Some(true) => return Ok(RowImportOutcome::AlreadyPresent),
            Some(false) => return Ok(RowImportOutcome::SameContent),
            None => {}
        }
        self.tx
            .prepare_cached(
                "INSERT INTO open_items (uid, session_id, project_id, branch, claim, text, opened_at_epoch,
                   closed_at_epoch, closed_by, closed_by_session, reason, by_hand, import_run)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, (SELECT id FROM sdk_sessions WHERE uid = ?10), ?11, ?12, ?13)",
            )?
            .execute(params![
                record.uid.sql(),
                session.sql(),
                at.project.sql(),
                record.branch.as_deref().map(name_column),
                id_column(&record.claim),
                text_column(&record.text),
                record.created_at.sql(),
                record.closed_at.sql(),
                record.closed_by.map(ItemCloser::as_str),
                record.closed_by_session.sql(),
                text_column(&record.reason),
                record.by_hand,
                at.import_run,
            ])?;
        Ok(RowImportOutcome::New)
    }

    /// Records that a session said an imported observation, if both exist.
    pub fn import_observation_source(
        &self,
        observation: PublicId,
        session: SessionId,
    ) -> Result<(), StoreError> {
        let id: Option<ObservationId> = self
            .tx
            .prepare_cached("SELECT id FROM observations WHERE uid = ?1")?
            .query_row([observation.sql()], |row| row.column(0))
            .optional()?;
        id.map_or(Ok(()), |id| self.add_observation_source(id, session))
    }
}
