//! The only place that names tables.
//!
//! In: events from hooks, memories from the compressors, edits from a person. Out: rows.
//!
//! Invariant: every change is one transaction that starts as a writer (`BEGIN IMMEDIATE`), and
//! everything it needs was computed before it began. A file that is not ours, or is newer than
//! this program, is never written. Absent on purpose: any clock, ranking, rendering.
//!
//! Reads hang on [`Reads`], writes on [`Writes`], one file per noun; [`Inbox`] is the narrow,
//! fast door for hooks.

mod activity;
mod backlog;
mod backup;
mod counts;
mod earlier;
mod error;
mod feed;
mod feedback;
mod files;
mod filter;
mod forget;
mod gate;
mod health;
mod imports;
mod in_time;
mod index_rows;
mod inbox;
mod late;
mod marks;
mod merge;
mod messages;
mod meta;
mod migrate;
mod observations;
mod open;
mod passing;
mod place;
mod projects;
mod prompts;
mod queue;
mod salvage;
mod sessions;
mod spend;
mod split;
mod stale;
mod summaries;
mod swap;
mod texts;
mod transcripts;
mod travel;
mod vectors;
mod words;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::limits::{BULK_LOG_PAGES, VACUUM_BYTES_MIN, VACUUM_PERCENT_MIN};
use late::Late;

pub use activity::{Activity, Economics};
pub use backlog::{Owed, OwedText};
pub use backup::BackupReport;
pub use counts::{Counts, MadeSince, ProjectCounts, QueueCounts};
pub use earlier::{Earlier, EarlierRow, EarlierTable};
pub use error::StoreError;
pub use feed::{FeedPlace, FeedScope};
pub use feedback::{Feedback, FeedbackRow, Heard, Shown, Signal};
pub use files::{FileRef, WideFolder};
pub use filter::{Filter, Page, Paged};
pub use forget::{Forgotten, tombstone_for, tombstone_for_message, tombstone_for_summary};
pub use gate::Gate;
pub use imports::{ImportRun, Undone};
pub use inbox::{Accepted, Inbox};
pub use index_rows::IndexRow;
pub use marks::{Changed, Marks};
pub use messages::{FinalMessageRow, NewFinalMessage};
pub use migrate::SCHEMA_VERSION;
pub use observations::{Level, Observation, ObservationEdit, Stored};
pub use open::{APPLICATION_ID, create_private_file};
pub use passing::Verdict;
pub use place::{Place, Reach, Span};
pub use projects::{Project, name_key};
pub use prompts::{NewPrompt, PromptRow};
pub use queue::{Head, Lease, LeasedEvent, Pending, QueuedPlace, ReadySession};
pub use salvage::{Salvage, SalvagedEvent};
pub use sessions::{NewSession, Session, SessionStatus};
pub use spend::{SpendReport, SpendRow};
pub use split::{parts as parts_of, split_identifiers, split_unspaced};
pub use stale::Remembered;
pub use summaries::Summary;
pub use texts::{RowKind, pieces};
pub use transcripts::TranscriptPosition;
pub use travel::{
    Brought, MessageRecord, ObservationRecord, Placed, ProjectRecord, PromptRecord, SessionRecord,
    SummaryRecord,
};
pub use vectors::{MadeFrom, NOBODYS, RowVectors, Signature, VectorStore};
pub use words::{Column, Document, Expr, Label, Listed, Moment, WordScope};

/// The database as the worker and the commands see it.
#[derive(Debug)]
pub struct Store {
    conn: Connection,
    path: PathBuf,
    /// Of one that writes. Given back after the connection is closed.
    _pass: Option<gate::Pass>,
}

