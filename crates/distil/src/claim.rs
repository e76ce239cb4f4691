//! Claims: what an episode states, before the whole session is consolidated.
//!
//! [`extract_claims`] reads one episode, [`consolidate`](crate::consolidate) makes the session's memories
//! from the claims of all its episodes. [`EpisodeClaims`] is stored as JSON between the two.

use serde::{Deserialize, Serialize};

use claude_mem_core::memory::NewObservation;

/// The claims of one episode.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EpisodeClaims {
    pub claims: Vec<Claim>,
}

/// One statement that may be worth remembering.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Identifies the claim within its session: the same text of the same source gives the same key.
    pub key: String,
    pub observation: NewObservation,
}

impl EpisodeClaims {
    /// Removes the claims of a memory that the user has forgotten.
    pub fn forget(&mut self, keys: &[String]) {
        self.claims.retain(|claim| !keys.contains(&claim.key));
    }
}
