//! From candidates of both legs to one order. Pure: what it needs was gathered before.

use std::collections::HashMap;

use super::Query;
use super::allowed::Allowed;
use super::candidates::{Candidate, Candidates, gather};
use super::coverage::{Counted, Coverage, Reading};
use super::vectors::VectorLeg;
use super::when::Period;
use crate::clock::Millis;
use crate::ids::{ProjectId, SessionId};
use crate::store::{Reads, RowKind, StoreError, WordScope};

/// A row, whatever its kind.
pub type RowKey = (RowKind, i64);

/// How much each part counts. One configuration for all data.
#[derive(Clone, Copy, Debug)]
pub struct Ranking {
    /// Weights of title, body, tags and identifiers taken apart inside BM25.
    pub columns: [f64; 4],
    /// So many of the best by words are read,
    pub candidates: usize,
    /// and so many of the nearest by vectors.
    pub nearest: usize,
    pub words: f64,
    /// What the best passage of a row counts beside the whole of it.
    pub passage: f64,
    pub vectors: f64,
    pub coverage: f64,
    /// Neighbouring words of the query that stand close together.
    pub closeness: f64,
    /// The most of the query's terms that stand within a few words.
    pub together: f64,
    /// What a small row takes over from the best of its neighbours.
    pub neighbour: f64,
    /// What a small row takes over from its session.
    pub session: f64,
    /// Rows of so many words are small, and rows of so many stand on their own; between them the
    /// share fades.
    pub small_words: [f64; 2],
    pub recency: f64,
    /// The very identifiers and paths that were typed.
    pub names: f64,
    /// What a row counts for that was made when the question says.
    pub time: f64,
    /// Without any of the words, a row must be this near to have something to say for itself. The
    /// company it keeps is no answer.
    pub evidence: f64,
    /// Query terms at most; the rarest are kept.
    pub terms_max: usize,
    /// Rows without any of the terms that are imagined beside the real ones, so that a term is not
    /// common because there is little to read yet.
    pub imagined: f64,
    /// Of so many of the best, the neighbours are looked at too.
    pub leaders: usize,
}

impl Default for Ranking {
    fn default() -> Self {
        Self {
            columns: [3.0, 1.0, 0.5, 0.5],
            candidates: 80,
            nearest: 50,
            words: 0.6,
            passage: 0.75,
            vectors: 0.4,
            coverage: 0.3,
            closeness: 0.2,
            together: 0.5,
            neighbour: 0.45,
            session: 0.2,
            small_words: [60.0, 120.0],
            recency: 0.005,
            names: 0.2,
            time: 0.4,
            evidence: 0.2,
            terms_max: 32,
            imagined: 1.0,
            leaders: 12,
        }
    }
}

/// Why a row stands where it stands. Each part as it went into the sum.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Parts {
    pub words: f64,
    pub vectors: f64,
    pub coverage: f64,
    /// The very identifiers and paths that were typed.
    pub names: f64,
    pub neighbours: f64,
    pub recency: f64,
    /// Made when the question says.
    pub time: f64,
    /// How near its vectors are, as measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cosine: Option<f64>,
    /// What became of the sum because the row replaces another, was replaced, or says again what
    /// stands above it.
    pub judged: f64,
    /// The query's words, as they stand in the row.
    pub matched: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    pub kind: RowKind,
    pub row_id: i64,
    pub project: Option<ProjectId>,
    pub session: Option<SessionId>,
    pub score: f64,
    pub parts: Parts,
    pub created_at: Millis,
}

/// Rows, best first.
#[derive(Debug, Default)]
pub struct Ranked {
    pub hits: Vec<Hit>,
    /// Why vectors had no say, where they should have had.
    pub without_vectors: Option<StoreError>,
}

/// Ranks what both legs bring. `allowed` names the only rows that may come, where there is more
/// to a filter than a scope can say.
pub fn rank(
    reads: &Reads<'_>,
    query: &Query,
    scope: &WordScope,
    allowed: Option<&Allowed>,
    leg: Option<&mut VectorLeg<'_>>,
    ranking: &Ranking,
) -> Result<Ranked, StoreError> {
    let gathered = gather(reads, query, scope, allowed, leg, ranking)?;
    Ok(Ranked {
        hits: order(&gathered, ranking),
        without_vectors: gathered.without_vectors,
    })
}

/// The best by themselves, before anyone's company counts.
pub(super) fn leaders(
    rows: &HashMap<RowKey, Candidate>,
    weights: &[f64],
    ranking: &Ranking,
) -> Vec<RowKey> {
    let mut scored: Vec<(RowKey, f64)> = own_scores(rows, weights, ranking)
        .into_iter()
        .map(|(key, parts)| (key, parts.own()))
        .collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    scored.truncate(ranking.leaders);
    scored.into_iter().map(|(key, _)| key).collect()
}

pub fn order(gathered: &Candidates, ranking: &Ranking) -> Vec<Hit> {
    let Candidates { rows, weights, .. } = gathered;
    let own = own_scores(rows, weights, ranking);
    let company = company(rows, &own, ranking);
    let ages = Normal::of(rows.values().map(|row| row.document.created_at.0 as f64));
    let mut hits: Vec<Hit> = own
        .into_iter()
        .map(|(key, parts)| {
            let row = &rows[&key];
            let age = ages.apply(row.document.created_at.0 as f64);
            let parts = Parts {
                neighbours: company.get(&key).copied().unwrap_or(0.0),
                // Between equals the newer one goes first; never more than that.
                recency: ranking.recency * age,
                time: ranking.time * in_time(&gathered.when, row.document.created_at),
                cosine: row.near,
                matched: row.reading.words.clone(),
                ..parts
            };
            Hit {
                kind: key.0,
                row_id: key.1,
                project: row.document.project,
                session: row.document.session,
                score: parts.sum(),
                parts,
                created_at: row.document.created_at,
            }
        })
        .collect();
    hits.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then(b.created_at.cmp(&a.created_at))
            .then((a.kind, b.row_id).cmp(&(b.kind, a.row_id)))
    });
    hits
}

