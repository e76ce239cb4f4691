//! Spaces: what is shared, and how far this machine and the server have told each other.

use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;

use crate::columns::{ReadColumn, SqlColumn};
use crate::{StoreError, StoreReader, StoreWriter};
use claude_mem_core::ids::{ProjectId, PublicId, SpaceRowId};

/// The sharing mode of a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SpaceMode {
    /// Own rows leave by themselves.
    Auto,
    /// Each own row waits for the user's word.
    Review,
    /// Nothing leaves.
    Receive,
    /// Nothing leaves and nothing comes.
    Off,
}

impl SpaceMode {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Review => "review",
            Self::Receive => "receive",
            Self::Off => "off",
        }
    }

    fn from_column(text: &str) -> Self {
        match text {
            "auto" => Self::Auto,
            "review" => Self::Review,
            "receive" => Self::Receive,
            _ => Self::Off,
        }
    }

    pub const fn sends(self) -> bool {
        matches!(self, Self::Auto | Self::Review)
    }
}

/// A space as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceRow {
    pub id: SpaceRowId,
    pub uid: PublicId,
    /// One's own machines only.
    pub own: bool,
    pub project: Option<ProjectId>,
    pub mode: SpaceMode,
    /// Rows up to these ids were there before sharing began and stay here.
    pub from_observation: i64,
    pub from_account: i64,
    /// Up to where rows and changes have been looked at.
    pub sealed_observation: i64,
    pub sealed_account: i64,
    pub sealed_change: i64,
    /// The number of the last record that was pulled in order.
    pub high: i64,
    /// Where the walk from the newest record back goes on; `None`: it is done.
    pub low: Option<i64>,
    /// Records that the walk may still take; `None`: all.
    pub window: Option<i64>,
    /// Live records that the server is known to hold.
    pub live: i64,
    /// The XOR of their marks.
    pub digest: i64,
    /// How often in a row the server's digest was another one.
    pub unequal: i64,
    /// The incarnation of the server's data that the numbers belong to.
    pub generation: String,
}

/// A space that is not known here yet.
#[derive(Clone, Debug)]
pub struct NewSpace {
    pub uid: PublicId,
    pub own: bool,
    pub project: Option<ProjectId>,
    pub mode: SpaceMode,
    /// Share the rows that there are, too.
    pub history: bool,
    pub generation: String,
}

const COLUMNS: &str =
    "SELECT id, uid, own, project_id, mode, from_observation, from_account, sealed_observation,
    sealed_account, sealed_change, high, low, window, live, digest, unequal, generation FROM spaces";

fn space(row: &Row<'_>) -> rusqlite::Result<SpaceRow> {
    Ok(SpaceRow {
        id: row.column(0)?,
        uid: row.column(1)?,
        own: row.get(2)?,
        project: row.column(3)?,
        mode: SpaceMode::from_column(row.get_ref(4)?.as_str()?),
        from_observation: row.get(5)?,
        from_account: row.get(6)?,
        sealed_observation: row.get(7)?,
        sealed_account: row.get(8)?,
        sealed_change: row.get(9)?,
        high: row.get(10)?,
        low: row.get(11)?,
        window: row.get(12)?,
        live: row.get(13)?,
        digest: row.get(14)?,
        unequal: row.get(15)?,
        generation: row.get(16)?,
    })
}

impl StoreReader<'_> {
    pub fn spaces(&self) -> Result<Vec<SpaceRow>, StoreError> {
        let mut rows = self.0.prepare_cached(&format!("{COLUMNS} ORDER BY id"))?;
        Ok(rows.query_map([], space)?.collect::<Result<_, _>>()?)
    }

    pub fn space(&self, id: SpaceRowId) -> Result<SpaceRow, StoreError> {
        let mut found = self.0.prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?;
        let found = found.query_row([id.sql()], space).optional()?;
        found.ok_or(StoreError::NoSuchRow { what: "space", id: id.0 })
    }

    pub fn space_of_project(&self, project: ProjectId) -> Result<Option<SpaceRow>, StoreError> {
        let mut found = self.0.prepare_cached(&format!("{COLUMNS} WHERE project_id = ?1"))?;
        Ok(found.query_row([project.sql()], space).optional()?)
    }
}

