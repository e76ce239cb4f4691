//! The ledger: what was shown, fetched, cited, and found useless.

use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};

use super::{Page, Paged, Reads, RowKind, StoreError, Writes};
use crate::clock::Millis;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Signal {
    Injected,
    Fetched,
    Cited,
    Useless,
    Wrong,
    Useful,
}

impl Signal {
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

    fn from_column(text: &str) -> Self {
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

/// How much of a memory an agent must have heard to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The words that carry it.
    InFull,
    /// Or the title, when a file brought it.
    OrItsTitle,
}

/// One entry to be written. `session` is the client's id: a session that was just started has
/// no row yet.
#[derive(Clone, Debug)]
pub struct Feedback<'a> {
    pub kind: RowKind,
    pub row_id: i64,
    pub client: &'a str,
    pub session: &'a str,
    pub agent_id: &'a str,
    pub signal: Signal,
    /// `session_start`, `prompt`, `file`, `failure`, `mcp`, `cli`, `viewer`.
    pub place: &'a str,
    pub score: Option<f64>,
    pub rank: Option<u32>,
    pub tokens: u32,
    pub reason: &'a str,
    pub at: Millis,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FeedbackRow {
    pub kind: RowKind,
    pub row_id: i64,
    pub session: String,
    /// Empty: the session's own agent.
    pub agent_id: String,
    pub signal: Signal,
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

fn entry(row: &Row<'_>) -> rusqlite::Result<FeedbackRow> {
    Ok(FeedbackRow {
        kind: row.get(0)?,
        row_id: row.get(1)?,
        session: row.get(2)?,
        signal: Signal::from_column(row.get_ref(3)?.as_str()?),
        place: row.get(4)?,
        score: row.get(5)?,
        rank: row.get(6)?,
        tokens: row.get(7)?,
        reason: row.get(8)?,
        at: row.get(9)?,
        agent_id: row.get(10)?,
    })
}

/// Which entries of the ledger.
#[derive(Clone, Copy, Debug)]
pub enum Shown<'a> {
    /// What happened to one row.
    Of(RowKind, i64),
    /// What was shown to one session, by its client's id.
    To(&'a str),
}

impl Reads<'_> {
    /// One page of the ledger, newest first.
    pub fn shown(&self, which: Shown<'_>, page: Page) -> Result<Paged<FeedbackRow>, StoreError> {
        let rest = "ORDER BY created_at_epoch DESC, id DESC LIMIT ?1 OFFSET ?2";
        let (limit, offset) = (page.rows() + 1, page.offset);
        let rows: Vec<FeedbackRow> = match which {
            Shown::Of(kind, row_id) => self
                .0
                .prepare_cached(&format!("{COLUMNS} WHERE kind = ?3 AND row_id = ?4 {rest}"))?
                .query_map(params![limit, offset, kind, row_id], entry)?
                .collect::<Result<_, _>>()?,
            Shown::To(session) => self
                .0
                .prepare_cached(&format!("{COLUMNS} WHERE session = ?3 {rest}"))?
                .query_map(params![limit, offset, session], entry)?
                .collect::<Result<_, _>>()?,
        };
        Ok(Paged::cut(rows, page))
    }

    /// All that ever happened to one row, oldest first.
    pub fn feedback_of(&self, kind: RowKind, row_id: i64) -> Result<Vec<FeedbackRow>, StoreError> {
        let sql =
            format!("{COLUMNS} WHERE kind = ?1 AND row_id = ?2 ORDER BY created_at_epoch, id");
        let mut rows = self.0.prepare_cached(&sql)?;
        Ok(rows
            .query_map(params![kind, row_id], entry)?
            .collect::<Result<_, _>>()?)
    }

    /// All that was shown to one session, oldest first.
    pub fn feedback_in_session(&self, session: &str) -> Result<Vec<FeedbackRow>, StoreError> {
        let sql = format!("{COLUMNS} WHERE session = ?1 ORDER BY created_at_epoch, id");
        let mut rows = self.0.prepare_cached(&sql)?;
        Ok(rows
            .query_map([session], entry)?
            .collect::<Result<_, _>>()?)
    }

    /// What this agent of this session has heard since `since` (its last compaction). A line of
    /// the index at the start of a session offers a memory, it does not tell it.
    pub fn heard_by(
        &self,
        client: &str,
        session: &str,
        agent_id: &str,
        since: Millis,
        heard: Heard,
    ) -> Result<Vec<(RowKind, i64)>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT DISTINCT kind, row_id FROM observation_feedback
             WHERE session = ?1 AND client = ?2 AND agent_id = ?3 AND created_at_epoch >= ?4
               AND (signal = 'fetched'
                 OR signal = 'injected' AND (place IN ('prompt', 'failure') OR place = 'file' AND ?5))",
        )?;
        let with_titles = heard == Heard::OrItsTitle;
        Ok(rows
            .query_map(
                params![session, client, agent_id, since, with_titles],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?
            .collect::<Result<_, _>>()?)
    }
}

impl Writes<'_> {
    pub fn record_feedback(&self, entry: &Feedback<'_>) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "INSERT INTO observation_feedback (kind, row_id, client, session, agent_id, signal, place, score, rank,
                   tokens, reason, created_at_epoch) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )?
            .execute(params![
                entry.kind,
                entry.row_id,
                entry.client,
                entry.session,
                entry.agent_id,
                entry.signal.as_str(),
                entry.place,
                entry.score,
                entry.rank,
                entry.tokens,
                entry.reason,
                entry.at,
            ])?;
        Ok(())
    }
}
