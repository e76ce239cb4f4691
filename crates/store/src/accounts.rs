//! Accounts: one row per session that says what it was for and what came of it.
//!
//! A summary is of one turn; an account is of the whole session and is kept up to date with each turn.

use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;

use super::{
    NewObservationMeta, PageRequest, RowFilter, RowKind, RowPage, StoreError, StoreReader, StoreWriter,
};
use crate::columns::{JsonList, ReadColumn, SqlColumn, name_column, text_column};
use crate::documents::DocumentFields;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{AccountId, MemberRowId, ProjectId, PublicId, SessionId};
use claude_mem_core::memory::{Origin, SessionAccount};

/// The account of a session as stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AccountRow {
    pub id: AccountId,
    pub uid: PublicId,
    pub session: SessionId,
    pub project: Option<ProjectId>,
    pub purpose: String,
    pub done: Vec<String>,
    pub learned: Vec<String>,
    pub decided: Vec<String>,
    pub checked: Vec<String>,
    pub open: Vec<String>,
    pub files_edited: Vec<String>,
    pub branch: Option<String>,
    pub origin: Origin,
    pub made_by: String,
    pub read_tokens: u32,
    /// The time of the session's last claim.
    pub created_at: Millis,
    /// The member of the team whose session it was; `None`: one's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberRowId>,
    /// Another member's account that reads like an instruction: it is never offered unasked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub held_back: bool,
}

impl AccountRow {
    /// The lists with their headings, in the order in which an account is read.
    pub fn sections(&self) -> [(&'static str, &[String]); 5] {
        [
            ("done", &self.done),
            ("learned", &self.learned),
            ("decided", &self.decided),
            ("checked", &self.checked),
            ("open", &self.open),
        ]
    }

    /// Whether the row already says this.
    fn is_same(&self, new: &SessionAccount, place: &NewObservationMeta<'_>) -> bool {
        let own = [&self.done, &self.learned, &self.decided, &self.checked, &self.open, &self.files_edited];
        let others = [&new.done, &new.learned, &new.decided, &new.checked, &new.open, &new.files_edited];
        own == others
            && self.purpose == new.purpose
            && self.created_at == new.at
            && self.branch.as_deref() == place.branch
            && self.made_by == place.made_by
    }
}

const COLUMNS: &str =
    "SELECT id, uid, session_id, project_id, purpose, done, learned, decided, checked, open,
    files_edited, branch, origin, made_by, read_tokens, created_at_epoch, member, held_back FROM session_accounts";

fn account(row: &Row<'_>) -> rusqlite::Result<AccountRow> {
    let list = |at| row.get::<_, JsonList>(at).map(|list| list.0);
    Ok(AccountRow {
        id: row.column(0)?,
        uid: row.column(1)?,
        session: row.column(2)?,
        project: row.column(3)?,
        purpose: row.get(4)?,
        done: list(5)?,
        learned: list(6)?,
        decided: list(7)?,
        checked: list(8)?,
        open: list(9)?,
        files_edited: list(10)?,
        branch: row.get(11)?,
        origin: Origin::from_name(row.get_ref(12)?.as_str()?).unwrap_or(Origin::Import),
        made_by: row.get(13)?,
        read_tokens: row.get(14)?,
        created_at: row.column(15)?,
        member: row.column(16)?,
        held_back: row.get(17)?,
    })
}

impl StoreReader<'_> {
    pub fn account(&self, id: AccountId) -> Result<AccountRow, StoreError> {
        let found = self
            .0
            .prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?
            .query_row([id.sql()], account)
            .optional()?;
        found.ok_or(StoreError::NoSuchRow { what: "account", id: id.0 })
    }

    pub fn account_of_session(&self, session: SessionId) -> Result<Option<AccountRow>, StoreError> {
        let sql = format!("{COLUMNS} WHERE session_id = ?1");
        Ok(self.0.prepare_cached(&sql)?.query_row([session.sql()], account).optional()?)
    }

