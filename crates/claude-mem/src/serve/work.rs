//! One episode from the queue to the store: taken, and finished in one transaction.
//!
//! In: a session that has something to do. Out: rows, and its events settled.
//!
//! Invariant: what an episode leaves behind and the settling of its events are one transaction.
//! Whoever dies before it leaves the queue as it was; whoever comes after it finds all of it.

use super::episodes::{self, Cut, Place};
use super::rows::Rows;
use crate::clock::Millis;
use crate::episode::{Episode, Prompt};
use crate::hook::event::Event;
use crate::ids::{ProjectId, SessionId};
use crate::limits::EPISODE_EVENTS_MAX;
use crate::memory::Origin;
use crate::queue::LeaseId;
use crate::store::{Lease, NewSession, ReadySession, SessionStatus, Store, StoreError, Writes};

pub use super::rows::{COMPACT, Left, Made, observation_tokens, summary_tokens};

/// An episode that is ours until its lease runs out.
#[derive(Clone, Debug)]
pub struct Work {
    pub lease: Lease,
    pub session: SessionId,
    pub project: Option<ProjectId>,
    /// What is known of the session is its id alone: its events are let go.
    pub ignored: bool,
    pub episode: Episode,
    /// As the last episode left it.
    pub carry: Option<String>,
    pub rolling_summary: Option<String>,
}

/// Takes the next episode of a session, if it has one.
pub fn take(
    store: &mut Store,
    ready: &ReadySession,
    lease: LeaseId,
    now: Millis,
    flush: bool,
) -> Result<Option<Work>, StoreError> {
    store.write(|tx| match lease_next(tx, ready, lease, now, flush)? {
        Some(lease) => place(tx, lease).map(Some),
        None => Ok(None),
    })
}

/// Takes the events of the next episode alone, for one whose place cannot be had.
pub fn lease(
    store: &mut Store,
    ready: &ReadySession,
    lease: LeaseId,
    now: Millis,
    flush: bool,
) -> Result<Option<Lease>, StoreError> {
    store.write(|tx| lease_next(tx, ready, lease, now, flush))
}

fn lease_next(
    tx: &Writes<'_>,
    ready: &ReadySession,
    lease: LeaseId,
    now: Millis,
    flush: bool,
) -> Result<Option<Lease>, StoreError> {
    let heads = tx.heads(&ready.client, &ready.session, EPISODE_EVENTS_MAX + 1)?;
    match episodes::cut(&heads, now, flush) {
        Cut::Take(count) => tx.lease_session(&ready.client, &ready.session, count, lease, now),
        _ => Ok(None),
    }
}

/// Finds or makes the session and its project, and reads what the episode goes on from.
fn place(tx: &Writes<'_>, lease: Lease) -> Result<Work, StoreError> {
    let newest = |of: fn(&Event) -> Option<&str>| {
        let mut events = lease.events.iter().rev();
        events.find_map(|leased| of(&leased.event))
    };
    let first_at = lease.events.iter().map(|leased| leased.event.at).min();
    let at = first_at.unwrap_or_default().millis();
    let hint = lease
        .events
        .iter()
        .rev()
        .find_map(|leased| leased.event.project.as_ref());
    let known = tx.session_of_client(&lease.client, &lease.session)?;
    let ignored = known
        .as_ref()
        .is_some_and(|session| session.status == SessionStatus::Ignored);
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
    let prompt = tx.newest_prompt(session)?.map(|prompt| Prompt {
        number: prompt.number,
        text: prompt.text,
        at: prompt.created_at,
    });
    let home = row.project.map(|id| tx.project(id)).transpose()?;
    let home = home.as_ref();
    let place = Place {
        project: home.map_or_else(String::new, |project| project.name.clone()),
        // A worktree has a root of its own.
        root: hint
            .map(|hint| hint.root.clone())
            .or_else(|| home.map(|project| project.root.clone()))
            .unwrap_or_default(),
        branch: row.branch,
        prompts: row.prompt_counter,
        prompt,
    };
    let events = lease.events.iter().map(|leased| &leased.event);
    Ok(Work {
        session,
        project: row.project,
        ignored,
        episode: episodes::build(events, place),
        carry: tx.session_carry(session)?,
        rolling_summary: tx.session_rolling_summary(session)?,
        lease,
    })
}

impl Work {
    fn events(&self) -> impl Iterator<Item = &Event> {
        self.lease.events.iter().map(|leased| &leased.event)
    }

    /// Whether a compressor could make anything of it.
    pub fn says_something(&self) -> bool {
        !self.ignored && episodes::say_something(self.events())
    }

    /// How many workers have died while they held it.
    pub fn crashes(&self) -> u32 {
        let crashes = self.lease.events.iter().map(|leased| leased.crashes);
        crashes.max().unwrap_or(0)
    }

    /// Stores what was made and settles the events. `LeaseLost`: somebody else has taken them,
    /// and nothing was stored.
    pub fn finish(&self, store: &mut Store, made: &Made) -> Result<Left, StoreError> {
        let rows = Rows {
            session: self.session,
            project: self.project,
            branch: self.episode.branch.as_deref(),
            events: self.events().collect(),
            import_run: None,
            turn: None,
        };
        let chosen = rows.choose(&store.read(), made)?;
        store.write(|tx| {
            let mut left = if self.ignored {
                Left::default()
            } else {
                rows.store(tx, made, &chosen)?
            };
            left.events = self.lease.events.len();
            let ids: Vec<_> = self.lease.events.iter().map(|leased| leased.id).collect();
            tx.settle(self.lease.id, &ids)?;
            Ok(left)
        })
    }
}

#[cfg(test)]
#[path = "work_tests.rs"]
mod tests;
