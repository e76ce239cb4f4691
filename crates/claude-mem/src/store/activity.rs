//! How much happened when, and what it cost and saved: figures for the dashboard.

use serde::Serialize;

use super::{Reads, StoreError};
use crate::clock::Millis;
use crate::ids::SessionId;

/// Rows of one stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Activity {
    pub observations: u64,
    pub summaries: u64,
    pub prompts: u64,
    /// Tokens that sessions were told.
    pub injected_tokens: u64,
}

/// What finding things out cost once, and what telling them again cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Economics {
    /// Of everything that was told again, at each telling.
    pub discovery_tokens: u64,
    pub told_tokens: u64,
}

impl Reads<'_> {
    /// One entry for each pair of neighbouring `bounds`, which ascend.
    pub fn activity(&self, bounds: &[Millis]) -> Result<Vec<Activity>, StoreError> {
        let count = |table: &str, from: Millis, to: Millis| {
            let sql = format!(
                "SELECT count(*) FROM {table} WHERE created_at_epoch >= ?1 AND created_at_epoch < ?2"
            );
            self.0
                .prepare_cached(&sql)?
                .query_row([from, to], |row| row.get::<_, u64>(0))
        };
        let mut found = Vec::with_capacity(bounds.len());
        for pair in bounds.windows(2) {
            found.push(Activity {
                observations: count("observations", pair[0], pair[1])?,
                summaries: count("session_summaries", pair[0], pair[1])?,
                prompts: count("user_prompts", pair[0], pair[1])?,
                injected_tokens: 0,
            });
        }
        let Some(first) = bounds.first() else {
            return Ok(found);
        };
        let mut told = self.0.prepare_cached(
            "SELECT created_at_epoch, tokens FROM observation_feedback
             WHERE signal = 'injected' AND created_at_epoch >= ?1",
        )?;
        let mut told = told.query([first])?;
        while let Some(row) = told.next()? {
            let at: Millis = row.get(0)?;
            let after = bounds.partition_point(|bound| *bound <= at);
            if let Some(entry) = after.checked_sub(1).and_then(|place| found.get_mut(place)) {
                entry.injected_tokens += row.get::<_, u64>(1)?;
            }
        }
        Ok(found)
    }

    /// Most frequent first.
    pub fn counts_by_type(&self) -> Result<Vec<(String, u64)>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT type, count(*) FROM observations GROUP BY type ORDER BY count(*) DESC, type",
        )?;
        Ok(rows
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?)
    }

    pub fn economics(&self) -> Result<Economics, StoreError> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT coalesce(sum(o.discovery_tokens), 0), coalesce(sum(f.tokens), 0)
                 FROM observation_feedback AS f LEFT JOIN observations AS o
                   ON f.kind = 'observation' AND o.id = f.row_id
                 WHERE f.signal IN ('injected', 'fetched')",
            )?
            .query_row([], |row| {
                Ok(Economics {
                    discovery_tokens: row.get(0)?,
                    told_tokens: row.get(1)?,
                })
            })?)
    }

    /// Tokens of each day since `first`, a local day as `2026-11-15`.
    pub fn spend_by_day(&self, first: &str) -> Result<Vec<(String, u64)>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT day, sum(CASE WHEN outcome = 'reserved' THEN reserved_tokens
               ELSE input_tokens + output_tokens END)
             FROM spend WHERE day >= ?1 GROUP BY day ORDER BY day",
        )?;
        Ok(rows
            .query_map([first], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?)
    }

    /// Observations and summaries of one session.
    pub fn counts_of_session(&self, id: SessionId) -> Result<(u64, u64), StoreError> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT (SELECT count(*) FROM observations WHERE session_id = ?1),
                        (SELECT count(*) FROM session_summaries WHERE session_id = ?1)",
            )?
            .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?)
    }
}