fn in_time(periods: &[Period], at: Millis) -> f64 {
    let each = periods.iter().map(|period| period.closeness(at));
    each.fold(0.0, f64::max)
}

impl Parts {
    /// The score.
    pub fn sum(&self) -> f64 {
        self.own() + self.neighbours + self.recency + self.time + self.judged
    }

    fn own(&self) -> f64 {
        self.words + self.vectors + self.coverage + self.names
    }
}

/// What each row scores by itself, normalised over all of them.
fn own_scores(
    rows: &HashMap<RowKey, Candidate>,
    weights: &[f64],
    ranking: &Ranking,
) -> HashMap<RowKey, Parts> {
    let by_words = Words::of(rows, weights);
    let words_of = |row: &Candidate| by_words.score(&row.reading, ranking);
    let words = Normal::of(rows.values().map(words_of));
    let vectors = Normal::of(rows.values().filter_map(|row| row.near));
    let have_vectors = rows.values().any(|row| row.near.is_some());
    rows.iter()
        .map(|(key, row)| {
            let by_words = words.apply(words_of(row));
            // A row that waits for its vectors is neither better nor worse for it.
            let by_vectors = row.near.map_or(by_words, |near| vectors.apply(near));
            let Coverage {
                share,
                closeness,
                together,
                ..
            } = row.reading.coverage;
            let parts = Parts {
                words: ranking.words * by_words,
                vectors: if have_vectors {
                    ranking.vectors * by_vectors
                } else {
                    0.0
                },
                coverage: ranking.coverage * share
                    + ranking.closeness * closeness
                    + ranking.together * together,
                names: ranking.names * row.named,
                ..Parts::default()
            };
            (*key, parts)
        })
        .collect()
}

/// BM25 of whole rows and of their passages.
struct Words<'a> {
    weights: &'a [f64],
    mean_length: f64,
}

impl<'a> Words<'a> {
    fn of(rows: &HashMap<RowKey, Candidate>, weights: &'a [f64]) -> Self {
        let (mut count, mut sum) = (0_u32, 0.0);
        for reading in rows.values().map(|row| &row.reading) {
            for text in std::iter::once(&reading.whole).chain(&reading.passages) {
                count += 1;
                sum += f64::from(text.words);
            }
        }
        Self {
            weights,
            mean_length: (sum / f64::from(count.max(1))).max(1.0),
        }
    }

    /// The whole row plus its best passage; a row of one passage is its own best.
    fn score(&self, reading: &Reading, ranking: &Ranking) -> f64 {
        let row = self.bm25(&reading.whole);
        let passages = reading.passages.iter().map(|passage| self.bm25(passage));
        row + ranking.passage * passages.reduce(f64::max).unwrap_or(row)
    }

    fn bm25(&self, text: &Counted) -> f64 {
        const K1: f64 = 1.2;
        // Texts differ in length by what they are, less by how much of them is idle.
        const B: f64 = 0.5;
        let norm = K1 * (1.0 - B + B * f64::from(text.words) / self.mean_length);
        let terms = text.times.iter().zip(self.weights);
        terms
            .map(|(times, weight)| weight * times * (K1 + 1.0) / (times + norm))
            .sum()
    }
}

/// A short remark means little alone: it takes over some of what its neighbours and its session
/// score. The longer a row, the less.
fn company(
    rows: &HashMap<RowKey, Candidate>,
    own: &HashMap<RowKey, Parts>,
    ranking: &Ranking,
) -> HashMap<RowKey, f64> {
    let mut by_session: HashMap<SessionId, Vec<f64>> = HashMap::new();
    for (key, row) in rows {
        if let Some(session) = row.document.session {
            by_session.entry(session).or_default().push(own[key].own());
        }
    }
    for scores in by_session.values_mut() {
        scores.sort_by(|a, b| b.total_cmp(a));
        scores.truncate(3);
    }
    let mut company = HashMap::new();
    for (key, row) in rows.iter().filter(|(_, row)| row.has_evidence(ranking)) {
        let [small, large] = ranking.small_words;
        let smallness = ((large - row.reading.length as f64) / (large - small)).clamp(0.0, 1.0);
        let Some(session) = row.document.session.filter(|_| smallness > 0.0) else {
            continue;
        };
        let near = row.neighbours.iter().filter_map(|near| own.get(near));
        let best_near = near.map(Parts::own).fold(0.0, f64::max);
        let of_session: f64 = by_session[&session].iter().sum::<f64>() / 3.0;
        let lift = ranking.neighbour * best_near + ranking.session * of_session;
        company.insert(*key, smallness * lift);
    }
    company
}

impl Candidate {
    /// Some word of the question, or some of its meaning.
    pub fn has_evidence(&self, ranking: &Ranking) -> bool {
        let is_near = self.near.is_some_and(|near| near >= ranking.evidence);
        is_near || !self.reading.coverage.present.is_empty()
    }
}

/// Min-max over the candidates.
struct Normal {
    min: f64,
    max: f64,
}

impl Normal {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let min = values.clone().fold(f64::INFINITY, f64::min);
        let max = values.fold(f64::NEG_INFINITY, f64::max);
        Self { min, max }
    }

    /// Equals are all as good as can be, unless none has anything.
    fn apply(&self, value: f64) -> f64 {
        if self.max > self.min {
            (value - self.min) / (self.max - self.min)
        } else if self.max > 0.0 {
            1.0
        } else {
            0.0
        }
    }
}