    /// Accounts, newest first unless the filter says otherwise. Types, concepts and files are not considered.
    pub fn accounts(&self, filter: &RowFilter, page: PageRequest) -> Result<RowPage<AccountRow>, StoreError> {
        let mut clause = RowFilter { user_level: false, ..filter.clone() }.base_clause();
        filter.and_owner_of_row(&mut clause);
        let sql = filter.page_sql(COLUMNS, RowKind::Account.table(), &mut clause, page);
        let mut statement = self.0.prepare_cached(&sql)?;
        let rows = statement.query_map(rusqlite::params_from_iter(clause.values()), account)?;
        Ok(RowPage::from_overfetch(rows.collect::<Result<_, _>>()?, page))
    }

    /// The newest own account of a project on this branch, or on any branch if none is given.
    pub fn latest_account(
        &self,
        project: ProjectId,
        branch: Option<&str>,
    ) -> Result<Option<AccountRow>, StoreError> {
        let on_branch = if branch.is_some() { "branch = ?2" } else { "?2 IS NULL" };
        let sql = format!(
            "{COLUMNS} WHERE project_id = ?1 AND {on_branch} AND member IS NULL ORDER BY created_at_epoch DESC, id DESC LIMIT 1"
        );
        let mut newest = self.0.prepare_cached(&sql)?;
        Ok(newest.query_row(params![project.sql(), branch], account).optional()?)
    }
}

impl StoreWriter<'_> {
    /// Stores the account of a session, or replaces the text of its existing one. The id stays. `None` if
    /// nothing had to change. The session in `place` is not read.
    pub fn set_session_account(
        &self,
        session: SessionId,
        new: &SessionAccount,
        place: &NewObservationMeta<'_>,
    ) -> Result<Option<AccountId>, StoreError> {
        if self.account_of_session(session)?.is_some_and(|known| known.is_same(new, place)) {
            return Ok(None);
        }
        let origin = if place.import_run.is_some() { Origin::Import } else { Origin::Agent };
        let id = self
            .tx
            .prepare_cached(
                "INSERT INTO session_accounts (uid, session_id, project_id, purpose, done, learned, decided, checked,
                   open, files_edited, branch, origin, made_by, read_tokens, import_run, created_at_epoch)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
                 ON CONFLICT (session_id) DO UPDATE SET project_id = excluded.project_id, purpose = excluded.purpose,
                   done = excluded.done, learned = excluded.learned, decided = excluded.decided,
                   checked = excluded.checked, open = excluded.open, files_edited = excluded.files_edited,
                   branch = excluded.branch, made_by = excluded.made_by, read_tokens = excluded.read_tokens,
                   created_at_epoch = excluded.created_at_epoch
                 RETURNING id",
            )?
            .query_row(
                params![
                    PublicId::new().sql(),
                    session.sql(),
                    place.project.sql(),
                    text_column(&new.purpose),
                    JsonList(new.done.clone()),
                    JsonList(new.learned.clone()),
                    JsonList(new.decided.clone()),
                    JsonList(new.checked.clone()),
                    JsonList(new.open.clone()),
                    JsonList(new.files_edited.clone()),
                    place.branch.map(name_column),
                    origin.as_str(),
                    name_column(place.made_by),
                    place.read_tokens,
                    place.import_run,
                    new.at.sql(),
                ],
                |row| row.column(0),
            )?;
        self.index_account(id)?;
        Ok(Some(id))
    }

    /// Removes the account of a session that has nothing left to tell.
    pub fn remove_session_account(&self, session: SessionId) -> Result<bool, StoreError> {
        Ok(self.tx.execute("DELETE FROM session_accounts WHERE session_id = ?1", [session.sql()])? > 0)
    }

    pub(super) fn index_account(&self, id: AccountId) -> Result<(), StoreError> {
        let row = self.account(id)?;
        let lines: Vec<&str> =
            row.sections().iter().flat_map(|(_, lines)| *lines).map(String::as_str).collect();
        self.index_document(&DocumentFields {
            kind: RowKind::Account,
            row_id: id.0,
            project: row.project,
            user_level: false,
            session: Some(row.session),
            at: row.created_at,
            title: &row.purpose,
            body: &lines.join("\n"),
            tags: &row.files_edited.join(" "),
        })
    }
}
