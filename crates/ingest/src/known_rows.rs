//! The rows that a session's claims have already gone into, and which of them a consolidated observation owns.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use claude_mem_core::ids::{ObservationId, SessionId};
use claude_mem_core::memory::ConsolidatedObservation;
use claude_mem_store::{MemoryLevel, Observation, StoreError, StoreReader};

/// The rows that a session's claims went into.
pub(crate) struct KnownRows {
    pub(crate) links: HashMap<String, ObservationId>,
    /// In the order of their ids. Rows are taken out as consolidated observations claim them.
    pub(crate) rows: BTreeMap<ObservationId, Observation>,
}

impl KnownRows {
    pub(crate) fn load(reads: &StoreReader<'_>, session: SessionId) -> Result<Self, StoreError> {
        let links: HashMap<String, ObservationId> = reads.claim_links(session)?.into_iter().collect();
        let ids: BTreeSet<ObservationId> = links.values().copied().collect();
        let ids: Vec<ObservationId> = ids.into_iter().collect();
        let rows = reads.observations_by_id(&ids)?.into_iter().map(|row| (row.id, row)).collect();
        Ok(Self { links, rows })
    }

    /// For each row, the observation that shares most of its claims; the first one if several do.
    pub(crate) fn owners(&self, made: &[ConsolidatedObservation]) -> HashMap<ObservationId, usize> {
        let mut best: HashMap<ObservationId, (usize, usize)> = HashMap::new();
        for (at, made) in made.iter().enumerate() {
            let mut shared: HashMap<ObservationId, usize> = HashMap::new();
            for id in made.claims.iter().filter_map(|claim| self.links.get(claim)) {
                *shared.entry(*id).or_default() += 1;
            }
            for (id, count) in shared {
                let (_, most) = best.entry(id).or_insert((at, 0));
                if count > *most {
                    best.insert(id, (at, count));
                }
            }
        }
        best.into_iter().map(|(id, (at, _))| (id, at)).collect()
    }

    pub(crate) fn take_owned(
        &mut self,
        owners: &HashMap<ObservationId, usize>,
        at: usize,
    ) -> Vec<Observation> {
        let ids: Vec<ObservationId> =
            self.rows.keys().copied().filter(|id| owners.get(id) == Some(&at)).collect();
        ids.into_iter().filter_map(|id| self.rows.remove(&id)).collect()
    }

    pub(crate) fn links_of(&self, made: &ConsolidatedObservation) -> BTreeSet<ObservationId> {
        made.claims.iter().filter_map(|claim| self.links.get(claim)).copied().collect()
    }
}

/// Which of several rows keeps its number: one that a person has touched, then the oldest.
pub(crate) fn keep_priority(row: &Observation) -> (bool, bool, std::cmp::Reverse<i64>) {
    let is_touched = row.pinned || row.wrong || row.level == MemoryLevel::User;
    (row.edited, is_touched, std::cmp::Reverse(row.id.0))
}
