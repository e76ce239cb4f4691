//! How much of everything there is, for `status` and the dashboard.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Reads, StoreError};
use crate::clock::Millis;
use crate::ids::{PendingId, ProjectId};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct QueueCounts {
    pub waiting: u64,
    pub leased: u64,
    pub done: u64,
    pub dead: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub projects: u64,
    pub sessions: u64,
    pub prompts: u64,
    pub observations: u64,
    pub summaries: u64,
    pub final_messages: u64,
    pub vector_backlog: u64,
    pub queue: QueueCounts,
}

/// How much of it belongs to one project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProjectCounts {
    pub sessions: u64,
    pub observations: u64,
}

/// What came to be since a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MadeSince {
    pub sessions: u64,
    pub observations: u64,
    pub summaries: u64,
}

impl Reads<'_> {
    pub fn made_since(&self, at: Millis) -> Result<MadeSince, StoreError> {
        let count = |table: &str| {
            let sql = format!("SELECT count(*) FROM {table} WHERE created_at_epoch >= ?1");
            self.0
                .prepare_cached(&sql)?
                .query_row([at], |row| row.get::<_, u64>(0))
        };
        let sessions = "(SELECT created_at_epoch FROM sdk_sessions WHERE status <> 'ignored')";
        Ok(MadeSince {
            sessions: count(sessions)?,
            observations: count("observations")?,
            summaries: count("session_summaries")?,
        })
    }

    pub fn counts(&self) -> Result<Counts, StoreError> {
        let count = |sql: &str| {
            self.0
                .prepare_cached(sql)?
                .query_row([], |row| row.get::<_, u64>(0))
        };
        Ok(Counts {
            projects: count("SELECT count(*) FROM projects")?,
            sessions: count("SELECT count(*) FROM sdk_sessions WHERE status <> 'ignored'")?,
            prompts: count("SELECT count(*) FROM user_prompts")?,
            observations: count("SELECT count(*) FROM observations")?,
            summaries: count("SELECT count(*) FROM session_summaries")?,
            final_messages: count("SELECT count(*) FROM final_messages")?,
            vector_backlog: count("SELECT count(*) FROM vector_backlog")?,
            queue: self.queue_counts()?,
        })
    }

    /// Projects that hold nothing are not in it.
    pub fn counts_by_project(&self) -> Result<BTreeMap<ProjectId, ProjectCounts>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT project_id, sum(sessions), sum(observations) FROM (
               SELECT project_id, count(*) AS sessions, 0 AS observations FROM sdk_sessions
                 WHERE status <> 'ignored' GROUP BY project_id
               UNION ALL
               SELECT project_id, 0, count(*) FROM observations GROUP BY project_id
             ) WHERE project_id IS NOT NULL GROUP BY project_id",
        )?;
        Ok(rows
            .query_map([], |row| {
                let counts = ProjectCounts {
                    sessions: row.get(1)?,
                    observations: row.get(2)?,
                };
                Ok((row.get(0)?, counts))
            })?
            .collect::<Result<_, _>>()?)
    }

    /// Memories of one project, counted up to `most`.
    pub fn observations_up_to(&self, project: ProjectId, most: u32) -> Result<u32, StoreError> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT count(*) FROM (SELECT 1 FROM observations WHERE project_id = ?1 LIMIT ?2)",
            )?
            .query_row((project, most), |row| row.get(0))?)
    }

    /// Events that wait for the first prompt of their session, and for nothing that is late.
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
            Ok(QueueCounts {
                waiting: unsettled - leased,
                leased,
                done,
                dead: all - done - unsettled,
            })
        })?)
    }
}

/// What was heard of sessions that nobody has asked anything yet.
const WAITING_FOR_PROMPT: &str = "SELECT id FROM pending_messages AS idle
    WHERE state IN ('waiting', 'leased') AND state = 'waiting' AND kind = 'session_start' AND NOT EXISTS (
      SELECT 1 FROM pending_messages AS other
      WHERE other.state IN ('waiting', 'leased') AND other.client = idle.client AND other.session = idle.session
        AND other.kind <> 'session_start')";

/// Of one moment. What is done is the most by far and has long bodies: each part names the
/// condition of an index that it is counted from, and what is dead is the rest.
const QUEUE_COUNTS: &str = "SELECT
    (SELECT count(*) FROM pending_messages),
    (SELECT count(*) FROM pending_messages WHERE state = 'done'),
    (SELECT count(*) FROM pending_messages WHERE state IN ('waiting', 'leased')),
    (SELECT count(*) FROM pending_messages WHERE state IN ('waiting', 'leased') AND state = 'leased')";
