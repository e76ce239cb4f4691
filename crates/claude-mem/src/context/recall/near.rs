//! The memories that are about what a prompt is about, best first.

use std::collections::HashSet;

use super::evidence::Judge;
use super::{Ask, Asking, Evidence, MEMORIES_MAX, account, newest};
use crate::ids::ObservationId;
use crate::search::candidates::gather;
use crate::search::rank::order;
use crate::search::{Ranking, VectorLeg};
use crate::store::{Observation, Reads, RowKind, StoreError, WordScope};

/// A project of three memories is all about what they are about; a prompt about it still is.
const IMAGINED_ROWS: f64 = 20.0;
/// Rows looked at behind the best.
pub(super) const LOOKED_AT: usize = 24;
/// A further memory must have this share of what the best has.
const WORTH_OF_BEST: f64 = 0.6;
/// Rules that replaced each other, one after another.
const REPLACED_MAX: usize = 16;

/// A memory and what of the prompt it holds.
#[derive(Clone, Debug)]
pub(super) struct Near {
    pub row: Observation,
    pub score: f64,
    pub evidence: Evidence,
    pub matched: Vec<String>,
    /// The rule that it stands in the place of.
    pub replaces: Option<ObservationId>,
    /// A newer one about the same subject, to be told first.
    pub earlier_than: Option<ObservationId>,
}

pub(super) fn near(
    reads: &Reads<'_>,
    ask: &Ask<'_>,
    asking: &Asking,
    leg: Option<&mut VectorLeg<'_>>,
) -> Result<Vec<Near>, StoreError> {
    let mut found = candidates(reads, ask, asking, leg)?;
    let best = found
        .iter()
        .map(|near| near.evidence.worth)
        .fold(0.0, f64::max);
    found.retain(|near| {
        ask.bar.clears(&near.evidence) && near.evidence.worth >= best * WORTH_OF_BEST
    });
    let mut found = newest::newest_first(reads, found)?;
    found.retain(|near| !ask.shown.contains(&(RowKind::Observation, near.row.id.0)));
    account::goes_first(reads, ask, &mut found)?;
    found.truncate(MEMORIES_MAX);
    Ok(found)
}

/// What ranks best, each with its evidence; what was replaced as what replaced it.
pub(super) fn candidates(
    reads: &Reads<'_>,
    ask: &Ask<'_>,
    asking: &Asking,
    leg: Option<&mut VectorLeg<'_>>,
) -> Result<Vec<Near>, StoreError> {
    let scope = WordScope {
        project: Some(ask.project),
        user_level: true,
        kinds: vec![RowKind::Observation],
        ..WordScope::default()
    };
    let ranking = Ranking {
        imagined: IMAGINED_ROWS,
        ..Ranking::default()
    };
    let gathered = gather(reads, &asking.query, &scope, None, leg, &ranking)?;
    let rows = reads.reach(&scope)?.texts() + IMAGINED_ROWS as u64;
    let judge = Judge::new(asking, &gathered, rows);
    let mut found: Vec<Near> = Vec::new();
    let mut taken = HashSet::new();
    for hit in order(&gathered, &ranking).into_iter().take(2 * LOOKED_AT) {
        if found.len() == LOOKED_AT {
            break;
        }
        let candidate = &gathered.rows[&(hit.kind, hit.row_id)];
        let row = reads.observation(ObservationId(hit.row_id))?;
        let old = row.replaced_by.map(|_| row.id);
        let row = in_its_place(reads, row)?;
        let own = row.session.is_some() && row.session == ask.own;
        // A replaced rule ranks below what it was replaced by, or brings it.
        if own || row.wrong || row.replaced_by.is_some() || !taken.insert(row.id) {
            continue;
        }
        found.push(Near {
            row,
            score: hit.score,
            evidence: judge.of(candidate),
            matched: hit.parts.matched,
            replaces: old,
            earlier_than: None,
        });
    }
    Ok(found)
}

/// What stands in the place of a rule now.
fn in_its_place(reads: &Reads<'_>, mut row: Observation) -> Result<Observation, StoreError> {
    for _ in 0..REPLACED_MAX {
        let Some(newer) = row.replaced_by else { break };
        match reads.observation(newer) {
            Ok(newer) => row = newer,
            // It was forgotten since.
            Err(StoreError::NoSuchRow { .. }) => break,
            Err(e) => return Err(e),
        }
    }
    Ok(row)
}
