//! Makes the memories of a whole session anew, by the rules alone or with what a model wrote.
//!
//! Invariant: a row that says what a new observation says keeps its number, what a person touched stays, and
//! nothing forgotten returns.

use std::collections::HashSet;

use crate::dedup::ObservationFingerprint;
use crate::session_memory::{ConsolidationChanges, Consolidator, SessionMemoryWriter, consolidate_stored};
use claude_mem_core::ids::ObservationId;
use claude_mem_core::memory::ConsolidatedObservation;
use claude_mem_distil::EpisodeClaims;
use claude_mem_store::{Observation, StoreError, StoreWriter, tombstone_for};

/// Share of all words of an old row and a new observation that both must contain to be the same one.
const NEAR_PERCENT_MIN: usize = 35;

/// One episode of a session that is made anew.
#[derive(Clone, Debug, Default)]
pub struct RedoneEpisode {
    pub claims: EpisodeClaims,
    /// A model wrote the observations of this episode; its claims serve the account only.
    pub by_model: bool,
}

impl SessionMemoryWriter<'_> {
    /// Replaces the claims of the session by these and consolidates anew. A row that says what a new
    /// observation says, or tells of the same files in mostly the same words, keeps its number. Observations
    /// that a model wrote earlier stay as they are.
    pub fn redo(
        &self,
        tx: &StoreWriter<'_>,
        episodes: &[EpisodeClaims],
        consolidator: Consolidator<'_>,
    ) -> Result<ConsolidationChanges, StoreError> {
        let by_model = tx.has_model_observations(self.session)?;
        let episodes: Vec<RedoneEpisode> =
            episodes.iter().map(|claims| RedoneEpisode { claims: claims.clone(), by_model }).collect();
        self.redo_with_model(tx, &episodes, &[], consolidator)
    }

    /// Like [`SessionMemoryWriter::redo`], with the observations that a model wrote of some episodes.
    pub fn redo_with_model(
        &self,
        tx: &StoreWriter<'_>,
        episodes: &[RedoneEpisode],
        written: &[ConsolidatedObservation],
        consolidator: Consolidator<'_>,
    ) -> Result<ConsolidationChanges, StoreError> {
        let old = tx.observations_by_id(&tx.local_observations(self.session)?)?;
        for row in &old {
            // Without a link, a row from before there were claims would not be withdrawn.
            tx.link_claim(self.session, &format!("row:{}", row.id), row.id)?;
        }
        tx.clear_session_claims(self.session)?;
        for episode in episodes {
            self.append_claims(tx, &episode.claims, episode.by_model)?;
        }
        let mut memories = consolidate_stored(&tx.session_claims(self.session)?, consolidator)?;
        memories.observations.extend_from_slice(written);
        let mut forgotten = Vec::new();
        for made in &memories.observations {
            let new = &made.observation;
            forgotten.push(tx.is_tombstone(&tombstone_for(&new.text.title, &new.text.narrative))?);
        }
        let mut forgotten = forgotten.into_iter();
        memories.observations.retain(|_| !forgotten.next().unwrap_or(false));
        for (made, row) in match_rows(&memories.observations, &old) {
            if let Some(claim) = made.claims.first() {
                tx.link_claim(self.session, claim, row)?;
            }
        }
        self.apply(tx, &memories)
    }
}

/// Pairs each row with the new observation that is nearest to it, if one is near.
fn match_rows<'m>(
    made: &'m [ConsolidatedObservation],
    rows: &[Observation],
) -> Vec<(&'m ConsolidatedObservation, ObservationId)> {
    let mut pairs = Vec::new();
    let mut taken = HashSet::new();
    for row in rows {
        let said = ObservationFingerprint::from_row(row);
        let nearest = made
            .iter()
            .enumerate()
            .filter(|(at, _)| !taken.contains(at))
            .map(|(at, made)| {
                let new = ObservationFingerprint::from_new(&made.observation);
                let shares_file = row
                    .text
                    .files_modified
                    .iter()
                    .any(|file| made.observation.text.files_modified.contains(file));
                let percent = if new.is_duplicate_of(&said) { 100 } else { new.shared_percent(&said) };
                (if shares_file || percent == 100 { percent } else { percent / 2 }, at)
            })
            .max_by_key(|(percent, at)| (*percent, std::cmp::Reverse(*at)));
        if let Some((percent, at)) = nearest
            && percent >= NEAR_PERCENT_MIN
        {
            taken.insert(at);
            pairs.push((&made[at], row.id));
        }
    }
    pairs
}
