//! How far each transcript has been read.

use rusqlite::{OptionalExtension, params};

use super::{StoreError, StoreReader, StoreWriter};
use crate::columns::{SqlColumn, id_column, name_column, path_column, state_column};
use claude_mem_core::clock::Millis;

/// The reader's position in one transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptPosition {
    pub path: String,
    pub client: String,
    pub session: String,
    pub offset_bytes: u64,
    /// The reader's state for resuming in the middle of a file, as JSON.
    pub state: String,
}

impl StoreReader<'_> {
    pub fn transcript_position(&self, path: &str) -> Result<Option<TranscriptPosition>, StoreError> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT path, client, session, offset_bytes, state FROM transcript_positions WHERE path = ?1",
            )?
            .query_row([path_column(path)], |row| {
                Ok(TranscriptPosition {
                    path: row.get(0)?,
                    client: row.get(1)?,
                    session: row.get(2)?,
                    offset_bytes: row.get(3)?,
                    state: row.get(4)?,
                })
            })
            .optional()?)
    }
}

impl StoreReader<'_> {
    /// The transcripts of a session that have been read, as paths.
    pub fn transcript_paths(&self, client: &str, session: &str) -> Result<Vec<String>, StoreError> {
        let mut rows = self
            .0
            .prepare_cached("SELECT path FROM transcript_positions WHERE client = ?1 AND session = ?2")?;
        let paths = rows.query_map([client, &*id_column(session)], |row| row.get(0))?;
        Ok(paths.collect::<Result<_, _>>()?)
    }
}

impl StoreWriter<'_> {
    pub fn set_transcript_position(&self, at: &TranscriptPosition, now: Millis) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "INSERT INTO transcript_positions (path, client, session, offset_bytes, state, updated_at_epoch)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (path) DO UPDATE SET session = excluded.session, offset_bytes = excluded.offset_bytes,
                   state = excluded.state, updated_at_epoch = excluded.updated_at_epoch",
            )?
            .execute(params![
                path_column(&at.path),
                name_column(&at.client),
                id_column(&at.session),
                at.offset_bytes,
                state_column(&at.state),
                now.sql()
            ])?;
        Ok(())
    }
}
