//! Activity and token figures over time, for the dashboard.

use serde::Serialize;

use super::{StoreError, StoreReader};
use crate::columns::{ReadColumn, SqlColumn};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::SessionId;

/// Rows created in one time interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ActivityBucket {
    pub observations: u64,
    pub summaries: u64,
    pub prompts: u64,
    /// Tokens that were injected into sessions.
    pub injected_tokens: u64,
}

/// Tokens that used memories cost to make, and tokens of all memories given to sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TokenEconomics {
    /// Discovery cost of the memories that sessions used: fetched, cited or recalled, each once a session. Only
    /// a model's calls are measured, so this is zero without a model.
    pub discovery_tokens: u64,
    /// Tokens of all memories that sessions were given, used or not.
    pub told_tokens: u64,
}

impl StoreReader<'_> {
    /// One bucket for each pair of neighbouring `bounds`, which must ascend.
    pub fn activity(&self, bounds: &[Millis]) -> Result<Vec<ActivityBucket>, StoreError> {
        let count = |table: &str, from: Millis, to: Millis| {
            let sql = format!(
                "SELECT count(*) FROM {table} WHERE created_at_epoch >= ?1 AND created_at_epoch < ?2"
            );
            self.0.prepare_cached(&sql)?.query_row([from.sql(), to.sql()], |row| row.get::<_, u64>(0))
        };
        let mut found = Vec::with_capacity(bounds.len());
        for pair in bounds.windows(2) {
            found.push(ActivityBucket {
                observations: count(
                    "(SELECT created_at_epoch FROM observations WHERE member IS NULL)",
                    pair[0],
                    pair[1],
                )?,
                summaries: count(
                    "(SELECT created_at_epoch FROM session_summaries WHERE member IS NULL)",
                    pair[0],
                    pair[1],
                )?,
                prompts: count("user_prompts", pair[0], pair[1])?,
                injected_tokens: 0,
            });
        }
        let Some(first) = bounds.first() else {
            return Ok(found);
        };
        let mut statement = self.0.prepare_cached(
            "SELECT created_at_epoch, tokens FROM observation_feedback
             WHERE signal = 'injected' AND created_at_epoch >= ?1",
        )?;
        let mut told = statement.query([first.sql()])?;
        while let Some(row) = told.next()? {
            let at: Millis = row.column(0)?;
            let after = bounds.partition_point(|bound| *bound <= at);
            if let Some(entry) = after.checked_sub(1).and_then(|place| found.get_mut(place)) {
                entry.injected_tokens += row.get::<_, u64>(1)?;
            }
        }
        Ok(found)
    }

    /// Observations per type, most frequent first.
    pub fn counts_by_type(&self) -> Result<Vec<(String, u64)>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT type, count(*) FROM observations WHERE member IS NULL GROUP BY type ORDER BY count(*) DESC, type",
        )?;
        Ok(rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
    }

    /// The token economics of everything shown so far.
    pub fn economics(&self) -> Result<TokenEconomics, StoreError> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT
                   (SELECT coalesce(sum(o.discovery_tokens), 0) FROM (
                      SELECT DISTINCT client, session, row_id FROM observation_feedback
                      WHERE kind = 'observation' AND (signal IN ('fetched', 'cited')
                        OR (signal = 'injected' AND place IN ('prompt', 'file', 'failure')))
                    ) AS used JOIN observations AS o ON o.id = used.row_id AND o.member IS NULL),
                   (SELECT coalesce(sum(tokens), 0) FROM observation_feedback
                    WHERE signal IN ('injected', 'fetched'))",
            )?
            .query_row([], |row| {
                Ok(TokenEconomics { discovery_tokens: row.get(0)?, told_tokens: row.get(1)? })
            })?)
    }

    /// Tokens spent per day since `first`, a local day such as `2026-11-15`.
    pub fn spend_by_day(&self, first: &str) -> Result<Vec<(String, u64)>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT day, sum(CASE WHEN outcome = 'reserved' THEN reserved_tokens
               ELSE input_tokens + output_tokens END)
             FROM spend WHERE day >= ?1 GROUP BY day ORDER BY day",
        )?;
        Ok(rows.query_map([first], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
    }

    /// The numbers of observations and summaries of one session.
    pub fn counts_of_session(&self, id: SessionId) -> Result<(u64, u64), StoreError> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT (SELECT count(*) FROM observations WHERE session_id = ?1)
                          + (SELECT count(*) FROM observation_sources WHERE session_id = ?1),
                        (SELECT count(*) FROM session_summaries WHERE session_id = ?1)",
            )?
            .query_row([id.sql()], |row| Ok((row.get(0)?, row.get(1)?)))?)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{observation, scratch};
    use crate::{FeedbackSignal, NewFeedback, NewRowContext, RowKind, Store};
    use claude_mem_core::clock::Millis;

    #[test]
    fn discovery_is_booked_once_a_session_and_only_for_used_memories() {
        let scratch = scratch();
        scratch.dir.create().unwrap();
        let mut store = Store::open(&scratch.dir.db()).unwrap();
        let uses = [
            // Told at the start of two sessions and used in neither.
            ("s1", FeedbackSignal::Injected, "session_start"),
            ("s2", FeedbackSignal::Injected, "session_start"),
            // Recalled, fetched and cited in one session.
            ("s3", FeedbackSignal::Injected, "prompt"),
            ("s3", FeedbackSignal::Fetched, "mcp"),
            ("s3", FeedbackSignal::Cited, "message"),
            ("s4", FeedbackSignal::Fetched, "mcp"),
        ];
        store
            .write(|tx| {
                let mut new = observation("a finding", Millis(1));
                new.discovery_tokens = 1_000;
                let id = tx.create_observation(&new, &NewRowContext::default())?;
                uses.iter().try_for_each(|(session, signal, place)| {
                    tx.record_feedback(&NewFeedback {
                        kind: RowKind::Observation,
                        row_id: id.0,
                        client: "claude-code",
                        session,
                        agent_id: "",
                        signal: *signal,
                        place,
                        score: None,
                        rank: None,
                        tokens: 10,
                        reason: "",
                        at: Millis(2),
                    })
                })
            })
            .unwrap();
        let economics = store.read().economics().unwrap();
        assert_eq!((economics.discovery_tokens, economics.told_tokens), (2_000, 50));
    }
}