impl Store {
    /// Opens for reading and writing; makes a fresh database where there is none and brings an
    /// older one up to date, after a backup.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let pass = gate::Pass::enter(path)?;
        if swap::is_under_way(path) {
            drop(pass);
            swap::finish(path)?;
            return Self::open(path);
        }
        let mut conn = open::writer(path)?;
        migrate::up(&mut conn, path)?;
        Ok(Self {
            conn,
            path: path.to_owned(),
            _pass: Some(pass),
        })
    }

    /// Opens for reading only. Never creates, never migrates. `Busy`: it is being replaced.
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        if swap::is_under_way(path) {
            return Err(StoreError::Busy);
        }
        let conn = open::reader(path)?;
        migrate::check(&conn)?;
        Ok(Self {
            conn,
            path: path.to_owned(),
            _pass: None,
        })
    }

    /// The same for a hook: what it asks takes no longer than it has.
    pub fn open_for_hook(path: &Path, own_ms: u64) -> Result<Self, StoreError> {
        if swap::is_under_way(path) {
            return Err(StoreError::Busy);
        }
        let conn = open::hook_reader(path, Duration::from_millis(own_ms))?;
        migrate::check(&conn)?;
        Ok(Self {
            conn,
            path: path.to_owned(),
            _pass: None,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn read(&self) -> Reads<'_> {
        Reads(&self.conn)
    }

    /// Everything that `look` reads is of one moment.
    pub fn view<T>(
        &self,
        look: impl FnOnce(&Reads<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let tx = self.conn.unchecked_transaction()?;
        let seen = look(&Reads(&tx))?;
        tx.commit()?;
        Ok(seen)
    }

    /// Runs `change` as one transaction: all of it happens, or nothing.
    pub fn write<T>(
        &mut self,
        change: impl FnOnce(&Writes<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        write(&mut self.conn, change)
    }

    /// The same for many new rows at once: they come into the full-text index together, at the
    /// end, because every statement between two of them makes the index write a part of itself
    /// down. Until then `change` cannot find them by their words.
    pub fn write_many<T>(
        &mut self,
        change: impl FnOnce(&Writes<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        write_with(&mut self.conn, Late::some(), change)
    }

    /// Lets the write-ahead log grow further before it is moved into the database: for as long as
    /// this store is open, and much is to be written.
    pub fn expect_much(&self) -> Result<(), StoreError> {
        Ok(self
            .conn
            .pragma_update(None, "wal_autocheckpoint", BULK_LOG_PAGES)?)
    }

    /// Moves the write-ahead log into the database and empties it, if no reader stands in the
    /// way: false if one does. Cheap when there is nothing to do.
    pub fn checkpoint(&self) -> Result<bool, StoreError> {
        let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
        let is_busy: bool = self.conn.query_row(sql, [], |row| row.get(0))?;
        Ok(!is_busy)
    }

    /// Closes, with everything in the one file.
    pub fn close(self) -> Result<(), StoreError> {
        self.checkpoint()?;
        self.conn.close().map_err(|(_, e)| e.into())
    }

    /// Every problem that SQLite's own check finds; empty when the file is sound.
    pub fn integrity(&self) -> Result<Vec<String>, StoreError> {
        let mut check = self.conn.prepare("PRAGMA integrity_check(20)")?;
        let found = check.query_map([], |row| row.get::<_, String>(0))?;
        let found = found.collect::<Result<Vec<_>, _>>()?;
        Ok(found.into_iter().filter(|line| line != "ok").collect())
    }

    /// A faster look at every page that does not compare indexes with tables. `Damaged`: it
    /// found something.
    pub fn quick_check(&self) -> Result<(), StoreError> {
        let verdict: String = self
            .conn
            .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        match verdict.as_str() {
            "ok" => Ok(()),
            _ => Err(StoreError::Damaged),
        }
    }

    /// Whether enough of the file is unused that rewriting it pays.
    pub fn is_worth_a_vacuum(&self) -> Result<bool, StoreError> {
        let number = |sql: &str| self.conn.query_row(sql, [], |row| row.get::<_, u64>(0));
        let (free, pages) = (
            number("PRAGMA freelist_count")?,
            number("PRAGMA page_count")?,
        );
        let bytes = free * number("PRAGMA page_size")?;
        Ok(bytes >= VACUUM_BYTES_MIN && free * 100 >= pages * VACUUM_PERCENT_MIN)
    }

    /// Gives unused pages back to the file system.
    pub fn vacuum(&self) -> Result<(), StoreError> {
        Ok(self.conn.execute_batch("VACUUM")?)
    }
}

fn write<T>(
    conn: &mut Connection,
    change: impl FnOnce(&Writes<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    write_with(conn, Late::none(), change)
}

fn write_with<T>(
    conn: &mut Connection,
    late: Late,
    change: impl FnOnce(&Writes<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let writes = Writes {
        reads: Reads(&tx),
        tx: &tx,
        late,
    };
    let value = change(&writes)?;
    writes.index_late()?;
    tx.commit()?;
    Ok(value)
}

/// Everything that can be asked. Borrowed from a [`Store`], or from a running change.
#[derive(Debug)]
pub struct Reads<'c>(pub(crate) &'c Connection);

impl Reads<'_> {
    /// The same, for somebody who keeps one.
    #[must_use]
    pub fn again(&self) -> Self {
        Self(self.0)
    }
}

/// Everything that can be changed, inside one transaction.
#[derive(Debug)]
pub struct Writes<'c> {
    reads: Reads<'c>,
    tx: &'c Transaction<'c>,
    late: Late,
}

impl<'c> std::ops::Deref for Writes<'c> {
    type Target = Reads<'c>;

    fn deref(&self) -> &Reads<'c> {
        &self.reads
    }
}

#[cfg(test)]
mod store_tests;
