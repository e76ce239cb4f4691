//! Ranks candidates: one weighted sum of BM25, cosine similarity, coverage, proximity and context.
//!
//! Pure: a [`CandidateSet`] holds all that [`rank_candidates`] needs, so the same candidates always
//! rank the same. All weights are in [`RankingConfig`], and every hit carries its [`ScoreParts`].

use claude_mem_store::RowId;
use std::collections::HashMap;

use crate::candidate::{Candidate, CandidateSet};
use crate::coverage::{DocumentStats, TermCoverage, TermFreqs};
use crate::ranking_config::RankingConfig;
use crate::time_expr::TimePeriod;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ProjectId, SessionId};
use claude_mem_store::RowKind;

/// A score broken down into its parts, each as it entered the sum.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct ScoreParts {
    /// BM25.
    pub words: f64,
    /// Cosine similarity, normalised.
    pub vectors: f64,
    /// Coverage, adjacency and proximity of the query's terms.
    pub coverage: f64,
    /// Exact identifiers and paths of the query.
    pub names: f64,
    /// Context taken over from neighbours and the session.
    pub neighbours: f64,
    pub recency: f64,
    /// Bonus for a creation time in a period the query names.
    pub time: f64,
    /// The measured cosine similarity, before normalisation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cosine: Option<f64>,
    /// Change by reranking: the row supersedes another, was superseded, or repeats a row above it.
    #[serde(rename = "judged")]
    pub rerank_delta: f64,
    /// The query's words as they occur in the row.
    pub matched: Vec<String>,
    /// Share of the query's weighted terms that the row contains, 0 to 1.
    #[serde(skip)]
    pub share: f64,
}

/// One ranked row.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchHit {
    pub kind: RowKind,
    pub row_id: i64,
    pub project: Option<ProjectId>,
    pub session: Option<SessionId>,
    pub score: f64,
    pub parts: ScoreParts,
    pub created_at: Millis,
}

impl SearchHit {
    /// The row's key.
    pub(super) fn key(&self) -> RowId {
        RowId::new(self.kind, self.row_id)
    }

    /// Whether it matches by a word or by meaning. The nearest row is not always near.
    pub(super) fn is_match(&self) -> bool {
        const NEAR: f64 = 0.4;
        !self.parts.matched.is_empty() || self.parts.cosine.is_some_and(|cosine| cosine >= NEAR)
    }

    /// Whether it answers the query: close in meaning, or with enough of its words. A common word
    /// alone is no answer.
    pub(super) fn fits(&self) -> bool {
        const NEAR: f64 = 0.45;
        const SHARE_MIN: f64 = 0.34;
        const WORDS_MIN: usize = 4;
        self.parts.cosine.is_some_and(|cosine| cosine >= NEAR)
            || self.parts.share >= SHARE_MIN
            || self.parts.matched.len() >= WORDS_MIN
    }

    /// Whether it contains a query word or is at least close in meaning: less than a match, shown
    /// below one.
    pub(super) fn has_evidence(&self, ranking: &RankingConfig) -> bool {
        let is_near = |cosine| cosine >= ranking.evidence_cosine_min;
        !self.parts.matched.is_empty() || self.parts.cosine.is_some_and(is_near)
    }

    /// Sets the score and records the change in its parts.
    pub(super) fn set_score(&mut self, score: f64) {
        self.parts.rerank_delta += score - self.score;
        self.score = score;
    }

    /// A hit without a score, for listing by time.
    pub(super) fn unscored(RowId { kind, row_id }: RowId) -> Self {
        Self {
            kind,
            row_id,
            project: None,
            session: None,
            score: 0.0,
            parts: ScoreParts::default(),
            created_at: claude_mem_core::clock::Millis(0),
        }
    }
}

/// The best candidates by their own score, before context is added.
pub(super) fn top_candidates(
    rows: &HashMap<RowId, Candidate>,
    weights: &[f64],
    ranking: &RankingConfig,
) -> Vec<RowId> {
    let mut scored: Vec<(RowId, f64)> =
        own_scores(rows, weights, ranking).into_iter().map(|(key, parts)| (key, parts.own_score())).collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    scored.truncate(ranking.expanded_candidates);
    scored.into_iter().map(|(key, _)| key).collect()
}

