//! Keeps one open model per session.
//!
//! A model is taken out of the [`ModelPool`] while in use, so that no lock is held during a call.
//! Expired models are returned to the caller for dropping, since ending a child takes a moment.

use std::collections::BTreeMap;

use super::language_model::LanguageModel;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::SessionId;

/// Maximum models that are kept open between episodes.
pub(crate) const MODELS_WARM_MAX: usize = 4;

/// Seconds after which an idle model is closed: its child process uses about 200 MB.
pub(crate) const MODEL_IDLE_SECONDS_MAX: i64 = 60;

/// Idle models by session.
#[derive(Default)]
pub struct ModelPool {
    idle: BTreeMap<SessionId, PooledModel>,
}

struct PooledModel {
    model: Box<dyn LanguageModel>,
    used_at: Millis,
}

impl std::fmt::Debug for ModelPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.idle.keys()).finish()
    }
}

impl ModelPool {
    /// Takes the session's idle model, if there is one.
    pub fn take(&mut self, session: SessionId) -> Option<Box<dyn LanguageModel>> {
        self.idle.remove(&session).map(|warm| warm.model)
    }

    /// Returns a model for the session's next episode.
    pub fn give_back(&mut self, session: SessionId, model: Box<dyn LanguageModel>, now: Millis) {
        self.idle.insert(session, PooledModel { model, used_at: now });
    }

    /// Takes out models that were idle for too long, and the longest idle above the limit. Drop the
    /// result outside of any lock.
    #[must_use]
    pub fn take_expired(&mut self, now: Millis) -> Vec<Box<dyn LanguageModel>> {
        let mut by_age: Vec<(Millis, SessionId)> =
            self.idle.iter().map(|(session, warm)| (warm.used_at, *session)).collect();
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
        self.idle.len()
    }

    pub fn is_empty(&self) -> bool {
        self.idle.is_empty()
    }
}

#[cfg(test)]
#[path = "pool_tests.rs"]
mod tests;
