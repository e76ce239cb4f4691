//! Accounts: one row per session with its purpose and its result.
//!
//! A summary is of one turn; an account is of the whole session and is kept up to date with each turn.

use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;

use super::{NewRowContext, PageRequest, RowFilter, RowKind, RowPage, StoreError, StoreReader, StoreWriter};
use crate::columns::{ReadColumn, SqlColumn, name_column, read_origin};
use crate::documents::DocumentFields;
use crate::row_values::{RowValues, TextColumns};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{AccountId, MemberRowId, ProjectId, PublicId, SessionId};
use claude_mem_core::memory::{AccountText, Origin, SessionAccount};

/// The account of a session as stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AccountRow {
    pub id: AccountId,
    pub uid: PublicId,
    pub session: SessionId,
    pub project: Option<ProjectId>,
    #[serde(flatten)]
    pub text: AccountText,
    pub branch: Option<String>,
    pub origin: Origin,
    pub made_by: String,
    pub read_tokens: u32,
    /// The time of the session's last claim.
    pub created_at: Millis,
    /// The member of the team whose session it was; `None` for the user's own sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberRowId>,
    /// Another member's account that reads like an instruction: it is never offered unasked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub held_back: bool,
}

impl AccountRow {
    /// The lists with their headings, in the order in which an account is read.
    pub fn sections(&self) -> [(&'static str, &[String]); 5] {
        let [done, learned, decided, checked, open] = self.text.lists();
        [("done", done), ("learned", learned), ("decided", decided), ("checked", checked), ("open", open)]
    }

    /// Whether the row already says this.
    fn is_same(&self, new: &SessionAccount, place: &NewRowContext<'_>) -> bool {
        self.text == new.text
            && self.created_at == new.at
            && self.branch.as_deref() == place.branch
            && self.made_by == place.made_by
    }
}

fn select_accounts() -> String {
    format!(
        "SELECT id, uid, session_id, project_id, branch, origin, made_by, read_tokens, created_at_epoch, member,
           held_back, {} FROM session_accounts",
        AccountText::select_list("")
    )
}

fn account(row: &Row<'_>) -> rusqlite::Result<AccountRow> {
    Ok(AccountRow {
        id: row.column(0)?,
        uid: row.column(1)?,
        session: row.column(2)?,
        project: row.column(3)?,
        branch: row.get(4)?,
        origin: read_origin(row, 5)?,
        made_by: row.get(6)?,
        read_tokens: row.get(7)?,
        created_at: row.column(8)?,
        member: row.column(9)?,
        held_back: row.get(10)?,
        text: AccountText::read(row, 11)?,
    })
}

impl StoreReader<'_> {
    pub fn account(&self, id: AccountId) -> Result<AccountRow, StoreError> {
        let sql = format!("{} WHERE id = ?1", select_accounts());
        let found = self.0.prepare_cached(&sql)?.query_row([id.sql()], account).optional()?;
        found.ok_or(StoreError::NoSuchRow { what: "account", id: id.0 })
    }

    pub fn account_of_session(&self, session: SessionId) -> Result<Option<AccountRow>, StoreError> {
        let sql = format!("{} WHERE session_id = ?1", select_accounts());
        Ok(self.0.prepare_cached(&sql)?.query_row([session.sql()], account).optional()?)
    }

    /// Accounts, newest first unless the filter says otherwise. Types, concepts and files are not considered.
    pub fn accounts(&self, filter: &RowFilter, page: PageRequest) -> Result<RowPage<AccountRow>, StoreError> {
        let mut clause = RowFilter { user_level: false, ..filter.clone() }.base_clause();
        filter.and_owner_of_row(&mut clause);
        let sql = filter.page_sql(&select_accounts(), RowKind::Account.table(), &mut clause, page);
        let mut statement = self.0.prepare_cached(&sql)?;
        let rows = statement.query_map(rusqlite::params_from_iter(clause.values()), account)?;
        Ok(RowPage::from_overfetch(rows.collect::<Result<_, _>>()?, page))
    }

    /// The newest own account of a project on this branch, or on any branch if none is given. An account of a
    /// foreign file is never the last session.
    pub fn latest_account(
        &self,
        project: ProjectId,
        branch: Option<&str>,
    ) -> Result<Option<AccountRow>, StoreError> {
        let on_branch = if branch.is_some() { "branch = ?2" } else { "?2 IS NULL" };
        let sql = format!(
            "{} WHERE project_id = ?1 AND {on_branch} AND member IS NULL AND origin <> 'import'
             ORDER BY created_at_epoch DESC, id DESC LIMIT 1",
            select_accounts()
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
        place: &NewRowContext<'_>,
    ) -> Result<Option<AccountId>, StoreError> {
        let known = self.account_of_session(session)?;
        if known.as_ref().is_some_and(|known| known.is_same(new, place)) {
            return Ok(None);
        }
        let values = RowValues::from_text(&new.text)
            .set("project_id", place.project.sql())
            .set("branch", place.branch.map(name_column))
            // Made here, from a session of the user's own client; rows of foreign files are written elsewhere.
            .set("origin", Origin::Agent.as_str())
            .set("made_by", name_column(place.made_by))
            .set("read_tokens", place.read_tokens)
            .set("created_at_epoch", new.at.sql());
        let table = RowKind::Account.table();
        let id = if let Some(known) = known {
            values.update(self.tx, table, known.id.0)?;
            known.id
        } else {
            let values = values
                .set("uid", PublicId::new().sql())
                .set("session_id", session.sql())
                .set("import_run", place.import_run);
            AccountId(values.insert(self.tx, table)?)
        };
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
            title: &row.text.purpose,
            body: &lines.join("\n"),
            tags: &row.text.files_edited.join(" "),
        })
    }
}
