//! Members of the team, and how far each is trusted on this machine.

use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;

use crate::columns::{ReadColumn, SqlColumn, name_column};
use crate::{StoreError, StoreReader, StoreWriter};
use claude_mem_core::ids::{MemberRowId, PublicId};

/// How far a member's rows are offered. Decided on this machine, never by the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MemberTrust {
    /// One's own other machines.
    Own,
    Trusted,
    Member,
    /// Never offered; found only by asking for the member.
    Muted,
}

impl MemberTrust {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Trusted => "trusted",
            Self::Member => "member",
            Self::Muted => "muted",
        }
    }

    fn from_column(text: &str) -> Self {
        match text {
            "own" => Self::Own,
            "trusted" => Self::Trusted,
            "muted" => Self::Muted,
            _ => Self::Member,
        }
    }
}

/// A member as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemberRow {
    pub id: MemberRowId,
    pub uid: PublicId,
    pub handle: String,
    pub name: String,
    pub role: String,
    pub trust: MemberTrust,
    /// The member has left the team or was removed.
    pub gone: bool,
}

impl MemberRow {
    /// The name by which people know the member.
    pub fn label(&self) -> &str {
        if self.name.trim().is_empty() { &self.handle } else { &self.name }
    }

    pub fn is_bot(&self) -> bool {
        self.role == "bot"
    }
}

/// A member as the server describes it.
#[derive(Clone, Copy, Debug)]
pub struct NewMember<'a> {
    pub uid: PublicId,
    pub handle: &'a str,
    pub name: &'a str,
    pub role: &'a str,
    pub gone: bool,
}

const COLUMNS: &str = "SELECT id, uid, handle, name, role, trust, gone FROM members";

fn member(row: &Row<'_>) -> rusqlite::Result<MemberRow> {
    Ok(MemberRow {
        id: row.column(0)?,
        uid: row.column(1)?,
        handle: row.get(2)?,
        name: row.get(3)?,
        role: row.get(4)?,
        trust: MemberTrust::from_column(row.get_ref(5)?.as_str()?),
        gone: row.get(6)?,
    })
}

impl StoreReader<'_> {
    /// All members that were ever known here, by handle.
    pub fn members(&self) -> Result<Vec<MemberRow>, StoreError> {
        let mut rows = self.0.prepare_cached(&format!("{COLUMNS} ORDER BY handle, id"))?;
        Ok(rows.query_map([], member)?.collect::<Result<_, _>>()?)
    }

    pub fn member(&self, id: MemberRowId) -> Result<Option<MemberRow>, StoreError> {
        let mut found = self.0.prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?;
        Ok(found.query_row([id.sql()], member).optional()?)
    }

    pub fn member_by_uid(&self, uid: PublicId) -> Result<Option<MemberRow>, StoreError> {
        let mut found = self.0.prepare_cached(&format!("{COLUMNS} WHERE uid = ?1"))?;
        Ok(found.query_row([uid.sql()], member).optional()?)
    }

    /// The member with this handle, whatever its case; one that is still there before one that has left.
    pub fn member_by_handle(&self, handle: &str) -> Result<Option<MemberRow>, StoreError> {
        let sql = format!("{COLUMNS} WHERE handle = ?1 COLLATE NOCASE ORDER BY gone, id DESC LIMIT 1");
        Ok(self.0.prepare_cached(&sql)?.query_row([handle], member).optional()?)
    }
}

impl StoreWriter<'_> {
    /// Stores what the server says of a member. The trust of a known member stays.
    pub fn put_member(&self, new: &NewMember<'_>) -> Result<MemberRowId, StoreError> {
        Ok(self
            .tx
            .prepare_cached(
                "INSERT INTO members (uid, handle, name, role, gone) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (uid) DO UPDATE SET handle = excluded.handle, name = excluded.name,
                   role = excluded.role, gone = excluded.gone RETURNING id",
            )?
            .query_row(
                params![
                    new.uid.sql(),
                    name_column(new.handle),
                    name_column(new.name),
                    name_column(new.role),
                    new.gone
                ],
                |row| row.column(0),
            )?)
    }

    pub fn set_member_trust(&self, id: MemberRowId, trust: MemberTrust) -> Result<(), StoreError> {
        self.tx.execute("UPDATE members SET trust = ?2 WHERE id = ?1", params![id.sql(), trust.as_str()])?;
        Ok(())
    }
}
