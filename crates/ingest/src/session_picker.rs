//! Picks the session whose next episode is processed.

use std::collections::HashSet;

use crate::episodes::{self, EpisodeCut};
use crate::limits::EPISODE_EVENTS_MAX;
use claude_mem_core::clock::Millis;
use claude_mem_store::{QueuedEventHead, ReadySession, StoreError, StoreReader};

/// A session, as client and session id.
pub(crate) type SessionKey = (String, String);

/// A session with a complete episode in the queue.
#[derive(Clone, Debug)]
pub(crate) struct PickedSession {
    pub(crate) ready: ReadySession,
    /// Its queued events.
    pub(crate) heads: Vec<QueuedEventHead>,
}

impl PickedSession {
    pub(crate) fn key(&self) -> SessionKey {
        session_key(&self.ready)
    }
}

/// What the queue holds for an idle thread.
#[derive(Clone, Debug)]
pub(crate) enum SessionPick {
    Ready(PickedSession),
    /// No episode is complete. The first open turn is cut at this time.
    NoneBefore(Option<Millis>),
}

/// Picks the session that has waited longest among those with a complete episode. `busy` sessions
/// are left out.
pub(crate) fn pick_session(
    reads: &StoreReader<'_>,
    busy: &HashSet<SessionKey>,
    now: Millis,
    flush: bool,
) -> Result<SessionPick, StoreError> {
    let mut next_cut: Option<Millis> = None;
    for ready in reads.sessions_with_work()? {
        if busy.contains(&session_key(&ready)) {
            continue;
        }
        let heads = reads.queued_heads(&ready.client, &ready.session, EPISODE_EVENTS_MAX + 1)?;
        match episodes::cut_episode(&heads, now, flush) {
            EpisodeCut::Take(_) => return Ok(SessionPick::Ready(PickedSession { ready, heads })),
            EpisodeCut::Wait(until) => next_cut = Some(next_cut.map_or(until, |cut| cut.min(until))),
            EpisodeCut::Empty => {}
        }
    }
    Ok(SessionPick::NoneBefore(next_cut))
}

fn session_key(ready: &ReadySession) -> SessionKey {
    (ready.client.clone(), ready.session.0.clone())
}