impl StoreWriter<'_> {
    /// Begins to share a space, or changes what leaves a known one. Without `history`, the rows that there
    /// are stay here; what was shared before stays shared.
    pub fn put_space(&self, new: &NewSpace) -> Result<SpaceRowId, StoreError> {
        let end = self.change_cursor()?;
        let (observation, account) = if new.history { (0, 0) } else { (end.observation, end.account) };
        // Sharing again looks at all changes that were not looked at, and with `history` at all rows.
        let id = self
            .tx
            .prepare_cached(
                "INSERT INTO spaces (uid, own, project_id, mode, from_observation, from_account, sealed_observation,
                   sealed_account, sealed_change, generation) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?5, ?6, ?7, ?8)
                 ON CONFLICT (uid) DO UPDATE SET project_id = excluded.project_id, mode = excluded.mode,
                   from_observation = CASE WHEN ?9 THEN 0 WHEN mode IN ('off', 'receive')
                     THEN excluded.from_observation ELSE from_observation END,
                   from_account = CASE WHEN ?9 THEN 0 WHEN mode IN ('off', 'receive')
                     THEN excluded.from_account ELSE from_account END,
                   sealed_observation = CASE WHEN ?9 THEN 0 WHEN mode IN ('off', 'receive')
                     THEN excluded.from_observation ELSE sealed_observation END,
                   sealed_account = CASE WHEN ?9 THEN 0 WHEN mode IN ('off', 'receive')
                     THEN excluded.from_account ELSE sealed_account END
                 RETURNING id",
            )?
            .query_row(
                params![
                    new.uid.sql(),
                    new.own,
                    new.project.sql(),
                    new.mode.as_str(),
                    observation,
                    account,
                    end.changed,
                    new.generation,
                    new.history
                ],
                |row| row.column(0),
            )?;
        Ok(id)
    }

    pub fn set_space_mode(&self, id: SpaceRowId, mode: SpaceMode) -> Result<(), StoreError> {
        self.tx.execute("UPDATE spaces SET mode = ?2 WHERE id = ?1", params![id.sql(), mode.as_str()])?;
        Ok(())
    }

    /// Up to where own rows and changes have been looked at.
    pub fn set_space_sealed(
        &self,
        id: SpaceRowId,
        observation: i64,
        account: i64,
        change: i64,
    ) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "UPDATE spaces SET sealed_observation = ?2, sealed_account = ?3, sealed_change = ?4 WHERE id = ?1",
            )?
            .execute(params![id.sql(), observation, account, change])?;
        Ok(())
    }

    /// Up to where the server's records have been pulled.
    pub fn set_space_pulled(
        &self,
        id: SpaceRowId,
        high: i64,
        low: Option<i64>,
        window: Option<i64>,
    ) -> Result<(), StoreError> {
        self.tx
            .prepare_cached("UPDATE spaces SET high = ?2, low = ?3, window = ?4 WHERE id = ?1")?
            .execute(params![id.sql(), high, low, window])?;
        Ok(())
    }

    pub fn set_space_compared(
        &self,
        id: SpaceRowId,
        unequal: i64,
        generation: &str,
    ) -> Result<(), StoreError> {
        self.tx
            .prepare_cached("UPDATE spaces SET unequal = ?2, generation = ?3 WHERE id = ?1")?
            .execute(params![id.sql(), unequal, generation])?;
        Ok(())
    }

    /// Forgets the space; rows are not touched.
    pub fn remove_space(&self, id: SpaceRowId) -> Result<(), StoreError> {
        self.tx.execute("DELETE FROM spaces WHERE id = ?1", [id.sql()])?;
        Ok(())
    }
}
