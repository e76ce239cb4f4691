//! Shared records: the version that the server is known to hold, and what is to happen next.

use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;

use crate::columns::{ReadColumn, SqlColumn};
use crate::{RowId, RowKind, StoreError, StoreReader, StoreWriter};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{MemberRowId, ProjectId, PublicId, SpaceRowId};

/// The state of a shared record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ShareState {
    /// Waits for the user's word.
    Held,
    /// To be sent; without a row: its removal is to be sent.
    Unsent,
    /// The server holds it.
    Sent,
    /// The server refused it.
    Refused,
    /// The user keeps it here.
    Kept,
    /// Another member's, or from another machine.
    Received,
    /// Not taken: the server lacks it, or it cannot be stored here.
    Aside,
}

impl ShareState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Unsent => "unsent",
            Self::Sent => "sent",
            Self::Refused => "refused",
            Self::Kept => "kept",
            Self::Received => "received",
            Self::Aside => "aside",
        }
    }

    fn from_column(text: &str) -> Self {
        match text {
            "held" => Self::Held,
            "unsent" => Self::Unsent,
            "sent" => Self::Sent,
            "refused" => Self::Refused,
            "kept" => Self::Kept,
            "received" => Self::Received,
            _ => Self::Aside,
        }
    }
}

/// One record of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedRow {
    pub space: SpaceRowId,
    pub uid: PublicId,
    pub kind: RowKind,
    /// `None`: gone, hidden here, or never stored here.
    pub row_id: Option<i64>,
    /// `None` for the user's own rows.
    pub member: Option<MemberRowId>,
    /// The revision that the server is known to hold; 0: none.
    pub rev: u32,
    pub hash: Vec<u8>,
    pub gone: bool,
    /// Its part of the space's digest; `None`: the server holds no live record.
    pub mark: Option<i64>,
    /// The hash of the row as this machine would send it.
    pub local_hash: Vec<u8>,
    pub state: ShareState,
    pub why: String,
    /// When the state was set.
    pub at: Millis,
}

impl SharedRow {
    /// An own row that the server does not hold.
    pub fn own(space: SpaceRowId, uid: PublicId, row: RowId, state: ShareState, at: Millis) -> Self {
        Self {
            space,
            uid,
            kind: row.kind,
            row_id: Some(row.row_id),
            member: None,
            rev: 0,
            hash: Vec::new(),
            gone: false,
            mark: None,
            local_hash: Vec::new(),
            state,
            why: String::new(),
            at,
        }
    }

    pub fn row(&self) -> Option<RowId> {
        self.row_id.map(|id| RowId::new(self.kind, id))
    }
}

/// Records of a space by what is to happen to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ShareCounts {
    pub unsent: u64,
    pub held: u64,
    pub refused: u64,
    pub aside: u64,
    /// Live records of others that are here.
    pub received: u64,
    /// Own live records that the server holds.
    pub sent: u64,
    /// Records of others that read like instructions.
    pub held_back: u64,
}

const COLUMNS: &str =
    "SELECT space, uid, kind, row_id, member, rev, hash, gone, mark, local_hash, state, why, at_epoch
    FROM shared_rows";

fn shared(row: &Row<'_>) -> rusqlite::Result<SharedRow> {
    Ok(SharedRow {
        space: row.column(0)?,
        uid: row.column(1)?,
        kind: row.get(2)?,
        row_id: row.get(3)?,
        member: row.column(4)?,
        rev: row.get(5)?,
        hash: row.get(6)?,
        gone: row.get(7)?,
        mark: row.get(8)?,
        local_hash: row.get(9)?,
        state: ShareState::from_column(row.get_ref(10)?.as_str()?),
        why: row.get(11)?,
        at: row.column(12)?,
    })
}

