//! Consolidation: the memories of a session as a pure function of its claims.

use claude_mem_core::memory::{ConsolidatedObservation, SessionMemories};

use crate::claim::EpisodeClaims;

/// Makes the observations, the account and the open items of a session from the claims of its episodes.
pub fn consolidate(episodes: &[EpisodeClaims]) -> SessionMemories {
    let claims = episodes.iter().flat_map(|episode| &episode.claims);
    let observations = claims
        .map(|claim| ConsolidatedObservation {
            claims: vec![claim.key.clone()],
            observation: claim.observation.clone(),
        })
        .collect();
    SessionMemories { observations, ..SessionMemories::default() }
}
