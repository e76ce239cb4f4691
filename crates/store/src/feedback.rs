//! The feedback ledger: which memories were injected, fetched, cited or judged.

use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};

use super::{PageRequest, RowId, RowKind, RowPage, StoreError, StoreReader, StoreWriter};
use crate::columns::{ReadColumn, SqlColumn, id_column, name_column, path_column};
use claude_mem_core::clock::Millis;

/// An event in the life of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Signal")]
pub enum FeedbackSignal {
    Injected,
    Fetched,
    Cited,
    Useless,
    Wrong,
    Useful,
}

impl FeedbackSignal {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Injected => "injected",
            Self::Fetched => "fetched",
            Self::Cited => "cited",
            Self::Useless => "useless",
            Self::Wrong => "wrong",
            Self::Useful => "useful",
        }
    }

    pub(super) fn from_column(text: &str) -> Self {
        match text {
            "fetched" => Self::Fetched,
            "cited" => Self::Cited,
            "useless" => Self::Useless,
            "wrong" => Self::Wrong,
            "useful" => Self::Useful,
            _ => Self::Injected,
        }
    }
}

/// How much of a memory an agent must have seen to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExposureLevel {
    /// Its text.
    FullText,
    /// Its text, or its title in a file recall.
    FullTextOrTitle,
}

/// A ledger entry to be written. `session` is the client's id, because a session that has just
/// started has no row yet.
#[derive(Clone, Debug)]
pub struct NewFeedback<'a> {
    pub kind: RowKind,
    pub row_id: i64,
    pub client: &'a str,
    pub session: &'a str,
    pub agent_id: &'a str,
    pub signal: FeedbackSignal,
    /// `session_start`, `prompt`, `file`, `failure`, `mcp`, `cli`, `viewer`.
    pub place: &'a str,
    pub score: Option<f64>,
    pub rank: Option<u32>,
    pub tokens: u32,
    pub reason: &'a str,
    pub at: Millis,
}

/// A ledger entry as stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FeedbackRow {
    pub kind: RowKind,
    pub row_id: i64,
    pub session: String,
    /// Empty: the session's main agent.
    pub agent_id: String,
    pub signal: FeedbackSignal,
    pub place: String,
    pub score: Option<f64>,
    pub rank: Option<u32>,
    pub tokens: u32,
    pub reason: String,
    pub at: Millis,
}

const COLUMNS: &str =
    "SELECT kind, row_id, session, signal, place, score, rank, tokens, reason, created_at_epoch, agent_id
    FROM observation_feedback";

fn feedback_row(row: &Row<'_>) -> rusqlite::Result<FeedbackRow> {
    Ok(FeedbackRow {
        kind: row.get(0)?,
        row_id: row.get(1)?,
        session: row.get(2)?,
        signal: FeedbackSignal::from_column(row.get_ref(3)?.as_str()?),
        place: row.get(4)?,
        score: row.get(5)?,
        rank: row.get(6)?,
        tokens: row.get(7)?,
        reason: row.get(8)?,
        at: row.column(9)?,
        agent_id: row.get(10)?,
    })
}

/// Filter for ledger entries.
#[derive(Clone, Copy, Debug)]
pub enum FeedbackQuery<'a> {
    /// The entries of one row.
    ForRow(RowId),
    /// The entries of one session, by its client's id.
    ForSession(&'a str),
}

impl StoreReader<'_> {
    /// One page of the ledger, newest first.
    pub fn feedback_page(
        &self,
        which: FeedbackQuery<'_>,
        page: PageRequest,
    ) -> Result<RowPage<FeedbackRow>, StoreError> {
        let rest = "ORDER BY created_at_epoch DESC, id DESC LIMIT ?1 OFFSET ?2";
        let (limit, offset) = (page.row_limit() + 1, page.offset);
        let rows: Vec<FeedbackRow> = match which {
            FeedbackQuery::ForRow(RowId { kind, row_id }) => self
                .0
                .prepare_cached(&format!("{COLUMNS} WHERE kind = ?3 AND row_id = ?4 {rest}"))?
                .query_map(params![limit, offset, kind, row_id], feedback_row)?
                .collect::<Result<_, _>>()?,
            FeedbackQuery::ForSession(session) => self
                .0
                .prepare_cached(&format!("{COLUMNS} WHERE session = ?3 {rest}"))?
                .query_map(params![limit, offset, session], feedback_row)?
                .collect::<Result<_, _>>()?,
        };
        Ok(RowPage::from_overfetch(rows, page))
    }

    /// All entries of one row, oldest first.
    pub fn feedback_for_row(&self, RowId { kind, row_id }: RowId) -> Result<Vec<FeedbackRow>, StoreError> {
        let sql = format!("{COLUMNS} WHERE kind = ?1 AND row_id = ?2 ORDER BY created_at_epoch, id");
        let mut rows = self.0.prepare_cached(&sql)?;
        Ok(rows.query_map(params![kind, row_id], feedback_row)?.collect::<Result<_, _>>()?)
    }

    /// All entries of one session, oldest first.
    pub fn feedback_for_session(&self, session: &str) -> Result<Vec<FeedbackRow>, StoreError> {
        let sql = format!("{COLUMNS} WHERE session = ?1 ORDER BY created_at_epoch, id");
        let mut rows = self.0.prepare_cached(&sql)?;
        Ok(rows.query_map([session], feedback_row)?.collect::<Result<_, _>>()?)
    }

    /// The rows that this agent of this session has seen since `since` (its last compaction). A
    /// line of the session-start index does not count: it only offers a memory.
    pub fn rows_seen_by_agent(
        &self,
        client: &str,
        session: &str,
        agent_id: &str,
        since: Millis,
        heard: ExposureLevel,
    ) -> Result<Vec<RowId>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT DISTINCT kind, row_id FROM observation_feedback
             WHERE session = ?1 AND client = ?2 AND agent_id = ?3 AND created_at_epoch >= ?4
               AND (signal = 'fetched'
                 OR signal = 'injected' AND (place IN ('prompt', 'failure') OR place = 'file' AND ?5))",
        )?;
        let with_titles = heard == ExposureLevel::FullTextOrTitle;
        Ok(rows
            .query_map(params![session, client, agent_id, since.sql(), with_titles], |row| {
                RowId::from_columns(row, 0)
            })?
            .collect::<Result<_, _>>()?)
    }
}

impl StoreWriter<'_> {
    /// Removes the last entry of this signal and place for a row. False if there is none.
    pub fn remove_last_feedback(
        &self,
        RowId { kind, row_id }: RowId,
        signal: FeedbackSignal,
        place: &str,
    ) -> Result<bool, StoreError> {
        let removed = self.tx.execute(
            "DELETE FROM observation_feedback WHERE id = (SELECT max(id) FROM observation_feedback
               WHERE kind = ?1 AND row_id = ?2 AND signal = ?3 AND place = ?4)",
            params![kind, row_id, signal.as_str(), place],
        )?;
        Ok(removed > 0)
    }

    /// Appends one entry to the ledger.
    pub fn record_feedback(&self, entry: &NewFeedback<'_>) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "INSERT INTO observation_feedback (kind, row_id, client, session, agent_id, signal, place, score, rank,
                   tokens, reason, created_at_epoch) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )?
            .execute(params![
                entry.kind,
                entry.row_id,
                name_column(entry.client),
                id_column(entry.session),
                id_column(entry.agent_id),
                entry.signal.as_str(),
                name_column(entry.place),
                entry.score,
                entry.rank,
                entry.tokens,
                path_column(entry.reason),
                entry.at.sql(),
            ])?;
        Ok(())
    }
}