impl StoreReader<'_> {
    pub fn shared_row(&self, space: SpaceRowId, uid: PublicId) -> Result<Option<SharedRow>, StoreError> {
        let mut found = self.0.prepare_cached(&format!("{COLUMNS} WHERE space = ?1 AND uid = ?2"))?;
        Ok(found.query_row(params![space.sql(), uid.sql()], shared).optional()?)
    }

    /// The record that a row is shared as in one space.
    pub fn share_in_space(&self, space: SpaceRowId, row: RowId) -> Result<Option<SharedRow>, StoreError> {
        let sql = format!("{COLUMNS} WHERE kind = ?1 AND row_id = ?2 AND space = ?3");
        let mut found = self.0.prepare_cached(&sql)?;
        Ok(found.query_row(params![row.kind, row.row_id, space.sql()], shared).optional()?)
    }

    /// The record that a row is shared as.
    pub fn share_of_row(&self, row: RowId) -> Result<Option<SharedRow>, StoreError> {
        let mut found = self.0.prepare_cached(&format!(
            "{COLUMNS} WHERE kind = ?1 AND row_id = ?2 ORDER BY rev DESC LIMIT 1"
        ))?;
        Ok(found.query_row(params![row.kind, row.row_id], shared).optional()?)
    }

    /// Records of a space in a state, by public id, after `after`.
    pub fn shared_rows_in(
        &self,
        space: SpaceRowId,
        state: ShareState,
        after: Option<PublicId>,
        limit: u32,
    ) -> Result<Vec<SharedRow>, StoreError> {
        let sql = match state {
            // Named as the partial index has it.
            ShareState::Unsent => format!(
                "{COLUMNS} WHERE space = ?1 AND state = 'unsent' AND state = ?2 AND uid > ?3 ORDER BY uid LIMIT ?4"
            ),
            _ => format!("{COLUMNS} WHERE space = ?1 AND state = ?2 AND uid > ?3 ORDER BY uid LIMIT ?4"),
        };
        let after = after.map(|uid| uid.to_string()).unwrap_or_default();
        let mut rows = self.0.prepare_cached(&sql)?;
        let rows = rows.query_map(params![space.sql(), state.as_str(), after, limit], shared)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// All records of a space by public id, after `after`.
    pub fn shared_rows_after(
        &self,
        space: SpaceRowId,
        after: Option<PublicId>,
        limit: u32,
    ) -> Result<Vec<SharedRow>, StoreError> {
        let after = after.map(|uid| uid.to_string()).unwrap_or_default();
        let sql = format!("{COLUMNS} WHERE space = ?1 AND uid > ?2 ORDER BY uid LIMIT ?3");
        let mut rows = self.0.prepare_cached(&sql)?;
        Ok(rows.query_map(params![space.sql(), after, limit], shared)?.collect::<Result<_, _>>()?)
    }

    /// Whether anything of the space is to be sent. A space that sends nothing still sends removals.
    pub fn has_unsent(&self, space: SpaceRowId) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM shared_rows WHERE space = ?1 AND state = 'unsent' AND (row_id IS NULL
             OR (SELECT mode FROM spaces WHERE id = ?1) IN ('auto', 'review')) LIMIT 1";
        Ok(self.0.prepare_cached(sql)?.exists([space.sql()])?)
    }

    pub fn share_counts(&self, space: SpaceRowId) -> Result<ShareCounts, StoreError> {
        let sql = "SELECT coalesce(sum(state = 'unsent'), 0), coalesce(sum(state = 'held'), 0),
              coalesce(sum(state = 'refused'), 0), coalesce(sum(state = 'aside'), 0),
              coalesce(sum(member IS NOT NULL AND mark IS NOT NULL), 0),
              coalesce(sum(member IS NULL AND mark IS NOT NULL), 0),
              (SELECT count(*) FROM observations AS o JOIN spaces AS s ON s.project_id = o.project_id
                 WHERE s.id = ?1 AND o.member IS NOT NULL AND o.held_back = 1)
            FROM shared_rows WHERE space = ?1";
        Ok(self.0.prepare_cached(sql)?.query_row([space.sql()], |row| {
            Ok(ShareCounts {
                unsent: row.get(0)?,
                held: row.get(1)?,
                refused: row.get(2)?,
                aside: row.get(3)?,
                received: row.get(4)?,
                sent: row.get(5)?,
                held_back: row.get(6)?,
            })
        })?)
    }

    /// Ids of own rows of a project above `after`, ascending; without a project those of all projects that
    /// have no space.
    pub fn own_row_ids_after(
        &self,
        kind: RowKind,
        project: Option<ProjectId>,
        after: i64,
        limit: u32,
    ) -> Result<Vec<i64>, StoreError> {
        let table = kind.table();
        let sql = format!(
            "SELECT id FROM {table} WHERE id > ?1 AND member IS NULL
               AND CASE WHEN ?2 IS NULL THEN project_id IS NOT NULL AND project_id NOT IN
                   (SELECT project_id FROM spaces WHERE project_id IS NOT NULL AND mode IN ('auto', 'review'))
                 ELSE project_id = ?2 END
             ORDER BY id LIMIT ?3"
        );
        let mut rows = self.0.prepare_cached(&sql)?;
        Ok(rows
            .query_map(params![after, project.sql(), limit], |row| row.get(0))?
            .collect::<Result<_, _>>()?)
    }
}

impl StoreWriter<'_> {
    /// Stores a record and keeps the space's count and digest.
    pub fn put_shared_row(&self, new: &SharedRow) -> Result<(), StoreError> {
        let old = self.shared_row(new.space, new.uid)?.and_then(|old| old.mark);
        self.tx
            .prepare_cached(
                "INSERT INTO shared_rows (space, uid, kind, row_id, member, rev, hash, gone, mark, local_hash, state, why,
                   at_epoch) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
                 ON CONFLICT (space, uid) DO UPDATE SET kind = excluded.kind, row_id = excluded.row_id,
                   member = excluded.member, rev = excluded.rev, hash = excluded.hash, gone = excluded.gone,
                   mark = excluded.mark, local_hash = excluded.local_hash, state = excluded.state,
                   why = excluded.why, at_epoch = excluded.at_epoch",
            )?
            .execute(params![
                new.space.sql(),
                new.uid.sql(),
                new.kind,
                new.row_id,
                new.member.sql(),
                new.rev,
                new.hash,
                new.gone,
                new.mark,
                new.local_hash,
                new.state.as_str(),
                new.why,
                new.at.sql(),
            ])?;
        self.count_mark(new.space, old, new.mark)
    }

    /// Removes a record that the server does not hold.
    pub fn remove_shared_row(&self, space: SpaceRowId, uid: PublicId) -> Result<(), StoreError> {
        let old = self.shared_row(space, uid)?.and_then(|old| old.mark);
        self.tx
            .prepare_cached("DELETE FROM shared_rows WHERE space = ?1 AND uid = ?2")?
            .execute(params![space.sql(), uid.sql()])?;
        self.count_mark(space, old, None)
    }

    fn count_mark(&self, space: SpaceRowId, old: Option<i64>, new: Option<i64>) -> Result<(), StoreError> {
        if old == new {
            return Ok(());
        }
        let (digest, live): (i64, i64) = self
            .tx
            .prepare_cached("SELECT digest, live FROM spaces WHERE id = ?1")?
            .query_row([space.sql()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let digest = digest ^ old.unwrap_or(0) ^ new.unwrap_or(0);
        let live = live - i64::from(old.is_some()) + i64::from(new.is_some());
        self.tx
            .prepare_cached("UPDATE spaces SET digest = ?2, live = ?3 WHERE id = ?1")?
            .execute(params![space.sql(), digest, live])?;
        Ok(())
    }
}
