//! Row counts for `status` and the dashboard.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{StoreError, StoreReader};
use crate::columns::{ReadColumn, SqlColumn};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{PendingId, ProjectId};

/// Queued events by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct QueueCounts {
    pub waiting: u64,
    pub leased: u64,
    pub done: u64,
    pub dead: u64,
}

/// Row counts of the whole store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StoreCounts {
    pub projects: u64,
    pub sessions: u64,
    pub prompts: u64,
    pub observations: u64,
    pub summaries: u64,
    pub final_messages: u64,
    /// Rows that can have vectors, with those in the backlog.
    pub embeddable: u64,
    /// Rows that lack their vectors.
    pub vector_backlog: u64,
    pub queue: QueueCounts,
}

/// Row counts of one project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProjectCounts {
    pub sessions: u64,
    pub observations: u64,
}

/// Rows created since a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecentCounts {
    pub sessions: u64,
    pub observations: u64,
    pub summaries: u64,
}

impl StoreReader<'_> {
    /// Rows created since `at`.
    pub fn counts_since(&self, at: Millis) -> Result<RecentCounts, StoreError> {
        let count = |table: &str| {
            let sql = format!("SELECT count(*) FROM {table} WHERE created_at_epoch >= ?1");
            self.0.prepare_cached(&sql)?.query_row([at.sql()], |row| row.get::<_, u64>(0))
        };
        let sessions =
            "(SELECT created_at_epoch FROM sdk_sessions WHERE status <> 'ignored' AND member IS NULL)";
        Ok(RecentCounts {
            sessions: count(sessions)?,
            observations: count("(SELECT created_at_epoch FROM observations WHERE member IS NULL)")?,
            summaries: count("(SELECT created_at_epoch FROM session_summaries WHERE member IS NULL)")?,
        })
    }

    pub fn counts(&self) -> Result<StoreCounts, StoreError> {
        let count = |sql: &str| self.0.prepare_cached(sql)?.query_row([], |row| row.get::<_, u64>(0));
        Ok(StoreCounts {
            projects: count("SELECT count(*) FROM projects")?,
            sessions: count(
                "SELECT count(*) FROM sdk_sessions WHERE status <> 'ignored' AND member IS NULL",
            )?,
            prompts: count("SELECT count(*) FROM user_prompts")?,
            observations: count("SELECT count(*) FROM observations WHERE member IS NULL")?,
            summaries: count("SELECT count(*) FROM session_summaries WHERE member IS NULL")?,
            final_messages: count("SELECT count(*) FROM final_messages")?,
            embeddable: count("SELECT count(*) FROM texts INDEXED BY texts_to_embed")?,
            vector_backlog: self.unindexed_count()?,
            queue: self.queue_counts()?,
        })
    }

    /// Counts per project, without empty projects.
    pub fn counts_by_project(&self) -> Result<BTreeMap<ProjectId, ProjectCounts>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT project_id, sum(sessions), sum(observations) FROM (
               SELECT project_id, count(*) AS sessions, 0 AS observations FROM sdk_sessions
                 WHERE status <> 'ignored' AND member IS NULL GROUP BY project_id
               UNION ALL
               SELECT project_id, 0, count(*) FROM observations WHERE member IS NULL GROUP BY project_id
             ) WHERE project_id IS NOT NULL GROUP BY project_id",
        )?;
        Ok(rows
            .query_map([], |row| {
                let counts = ProjectCounts { sessions: row.get(1)?, observations: row.get(2)? };
                Ok((row.column(0)?, counts))
            })?
            .collect::<Result<_, _>>()?)
    }

    /// Observations of one project, counted up to `most`.
    pub fn count_observations_up_to(&self, project: ProjectId, most: u32) -> Result<u32, StoreError> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT count(*) FROM (SELECT 1 FROM observations WHERE project_id = ?1 AND member IS NULL LIMIT ?2)",
            )?
            .query_row((project.sql(), most), |row| row.get(0))?)
    }

    /// Events of sessions that have only started: they wait for the first prompt, and nothing is
    /// late.
    pub fn waiting_for_prompt(&self) -> Result<Vec<PendingId>, StoreError> {
        let mut idle = self.0.prepare_cached(WAITING_FOR_PROMPT)?;
        let ids = idle.query_map([], |row| Ok(PendingId(row.get(0)?)))?;
        Ok(ids.collect::<Result<_, _>>()?)
    }

    pub fn queue_counts(&self) -> Result<QueueCounts, StoreError> {
        let mut counted = self.0.prepare_cached(QUEUE_COUNTS)?;
        Ok(counted.query_row([], |row| {
            let (all, done): (u64, u64) = (row.get(0)?, row.get(1)?);
            let (unsettled, leased): (u64, u64) = (row.get(2)?, row.get(3)?);
            Ok(QueueCounts { waiting: unsettled - leased, leased, done, dead: all - done - unsettled })
        })?)
    }
}

/// `session_start` events of sessions without any other queued event.
const WAITING_FOR_PROMPT: &str = "SELECT id FROM pending_messages AS idle
    WHERE state IN ('waiting', 'leased') AND state = 'waiting' AND kind = 'session_start' AND NOT EXISTS (
      SELECT 1 FROM pending_messages AS other
      WHERE other.state IN ('waiting', 'leased') AND other.client = idle.client AND other.session = idle.session
        AND other.kind <> 'session_start')";

/// One statement, so that all counts are of one snapshot. Done events are by far the most, so each
/// count names the condition of a partial index; dead events are the remainder.
const QUEUE_COUNTS: &str = "SELECT
    (SELECT count(*) FROM pending_messages),
    (SELECT count(*) FROM pending_messages WHERE state = 'done'),
    (SELECT count(*) FROM pending_messages WHERE state IN ('waiting', 'leased')),
    (SELECT count(*) FROM pending_messages WHERE state IN ('waiting', 'leased') AND state = 'leased')";
