//! Token spending: reserved before a model call, settled after it.

use rusqlite::{Row, params};
use serde::Serialize;

use super::{PageRequest, RowPage, StoreError, StoreReader, StoreWriter};
use crate::columns::{ReadColumn, SqlColumn, name_column};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{PublicId, SessionId};

/// One model call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpendRow {
    pub id: i64,
    pub day: String,
    pub session: Option<SessionId>,
    pub provider: String,
    pub model: String,
    pub purpose: String,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub estimated: bool,
    pub outcome: String,
    pub created_at: Millis,
}

/// Tokens spent or reserved, over a number of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SpendReport {
    pub tokens: u64,
    pub calls: u64,
    /// The reserved part, by calls that are running.
    #[serde(skip)]
    pub open_tokens: u64,
}

fn spend_row(row: &Row<'_>) -> rusqlite::Result<SpendRow> {
    Ok(SpendRow {
        id: row.get(0)?,
        day: row.get(1)?,
        session: row.column(2)?,
        provider: row.get(3)?,
        model: row.get(4)?,
        purpose: row.get(5)?,
        input_tokens: row.get(6)?,
        output_tokens: row.get(7)?,
        estimated: row.get(8)?,
        outcome: row.get(9)?,
        created_at: row.column(10)?,
    })
}

/// A running call counts as what it reserved.
const SPEND_TOTALS: &str = "SELECT coalesce(sum(CASE WHEN outcome = 'reserved' THEN reserved_tokens
    ELSE input_tokens + output_tokens END), 0), count(*),
    coalesce(sum(reserved_tokens) FILTER (WHERE outcome = 'reserved'), 0) FROM spend";

fn spend_report(row: &Row<'_>) -> rusqlite::Result<SpendReport> {
    Ok(SpendReport { tokens: row.get(0)?, calls: row.get(1)?, open_tokens: row.get(2)? })
}

impl StoreReader<'_> {
    pub fn spend_on(&self, day: &str) -> Result<SpendReport, StoreError> {
        Ok(self
            .0
            .prepare_cached(&format!("{SPEND_TOTALS} WHERE day = ?1"))?
            .query_row([day], spend_report)?)
    }

    pub fn spend_of_session(&self, session: SessionId) -> Result<SpendReport, StoreError> {
        Ok(self
            .0
            .prepare_cached(&format!("{SPEND_TOTALS} WHERE session_id = ?1"))?
            .query_row([session.sql()], spend_report)?)
    }

    pub fn total_spend(&self) -> Result<SpendReport, StoreError> {
        Ok(self.0.prepare_cached(SPEND_TOTALS)?.query_row([], spend_report)?)
    }

    /// Model calls, newest first.
    pub fn spend_rows(&self, page: PageRequest) -> Result<RowPage<SpendRow>, StoreError> {
        let mut statement = self.0.prepare_cached(
            "SELECT id, day, session_id, provider, model, purpose, input_tokens, output_tokens, estimated, outcome,
               created_at_epoch FROM spend ORDER BY id DESC LIMIT ?1 OFFSET ?2",
        )?;
        let rows = statement.query_map(params![page.row_limit() + 1, page.offset], spend_row)?;
        Ok(RowPage::from_overfetch(rows.collect::<Result<_, _>>()?, page))
    }
}

impl StoreWriter<'_> {
    /// Reserves up to `tokens` for a call. The caller checks [`StoreReader::spend_on`] in the same
    /// transaction, so that two parallel sessions cannot both take the rest of a budget.
    #[allow(clippy::too_many_arguments, reason = "the columns of one row")]
    pub fn reserve_spend(
        &self,
        day: &str,
        session: Option<SessionId>,
        provider: &str,
        model: &str,
        purpose: &str,
        tokens: u64,
        at: Millis,
    ) -> Result<i64, StoreError> {
        self.tx
            .prepare_cached(
                "INSERT INTO spend (uid, day, session_id, provider, model, purpose, reserved_tokens, created_at_epoch)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![PublicId::new().sql(), day, session.sql(), name_column(provider), name_column(model), name_column(purpose), tokens, at.sql()])?;
        Ok(self.tx.last_insert_rowid())
    }

    /// Replaces a reservation by the actual cost.
    pub fn settle_spend(
        &self,
        id: i64,
        input: u64,
        output: u64,
        estimated: bool,
        outcome: &str,
    ) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "UPDATE spend SET input_tokens = ?2, output_tokens = ?3, estimated = ?4, outcome = ?5 WHERE id = ?1",
            )?
            .execute(params![id, input, output, estimated, outcome])?;
        Ok(())
    }

    /// Charges the calls of a dead worker with what they reserved: the actual cost is unknown, and
    /// a budget errs on the safe side.
    pub fn charge_abandoned_calls(&self) -> Result<usize, StoreError> {
        Ok(self.tx.execute(
            "UPDATE spend SET input_tokens = reserved_tokens, estimated = 1, outcome = 'abandoned' WHERE outcome = 'reserved'",
            [],
        )?)
    }
}
