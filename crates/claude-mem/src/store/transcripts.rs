//! How far each transcript has been read.

use rusqlite::{OptionalExtension, params};

use super::{Reads, StoreError, Writes};
use crate::clock::Millis;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptPosition {
    pub path: String,
    pub client: String,
    pub session: String,
    pub offset_bytes: u64,
    /// What the reader must know to go on in the middle of a file, as JSON.
    pub state: String,
}

impl Reads<'_> {
    pub fn transcript_position(
        &self,
        path: &str,
    ) -> Result<Option<TranscriptPosition>, StoreError> {
        Ok(self
            .0
            .prepare_cached("SELECT path, client, session, offset_bytes, state FROM transcript_positions WHERE path = ?1")?
            .query_row([path], |row| {
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

impl Reads<'_> {
    /// The transcripts of a session that were ever read.
    pub fn transcripts_read(&self, client: &str, session: &str) -> Result<Vec<String>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT path FROM transcript_positions WHERE client = ?1 AND session = ?2",
        )?;
        let paths = rows.query_map([client, session], |row| row.get(0))?;
        Ok(paths.collect::<Result<_, _>>()?)
    }
}

impl Writes<'_> {
    pub fn set_transcript_position(
        &self,
        at: &TranscriptPosition,
        now: Millis,
    ) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "INSERT INTO transcript_positions (path, client, session, offset_bytes, state, updated_at_epoch)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (path) DO UPDATE SET session = excluded.session, offset_bytes = excluded.offset_bytes,
                   state = excluded.state, updated_at_epoch = excluded.updated_at_epoch",
            )?
            .execute(params![at.path, at.client, at.session, at.offset_bytes, at.state, now])?;
        Ok(())
    }
}