/// Scores and sorts the candidates, best first; newer first among equals.
pub fn rank_candidates(gathered: &CandidateSet, ranking: &RankingConfig) -> Vec<SearchHit> {
    let CandidateSet { rows, weights, .. } = gathered;
    let own = own_scores(rows, weights, ranking);
    let company = context_scores(rows, &own, ranking);
    let ages = MinMaxNormalizer::new(rows.values().map(|row| row.document.created_at.0 as f64));
    let mut hits: Vec<SearchHit> = own
        .into_iter()
        .map(|(key, parts)| {
            let row = &rows[&key];
            let age = ages.normalize(row.document.created_at.0 as f64);
            let parts = ScoreParts {
                neighbours: company.get(&key).copied().unwrap_or(0.0),
                // Small enough to decide only between equals.
                recency: ranking.recency * age,
                time: ranking.named_time * time_score(&gathered.periods, row.document.created_at),
                cosine: row.cosine,
                matched: row.stats.matched_words.clone(),
                share: row.stats.coverage.share,
                ..parts
            };
            SearchHit {
                kind: key.kind,
                row_id: key.row_id,
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

/// The best match of a creation time with the named periods, 0 to 1.
fn time_score(periods: &[TimePeriod], at: Millis) -> f64 {
    let each = periods.iter().map(|period| period.score(at));
    each.fold(0.0, f64::max)
}

impl ScoreParts {
    /// The total score.
    pub fn sum(&self) -> f64 {
        self.own_score() + self.neighbours + self.recency + self.time + self.rerank_delta
    }

    /// The score without context, recency, time and reranking.
    fn own_score(&self) -> f64 {
        self.words + self.vectors + self.coverage + self.names
    }
}

/// Each row's own score, normalised over all candidates.
fn own_scores(
    rows: &HashMap<RowId, Candidate>,
    weights: &[f64],
    ranking: &RankingConfig,
) -> HashMap<RowId, ScoreParts> {
    let by_words = Bm25Scorer::new(rows, weights);
    let words_of = |row: &Candidate| by_words.score(&row.stats, ranking);
    let words = MinMaxNormalizer::new(rows.values().map(words_of));
    let vectors = MinMaxNormalizer::new(rows.values().filter_map(|row| row.cosine));
    let have_vectors = rows.values().any(|row| row.cosine.is_some());
    rows.iter()
        .map(|(key, row)| {
            let by_words = words.normalize(words_of(row));
            // A row without vectors yet is ranked as if they agreed with its BM25 score.
            let by_vectors = row.cosine.map_or(by_words, |near| vectors.normalize(near));
            let TermCoverage { share, adjacency: closeness, proximity: together, .. } = row.stats.coverage;
            let parts = ScoreParts {
                words: ranking.words * by_words,
                vectors: if have_vectors { ranking.vectors * by_vectors } else { 0.0 },
                coverage: ranking.coverage * share
                    + ranking.adjacency * closeness
                    + ranking.proximity * together,
                names: ranking.identifiers * row.identifier_share,
                ..ScoreParts::default()
            };
            (*key, parts)
        })
        .collect()
}

/// BM25 over whole rows and their passages.
struct Bm25Scorer<'a> {
    weights: &'a [f64],
    mean_length: f64,
}

impl<'a> Bm25Scorer<'a> {
    fn new(rows: &HashMap<RowId, Candidate>, weights: &'a [f64]) -> Self {
        let (mut count, mut sum) = (0_u32, 0.0);
        for reading in rows.values().map(|row| &row.stats) {
            for text in std::iter::once(&reading.whole).chain(&reading.passages) {
                count += 1;
                sum += f64::from(text.words);
            }
        }
        Self { weights, mean_length: (sum / f64::from(count.max(1))).max(1.0) }
    }

    /// BM25 of the row plus that of its best passage, which may be the row itself.
    fn score(&self, reading: &DocumentStats, ranking: &RankingConfig) -> f64 {
        let row = self.bm25(&reading.whole);
        let passages = reading.passages.iter().map(|passage| self.bm25(passage));
        row + ranking.passage * passages.reduce(f64::max).unwrap_or(row)
    }

    fn bm25(&self, text: &TermFreqs) -> f64 {
        const K1: f64 = 1.2;
        // Below the usual 0.75: long rows here are long by kind, not by verbosity.
        const B: f64 = 0.5;
        let norm = K1 * (1.0 - B + B * f64::from(text.words) / self.mean_length);
        let terms = text.freqs.iter().zip(self.weights);
        terms.map(|(times, weight)| weight * times * (K1 + 1.0) / (times + norm)).sum()
    }
}

/// Context scores: a short row means little alone, so it takes over part of its neighbours' and its
/// session's score, less the longer it is.
fn context_scores(
    rows: &HashMap<RowId, Candidate>,
    own: &HashMap<RowId, ScoreParts>,
    ranking: &RankingConfig,
) -> HashMap<RowId, f64> {
    let mut by_session: HashMap<SessionId, Vec<f64>> = HashMap::new();
    for (key, row) in rows {
        if let Some(session) = row.document.session {
            by_session.entry(session).or_default().push(own[key].own_score());
        }
    }
    for scores in by_session.values_mut() {
        scores.sort_by(|a, b| b.total_cmp(a));
        scores.truncate(3);
    }
    let mut company = HashMap::new();
    for (key, row) in rows.iter().filter(|(_, row)| row.has_evidence(ranking)) {
        let [small, large] = ranking.short_doc_words;
        let smallness = ((large - row.stats.length as f64) / (large - small)).clamp(0.0, 1.0);
        let Some(session) = row.document.session.filter(|_| smallness > 0.0) else {
            continue;
        };
        let near = row.neighbours.iter().filter_map(|near| own.get(near));
        let best_near = near.map(ScoreParts::own_score).fold(0.0, f64::max);
        let of_session: f64 = by_session[&session].iter().sum::<f64>() / 3.0;
        let lift = ranking.neighbour_context * best_near + ranking.session_context * of_session;
        company.insert(*key, smallness * lift);
    }
    company
}

/// Min-max normalisation over the candidates.
struct MinMaxNormalizer {
    min: f64,
    max: f64,
}

impl MinMaxNormalizer {
    fn new(values: impl Iterator<Item = f64> + Clone) -> Self {
        let min = values.clone().fold(f64::INFINITY, f64::min);
        let max = values.fold(f64::NEG_INFINITY, f64::max);
        Self { min, max }
    }

    /// Maps to 0..=1. If all values are equal: 1, or 0 if none is positive.
    fn normalize(&self, value: f64) -> f64 {
        if self.max > self.min {
            (value - self.min) / (self.max - self.min)
        } else if self.max > 0.0 {
            1.0
        } else {
            0.0
        }
    }
}
