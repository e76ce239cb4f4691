//! One episode on its way from the queue to the store.
//!
//! `lease_job` leases the events of the next episode and builds an [`EpisodeJob`] from them;
//! [`EpisodeJob::complete`] stores the memories made from it.
//!
//! Invariant: the rows of an episode and the acknowledgement of its events are one transaction. A
//! worker that dies before the commit leaves the queue unchanged; after it, everything is stored.

use super::episodes::{self, EpisodeContext, EpisodeCut};
use crate::limits::EPISODE_EVENTS_MAX;
use crate::persist::EpisodeWriter;
use claude_mem_core::clock::Millis;
use claude_mem_core::episode::{Episode, EpisodePrompt};
use claude_mem_core::event::Event;
use claude_mem_core::ids::{ProjectId, SessionId};
use claude_mem_core::memory::Origin;
use claude_mem_core::queue::LeaseId;
use claude_mem_core::source::TextSource;
use claude_mem_store::{EventLease, NewSession, ReadySession, SessionStatus, Store, StoreError, StoreWriter};

pub use crate::persist::{COMPACT_AGENT_TYPE, CompressedEpisode, StoredRows};

/// A leased episode and the state of its session.
#[derive(Clone, Debug)]
pub struct EpisodeJob {
    pub lease: EventLease,
    pub session: SessionId,
    pub project: Option<ProjectId>,
    /// The session is ignored: its events are acknowledged and nothing is stored.
    pub ignored: bool,
    pub episode: Episode,
    /// State of the heuristic compressor after the session's previous episode, as JSON.
    pub carry: Option<String>,
    pub rolling_summary: Option<String>,
}

/// Leases the next episode of a session. `None` if no episode is complete.
pub fn lease_job(
    store: &mut Store,
    ready: &ReadySession,
    lease: LeaseId,
    now: Millis,
    flush: bool,
) -> Result<Option<EpisodeJob>, StoreError> {
    store.write(|tx| match lease_next(tx, ready, lease, now, flush)? {
        Some(lease) => build_job(tx, lease).map(Some),
        None => Ok(None),
    })
}

/// Leases only the events of the next episode, for when its session row cannot be created.
pub fn lease_events(
    store: &mut Store,
    ready: &ReadySession,
    lease: LeaseId,
    now: Millis,
    flush: bool,
) -> Result<Option<EventLease>, StoreError> {
    store.write(|tx| lease_next(tx, ready, lease, now, flush))
}

fn lease_next(
    tx: &StoreWriter<'_>,
    ready: &ReadySession,
    lease: LeaseId,
    now: Millis,
    flush: bool,
) -> Result<Option<EventLease>, StoreError> {
    let heads = tx.queued_heads(&ready.client, &ready.session, EPISODE_EVENTS_MAX + 1)?;
    match episodes::cut_episode(&heads, now, flush) {
        EpisodeCut::Take(count) => tx.lease_session(&ready.client, &ready.session, count, lease, now),
        _ => Ok(None),
    }
}

/// Finds or creates the session and its project, and loads the state that the episode continues.
fn build_job(tx: &StoreWriter<'_>, lease: EventLease) -> Result<EpisodeJob, StoreError> {
    let newest = |of: fn(&Event) -> Option<&str>| {
        let mut events = lease.events.iter().rev();
        events.find_map(|leased| of(&leased.event))
    };
    let first_at = lease.events.iter().map(|leased| leased.event.at).min();
    let at = first_at.unwrap_or_default().millis();
    let hint = lease.events.iter().rev().find_map(|leased| leased.event.project.as_ref());
    let known = tx.session_of_client(&lease.client, &lease.session)?;
    let ignored = known.as_ref().is_some_and(|session| session.status == SessionStatus::Ignored);
    let project = match hint {
        Some(hint) if !ignored => Some(tx.ensure_project(hint, at)?),
        _ => None,
    };
    let branch = newest(|event| event.project.as_ref()?.branch.as_deref());
    let session = tx.ensure_session(&NewSession {
        client: &lease.client,
        client_session: &lease.session,
        project,
        branch,
        transcript_path: newest(|event| event.transcript_path.as_deref()),
        origin: Origin::Agent,
        import_run: None,
        at,
    })?;
    let row = tx.session(session)?;
    let prompt = tx.newest_prompt(session)?.map(|prompt| EpisodePrompt {
        number: prompt.number,
        text: prompt.text,
        at: prompt.created_at,
        source: TextSource::of_stored_prompt(prompt.origin),
    });
    let project_row = row.project.map(|id| tx.project(id)).transpose()?;
    let home = project_row.as_ref();
    let place = EpisodeContext {
        project: home.map_or_else(String::new, |project| project.name.clone()),
        // The hint comes first: a worktree's root differs from its project's.
        root: hint
            .map(|hint| hint.root.clone())
            .or_else(|| home.map(|project| project.root.clone()))
            .unwrap_or_default(),
        branch: row.branch,
        prompt_count: row.prompt_counter,
        prompt,
    };
    let events = lease.events.iter().map(|leased| &leased.event);
    Ok(EpisodeJob {
        session,
        project: row.project,
        ignored,
        episode: episodes::build_episode(events, place),
        carry: tx.session_carry(session)?,
        rolling_summary: tx.session_rolling_summary(session)?,
        lease,
    })
}

impl EpisodeJob {
    fn events(&self) -> impl Iterator<Item = &Event> {
        self.lease.events.iter().map(|leased| &leased.event)
    }

    /// Whether the episode has content to compress.
    pub fn has_content(&self) -> bool {
        !self.ignored && episodes::have_content(self.events())
    }

    /// How many workers have died while they held the lease.
    pub fn crash_count(&self) -> u32 {
        let crashes = self.lease.events.iter().map(|leased| leased.crashes);
        crashes.max().unwrap_or(0)
    }

    /// Stores the memories and acknowledges the events. On `LeaseLost` another worker has the
    /// events, and nothing was stored.
    pub fn complete(&self, store: &mut Store, made: &CompressedEpisode) -> Result<StoredRows, StoreError> {
        let rows = EpisodeWriter {
            session: self.session,
            project: self.project,
            branch: self.episode.branch.as_deref(),
            events: self.events().collect(),
            import_run: None,
            prompt_number: None,
        };
        let chosen = rows.select_observations(&store.read(), made)?;
        store.write(|tx| {
            let mut left = StoredRows::default();
            if !self.ignored {
                left = rows.store(tx, made, &chosen)?;
                rows.consolidate(tx, &mut left)?;
            }
            left.events = self.lease.events.len();
            let ids: Vec<_> = self.lease.events.iter().map(|leased| leased.id).collect();
            tx.settle(self.lease.id, &ids)?;
            Ok(left)
        })
    }
}

#[cfg(test)]
#[path = "job_tests.rs"]
mod tests;
