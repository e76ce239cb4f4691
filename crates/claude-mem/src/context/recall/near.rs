//! The memories that are about what a prompt is about, best first.

use std::collections::HashSet;

use super::evidence::Judge;
use super::{Ask, Asking, Evidence, MEMORIES_MAX, account, newest};
use crate::ids::{ObservationId, PromptId};
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
/// Earlier prompts looked at.
const SAID_MAX: usize = 4;

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
    /// That one takes up so much of it that its words are better not told beside.
    pub taken_up: bool,
}

/// An earlier prompt, and what of this one it holds.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub id: PromptId,
    pub score: f64,
    pub matched: Vec<String>,
}

/// What a look through memory brings.
#[derive(Debug, Default)]
pub(super) struct Looked {
    pub memories: Vec<Near>,
    /// Only where no memory is near enough, told before or not.
    pub said: Vec<Said>,
}

pub(super) fn near(
    reads: &Reads<'_>,
    ask: &Ask<'_>,
    asking: &Asking,
    leg: Option<&mut VectorLeg<'_>>,
) -> Result<Looked, StoreError> {
    let (found, said) = candidates(reads, ask, asking, leg)?;
    if !found.iter().any(|near| ask.bar.clears(&near.evidence)) {
        let memories = Vec::new();
        return Ok(Looked { memories, said });
    }
    // First, for a newer rule may share less with the prompt than the one whose place it takes.
    let mut found = newest::newest_first(reads, found)?;
    found.retain(|near| ask.bar.clears(&near.evidence));
    let worth = found.iter().map(|near| near.evidence.worth);
    let best = worth.fold(0.0, f64::max);
    found.retain(|near| near.evidence.worth >= best * WORTH_OF_BEST);
    found.retain(|near| !ask.shown.contains(&(RowKind::Observation, near.row.id.0)));
    account::goes_first(reads, ask, &mut found)?;
    found.truncate(MEMORIES_MAX);
    Ok(Looked {
        memories: found,
        said: Vec::new(),
    })
}

/// What ranks best, each with its evidence; what was replaced as what replaced it.
fn candidates(
    reads: &Reads<'_>,
    ask: &Ask<'_>,
    asking: &Asking,
    leg: Option<&mut VectorLeg<'_>>,
) -> Result<(Vec<Near>, Vec<Said>), StoreError> {
    let scope = WordScope {
        project: Some(ask.project),
        user_level: true,
        kinds: vec![RowKind::Observation, RowKind::Prompt],
        ..WordScope::default()
    };
    let ranking = Ranking {
        imagined: IMAGINED_ROWS,
        ..Ranking::default()
    };
    let gathered = gather(reads, &asking.query, &scope, None, leg, &ranking)?;
    let rows = reads.reach(&scope)?.texts() + IMAGINED_ROWS as u64;
    let of_memory = Judge::new(asking, &gathered, RowKind::Observation, rows);
    let of_prompt = Judge::new(asking, &gathered, RowKind::Prompt, rows);
    let (mut found, mut said): (Vec<Near>, Vec<Said>) = (Vec::new(), Vec::new());
    let mut taken = HashSet::new();
    for hit in order(&gathered, &ranking) {
        let candidate = &gathered.rows[&(hit.kind, hit.row_id)];
        if hit.kind == RowKind::Prompt {
            let own = candidate.document.session == ask.own;
            if !own && said.len() < SAID_MAX && of_prompt.of(candidate).speaks_for_turn() {
                said.push(Said {
                    id: PromptId(hit.row_id),
                    score: hit.score,
                    matched: hit.parts.matched,
                });
            }
            continue;
        }
        if found.len() == LOOKED_AT {
            continue;
        }
        let id = ObservationId(hit.row_id);
        let row = reads.observation(reads.in_place_of(id)?)?;
        let old = (row.id != id).then_some(id);
        let own = row.session.is_some() && row.session == ask.own;
        // A replaced rule ranks below what it was replaced by, or brings it.
        if own || row.wrong || row.replaced_by.is_some() || !taken.insert(row.id) {
            continue;
        }
        found.push(Near {
            row,
            score: hit.score,
            evidence: of_memory.of(candidate),
            matched: hit.parts.matched,
            replaces: old,
            earlier_than: None,
            taken_up: false,
        });
    }
    Ok((found, said))
}
