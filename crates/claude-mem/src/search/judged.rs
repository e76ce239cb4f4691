//! What ranking cannot know of the rows it ordered: that they are wrong, were replaced, or are told
//! already by a better one.

use std::collections::{HashMap, HashSet};

use super::ask::Order;
use super::asked::Asked;
use super::rank::{Hit, Parts, Ranking, RowKey};
use super::searcher::Searcher;
use super::subject::{Subject, is_later};
use crate::ids::{ObservationId, SessionId};
use crate::memory::ObservationType;
use crate::store::{RowKind, StoreError};

/// What is left of the score of what was told above, each time.
const SAID_AGAIN_FACTOR: f64 = 0.6;
/// What is left of a replaced rule's score.
const REPLACED_FACTOR: f64 = 0.7;
/// A replaced rule speaks for its session if it comes this near to the best of it.
const SPEAKS_FOR_SESSION: f64 = 0.5;

/// Observations, best first, that are looked at for newer ones.
const LOOKED_THROUGH: usize = 24;

/// What stands above an equal.
const ABOVE: f64 = 1e-6;

impl Searcher<'_> {
    /// What was marked as wrong goes, and what was replaced stands below its replacement, which
    /// has the place that the session of the replaced one has earned: whoever asks in the words
    /// of the old rule is to find the new one first.
    pub(super) fn judged(
        &self,
        asked: &Asked<'_>,
        mut hits: Vec<Hit>,
    ) -> Result<Vec<Hit>, StoreError> {
        if asked.takes_any_observation() {
            self.add_replacements(&mut hits)?;
        }
        let ids: Vec<ObservationId> = hits
            .iter()
            .filter(|hit| hit.kind == RowKind::Observation)
            .map(|hit| ObservationId(hit.row_id))
            .collect();
        let verdicts = self.reads.verdicts(&ids)?;
        let scores: HashMap<i64, f64> = hits
            .iter()
            .filter(|hit| hit.kind == RowKind::Observation)
            .map(|hit| (hit.row_id, hit.score))
            .collect();
        let mut newer = self.later_of_their_subject(&hits)?;
        for (id, verdict) in &verdicts {
            if let Some(by) = verdict.replaced_by {
                newer.push((*id, self.reads.in_place_of(by)?));
            }
        }
        let lifted = lifted(&hits, &newer);
        let mut kept = Vec::with_capacity(hits.len());
        for mut hit in hits {
            let verdict = match hit.kind {
                RowKind::Observation => verdicts.get(&ObservationId(hit.row_id)),
                _ => None,
            };
            if let Some(score) = lifted.get(&hit.key()) {
                hit.judge(hit.score.max(*score));
            }
            if let Some(verdict) = verdict {
                if verdict.wrong && !asked.ask.with_wrong {
                    continue;
                }
                if let Some(newer) = verdict.replaced_by {
                    let below = scores.get(&newer.0).copied().unwrap_or(hit.score);
                    hit.judge(hit.score.min(below) * REPLACED_FACTOR);
                }
            }
            kept.push(hit);
        }
        kept.sort_by(|a, b| b.score.total_cmp(&a.score));
        self.say_once(&mut kept)?;
        if asked.ask.order != Order::Relevance {
            // What is merely near is worth showing below a match, not in its place.
            kept.retain(Hit::is_match);
            kept.sort_by_key(|hit| (hit.created_at, hit.kind, hit.row_id));
        }
        if asked.ask.order == Order::NewestFirst {
            kept.reverse();
        }
        Ok(kept)
    }

    /// Whoever asks in the words of a replaced rule finds what replaced it, also where that
    /// shares none of them.
    fn add_replacements(&self, hits: &mut Vec<Hit>) -> Result<(), StoreError> {
        let found = observations(hits, LOOKED_THROUGH);
        let verdicts = self.reads.verdicts(&found)?;
        let mut known: HashSet<i64> = observations(hits, usize::MAX)
            .into_iter()
            .map(|id| id.0)
            .collect();
        let mut more = Vec::new();
        for hit in hits.iter().filter(|hit| hit.kind == RowKind::Observation) {
            let verdict = verdicts.get(&ObservationId(hit.row_id));
            let Some(newer) = verdict.and_then(|verdict| verdict.replaced_by) else {
                continue;
            };
            let newer = self.reads.in_place_of(newer)?;
            if known.insert(newer.0) {
                let row = self.reads.observation(newer)?;
                more.push(Hit {
                    row_id: newer.0,
                    project: row.project,
                    session: row.session,
                    created_at: row.created_at,
                    ..hit.clone()
                });
            }
        }
        hits.extend(more);
        Ok(())
    }

    /// Pairs of decisions about one subject, the older one first. Nobody may have said that the
    /// newer one takes its place, and still it is the one to read first.
    fn later_of_their_subject(
        &self,
        hits: &[Hit],
    ) -> Result<Vec<(ObservationId, ObservationId)>, StoreError> {
        let mut decisions = Vec::new();
        for id in observations(hits, LOOKED_THROUGH) {
            let row = self.reads.observation(id)?;
            if row.kind == ObservationType::DECISION && !row.wrong && row.replaced_by.is_none() {
                let subject = Subject::of(&row);
                decisions.push((row, subject));
            }
        }
        let mut pairs = Vec::new();
        for (older, of_older) in &decisions {
            for (newer, of_newer) in &decisions {
                if is_later(newer, older) && of_newer.is_that_of(of_older) {
                    pairs.push((older.id, newer.id));
                }
            }
        }
        Ok(pairs)
    }

    /// A prompt, the summary of what was asked and the answer tell one story: beside a better row of
    /// their turn they say it again. What was observed in it stands for itself.
    fn say_once(&self, hits: &mut [Hit]) -> Result<(), StoreError> {
        if hits.iter().all(|hit| hit.kind == RowKind::Observation) {
            return Ok(());
        }
        let mut told: HashMap<(SessionId, i64), i32> = HashMap::new();
        for hit in hits.iter_mut().take(LOOKED_THROUGH) {
            let turn = self.reads.turn_of(hit.kind, hit.row_id)?;
            let (Some(session), Some(number)) = (hit.session, turn) else {
                continue;
            };
            let before = told.entry((session, number)).or_default();
            if *before > 0 && hit.kind != RowKind::Observation {
                hit.judge(hit.score * SAID_AGAIN_FACTOR.powi(*before));
            }
            *before += 1;
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(())
    }
}

