//! Tokens: reserved before a call, settled after it.

use rusqlite::{Row, params};
use serde::Serialize;

use super::{Page, Paged, Reads, StoreError, Writes};
use crate::clock::Millis;
use crate::ids::{PublicId, SessionId};

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

/// What has been spent or is reserved, all calls counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SpendReport {
    pub tokens: u64,
    pub calls: u64,
    /// What of the tokens is only reserved, by calls that are under way.
    #[serde(skip)]
    pub open_tokens: u64,
}

fn spend_row(row: &Row<'_>) -> rusqlite::Result<SpendRow> {
    Ok(SpendRow {
        id: row.get(0)?,
        day: row.get(1)?,
        session: row.get(2)?,
        provider: row.get(3)?,
        model: row.get(4)?,
        purpose: row.get(5)?,
        input_tokens: row.get(6)?,
        output_tokens: row.get(7)?,
        estimated: row.get(8)?,
        outcome: row.get(9)?,
        created_at: row.get(10)?,
    })
}

/// A call that is under way counts as what it reserved.
const TOKENS: &str = "SELECT coalesce(sum(CASE WHEN outcome = 'reserved' THEN reserved_tokens
    ELSE input_tokens + output_tokens END), 0), count(*),
    coalesce(sum(reserved_tokens) FILTER (WHERE outcome = 'reserved'), 0) FROM spend";

fn report(row: &Row<'_>) -> rusqlite::Result<SpendReport> {
    Ok(SpendReport {
        tokens: row.get(0)?,
        calls: row.get(1)?,
        open_tokens: row.get(2)?,
    })
}

impl Reads<'_> {
    pub fn spend_on(&self, day: &str) -> Result<SpendReport, StoreError> {
        Ok(self
            .0
            .prepare_cached(&format!("{TOKENS} WHERE day = ?1"))?
            .query_row([day], report)?)
    }

    pub fn spend_of_session(&self, session: SessionId) -> Result<SpendReport, StoreError> {
        Ok(self
            .0
            .prepare_cached(&format!("{TOKENS} WHERE session_id = ?1"))?
            .query_row([session], report)?)
    }

    pub fn spend_in_all(&self) -> Result<SpendReport, StoreError> {
        Ok(self.0.prepare_cached(TOKENS)?.query_row([], report)?)
    }

    /// Newest first.
    pub fn spend_rows(&self, page: Page) -> Result<Paged<SpendRow>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT id, day, session_id, provider, model, purpose, input_tokens, output_tokens, estimated, outcome,
               created_at_epoch FROM spend ORDER BY id DESC LIMIT ?1 OFFSET ?2",
        )?;
        let rows = rows.query_map(params![page.rows() + 1, page.offset], spend_row)?;
        Ok(Paged::cut(rows.collect::<Result<_, _>>()?, page))
    }
}

impl Writes<'_> {
    /// Notes that a call is about to cost up to `tokens`. The caller has looked at
    /// [`Reads::spend_on`] in the same transaction, so that parallel sessions cannot both take
    /// the last of a budget.
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
            .execute(params![PublicId::new(), day, session, provider, model, purpose, tokens, at])?;
        Ok(self.tx.last_insert_rowid())
    }

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

    /// Calls that were under way when a worker died are charged what they reserved: nobody
    /// knows better, and a budget errs on the safe side.
    pub fn charge_abandoned_calls(&self) -> Result<usize, StoreError> {
        Ok(self.tx.execute(
            "UPDATE spend SET input_tokens = reserved_tokens, estimated = 1, outcome = 'abandoned' WHERE outcome = 'reserved'",
            [],
        )?)
    }
}
