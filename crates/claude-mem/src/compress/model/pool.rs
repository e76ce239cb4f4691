//! Which model speaks for which session: one each, kept while it is warm.
//!
//! A model is taken out while it is used, so that no lock is held during a call, and what is
//! dropped is handed to the caller, since ending a child takes a moment.

use std::collections::BTreeMap;

use super::Model;
use crate::clock::Millis;
use crate::ids::SessionId;
use crate::limits::{MODEL_IDLE_SECONDS_MAX, MODELS_WARM_MAX};

#[derive(Default)]
pub struct Pool {
    warm: BTreeMap<SessionId, Warm>,
}

struct Warm {
    model: Box<dyn Model>,
    used_at: Millis,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.warm.keys()).finish()
    }
}

impl Pool {
    /// The session's model, if it has one that waits.
    pub fn take(&mut self, session: SessionId) -> Option<Box<dyn Model>> {
        self.warm.remove(&session).map(|warm| warm.model)
    }

    /// Puts a model back for the session's next episode.
    pub fn give_back(&mut self, session: SessionId, model: Box<dyn Model>, now: Millis) {
        self.warm.insert(
            session,
            Warm {
                model,
                used_at: now,
            },
        );
    }

    /// Takes out what has been idle for too long, and the longest idle of what is too many.
    /// Drop the result where waiting a moment does no harm.
    #[must_use]
    pub fn sweep(&mut self, now: Millis) -> Vec<Box<dyn Model>> {
        let mut by_age: Vec<(Millis, SessionId)> = self
            .warm
            .iter()
            .map(|(session, warm)| (warm.used_at, *session))
            .collect();
        by_age.sort_unstable();
        let too_many = by_age.len().saturating_sub(MODELS_WARM_MAX);
        let idle = |used_at: Millis| now - used_at >= MODEL_IDLE_SECONDS_MAX * 1_000;
        let mut swept = Vec::new();
        for (i, (used_at, session)) in by_age.into_iter().enumerate() {
            if i < too_many || idle(used_at) {
                swept.extend(self.take(session));
            }
        }
        swept
    }

    pub fn len(&self) -> usize {
        self.warm.len()
    }

    pub fn is_empty(&self) -> bool {
        self.warm.is_empty()
    }
}

#[cfg(test)]
#[path = "pool_tests.rs"]
mod tests;