impl Hit {
    pub(super) fn key(&self) -> RowKey {
        (self.kind, self.row_id)
    }

    /// By words or by meaning; the nearest of all is not always near.
    pub(super) fn is_match(&self) -> bool {
        const NEAR: f64 = 0.4;
        !self.parts.matched.is_empty() || self.parts.cosine.is_some_and(|cosine| cosine >= NEAR)
    }

    /// Some word, or some of the meaning: less than a match, and worth showing below one.
    pub(super) fn has_evidence(&self, ranking: &Ranking) -> bool {
        let is_near = |cosine| cosine >= ranking.evidence;
        !self.parts.matched.is_empty() || self.parts.cosine.is_some_and(is_near)
    }

    /// Gives it another score than its parts have, and says so.
    pub(super) fn judge(&mut self, score: f64) {
        self.parts.judged += score - self.score;
        self.score = score;
    }

    pub(super) fn listed((kind, row_id): RowKey) -> Self {
        Self {
            kind,
            row_id,
            project: None,
            session: None,
            score: 0.0,
            parts: Parts::default(),
            created_at: crate::clock::Millis(0),
        }
    }
}

/// The first observations among the hits.
fn observations(hits: &[Hit], most: usize) -> Vec<ObservationId> {
    hits.iter()
        .filter(|hit| hit.kind == RowKind::Observation)
        .take(most)
        .map(|hit| ObservationId(hit.row_id))
        .collect()
}

/// The scores that newer rules have earned by the older ones they go before.
fn lifted(hits: &[Hit], newer: &[(ObservationId, ObservationId)]) -> HashMap<RowKey, f64> {
    let mut lifted = HashMap::new();
    for (older, newer) in newer {
        let is_older = |hit: &&Hit| hit.kind == RowKind::Observation && hit.row_id == older.0;
        let Some(hit) = hits.iter().find(is_older) else {
            continue;
        };
        let of_session = hits
            .iter()
            .filter(|other| other.session.is_some() && other.session == hit.session);
        let best = of_session
            .map(|other| other.score)
            .fold(hit.score, f64::max);
        if hit.score >= best * SPEAKS_FOR_SESSION {
            let key = (RowKind::Observation, newer.0);
            let score = lifted.entry(key).or_insert(0.0);
            *score = f64::max(*score, best + ABOVE);
        }
    }
    lifted
}
