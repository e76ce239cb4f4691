//! From candidates of both legs to one order.

use std::collections::{HashMap, HashSet};

use super::stem::stem;
use super::{Query, terms};
use crate::clock::Millis;
use crate::ids::SessionId;
use crate::store::{Document, Expr, Grain, Reads, RowKind, StoreError, WordHit, WordScope};

/// A row, whatever its kind.
pub type RowKey = (RowKind, i64);

/// How much each part counts. One configuration for all data.
#[derive(Clone, Copy, Debug)]
pub struct Ranking {
    /// Weights of title, body, tags and split identifiers inside BM25.
    pub columns: [f64; 4],
    pub candidates: usize,
    pub words: f64,
    pub vectors: f64,
    pub coverage: f64,
    /// What a small row takes over from the best of its neighbours.
    pub neighbour: f64,
    /// What a small row takes over from its session.
    pub session: f64,
    /// Rows of more words than this stand on their own.
    pub small_words: f64,
    pub recency: f64,
    /// Query terms at most; the rarest are kept.
    pub terms_max: usize,
}

impl Default for Ranking {
    fn default() -> Self {
        Self {
            columns: [3.0, 1.0, 0.5, 0.5],
            candidates: 100,
            words: 0.6,
            vectors: 0.4,
            coverage: 0.6,
            neighbour: 0.15,
            session: 0.1,
            small_words: 60.0,
            recency: 0.02,
            terms_max: 32,
        }
    }
}

/// Why a row stands where it stands. Each part as it went into the sum.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Parts {
    pub words: f64,
    pub vectors: f64,
    pub coverage: f64,
    pub neighbours: f64,
    pub recency: f64,
    /// The query's stems that the row contains.
    pub matched: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    pub kind: RowKind,
    pub row_id: i64,
    pub score: f64,
    pub parts: Parts,
    pub created_at: Millis,
}

/// Cosine similarities that the vector leg found, if there is one.
pub type Similarities = HashMap<RowKey, f64>;

struct Candidate {
    document: Document,
    words: f64,
    vectors: f64,
    parts: Parts,
    score: f64,
}

/// Ranks what both legs bring. `similar` holds the vector leg's best rows within the same scope.
pub fn rank(
    reads: &Reads<'_>,
    query: &Query,
    scope: &WordScope,
    similar: &Similarities,
    ranking: &Ranking,
) -> Result<Vec<Hit>, StoreError> {
    let terms = Terms::choose(reads, query, ranking)?;
    let word_scores = word_scores(reads, query, &terms, scope, ranking)?;
    let mut candidates = gather(reads, &word_scores, similar, ranking)?;
    score(&mut candidates, &terms, similar.is_empty(), ranking);
    lift_by_company(reads, &mut candidates, ranking)?;
    add_recency(&mut candidates, ranking);
    let mut hits: Vec<Hit> = candidates.into_values().map(into_hit).collect();
    hits.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then(b.created_at.cmp(&a.created_at))
            .then(b.row_id.cmp(&a.row_id))
    });
    Ok(hits)
}

/// The query's terms with how telling each is.
struct Terms {
    words: Vec<String>,
    stems: Vec<(String, f64)>,
}

impl Terms {
    fn choose(reads: &Reads<'_>, query: &Query, ranking: &Ranking) -> Result<Self, StoreError> {
        let stems: Vec<String> = query.words.iter().map(|word| stem(word)).collect();
        let (counts, all) = reads.document_counts(&stems)?;
        let idf = |count: u64| ((all as f64 + 1.0) / (count as f64 + 0.5)).ln().max(0.05);
        let mut chosen: Vec<(String, String, f64)> = query
            .words
            .iter()
            .zip(stems)
            .zip(counts)
            .map(|((word, stem), count)| (word.clone(), stem, idf(count)))
            .collect();
        if chosen.len() > ranking.terms_max {
            chosen.sort_by(|a, b| b.2.total_cmp(&a.2));
            chosen.truncate(ranking.terms_max);
        }
        let mut seen = HashSet::new();
        let words = chosen.iter().map(|(word, _, _)| word.clone()).collect();
        let stems = chosen
            .into_iter()
            .filter(|(_, stem, _)| seen.insert(stem.clone()))
            .map(|(_, stem, idf)| (stem, idf))
            .collect();
        Ok(Self { words, stems })
    }

    fn expr(&self, query: &Query) -> Option<Expr> {
        let any = (!self.words.is_empty())
            .then(|| Expr::Or(self.words.iter().cloned().map(Expr::Term).collect()));
        match (&query.demand, any) {
            (Some(demand), Some(any)) => Some(Expr::And(vec![demand.clone(), any])),
            (Some(demand), None) => Some(demand.clone()),
            (None, any) => any,
        }
    }
}

/// BM25 of the whole row plus that of its best passage; a row of one passage is its own best.
fn word_scores(
    reads: &Reads<'_>,
    query: &Query,
    terms: &Terms,
    scope: &WordScope,
    ranking: &Ranking,
) -> Result<HashMap<RowKey, f64>, StoreError> {
    let Some(what) = terms.expr(query) else {
        return Ok(HashMap::new());
    };
    let rows = reads.match_words(
        &what,
        scope,
        Grain::Rows,
        ranking.columns,
        ranking.candidates,
    )?;
    let parts = reads.match_words(
        &what,
        scope,
        Grain::Parts,
        ranking.columns,
        ranking.candidates * 2,
    )?;
    let mut best_part: HashMap<RowKey, f64> = HashMap::new();
    for WordHit {
        kind,
        row_id,
        score,
    } in parts
    {
        let best = best_part.entry((kind, row_id)).or_insert(score);
        *best = best.max(score);
    }
    let mut scores = HashMap::with_capacity(rows.len());
    for WordHit {
        kind,
        row_id,
        score,
    } in rows
    {
        let part = best_part.remove(&(kind, row_id)).unwrap_or(score);
        scores.insert((kind, row_id), score + part);
    }
    // A passage may be among the best though its row is not.
    scores.extend(best_part);
    Ok(scores)
}

fn gather(
    reads: &Reads<'_>,
    word_scores: &HashMap<RowKey, f64>,
    similar: &Similarities,
    ranking: &Ranking,
) -> Result<HashMap<RowKey, Candidate>, StoreError> {
    let mut by_similarity: Vec<(&RowKey, &f64)> = similar.iter().collect();
    by_similarity.sort_by(|a, b| b.1.total_cmp(a.1).then(a.0.cmp(b.0)));
    by_similarity.truncate(ranking.candidates);
    let keys: HashSet<RowKey> = word_scores
        .keys()
        .chain(by_similarity.iter().map(|(key, _)| *key))
        .copied()
        .collect();
    let floor = by_similarity.last().map_or(0.0, |(_, cosine)| **cosine);
    let mut candidates = HashMap::with_capacity(keys.len());
    for key in keys {
        let Some(document) = reads.document(key.0, key.1)? else {
            continue;
        };
        let words = word_scores.get(&key).copied().unwrap_or(0.0);
        let vectors = similar.get(&key).copied().unwrap_or(floor);
        candidates.insert(
            key,
            Candidate {
                document,
                words,
                vectors,
                parts: Parts::default(),
                score: 0.0,
            },
        );
    }
    Ok(candidates)
}

fn score(
    candidates: &mut HashMap<RowKey, Candidate>,
    terms: &Terms,
    words_only: bool,
    ranking: &Ranking,
) {
    let words = Normal::of(candidates.values().map(|c| c.words));
    let vectors = Normal::of(candidates.values().map(|c| c.vectors));
    let in_all: f64 = terms.stems.iter().map(|(_, idf)| idf).sum();
    for candidate in candidates.values_mut() {
        let Document {
            title,
            body,
            tags,
            split,
            ..
        } = &candidate.document;
        let present = terms::stems(&format!("{title} {body} {tags} {split}"));
        let (mut covered, mut matched) = (0.0, Vec::new());
        for (stem, idf) in &terms.stems {
            if present.contains(stem) {
                covered += idf;
                matched.push(stem.clone());
            }
        }
        candidate.parts = Parts {
            words: ranking.words * words.apply(candidate.words),
            vectors: if words_only {
                0.0
            } else {
                ranking.vectors * vectors.apply(candidate.vectors)
            },
            coverage: if in_all > 0.0 {
                ranking.coverage * covered / in_all
            } else {
                0.0
            },
            matched,
            ..Parts::default()
        };
        candidate.score =
            candidate.parts.words + candidate.parts.vectors + candidate.parts.coverage;
    }
}

/// A short remark means little alone: it takes over some of what its neighbours and its session
/// score. The longer a row, the less.
fn lift_by_company(
    reads: &Reads<'_>,
    candidates: &mut HashMap<RowKey, Candidate>,
    ranking: &Ranking,
) -> Result<(), StoreError> {
    let mut by_session: HashMap<SessionId, Vec<f64>> = HashMap::new();
    for candidate in candidates.values() {
        if let Some(session) = candidate.document.session {
            by_session.entry(session).or_default().push(candidate.score);
        }
    }
    let mut lifts = Vec::new();
    for (key, candidate) in candidates.iter() {
        let Some(session) = candidate.document.session else {
            continue;
        };
        let words = candidate.document.body.split_whitespace().count()
            + candidate.document.title.split_whitespace().count();
        let smallness = (1.0 - words as f64 / ranking.small_words).max(0.0);
        if smallness == 0.0 {
            continue;
        }
        let near = reads.neighbours(session, candidate.document.created_at, 2)?;
        let best_near = near
            .iter()
            .filter(|near| *near != key)
            .filter_map(|near| candidates.get(near))
            .map(|c| c.score)
            .fold(0.0, f64::max);
        let mut of_session = by_session.get(&session).cloned().unwrap_or_default();
        of_session.sort_by(|a, b| b.total_cmp(a));
        let of_session: f64 = of_session.iter().take(3).sum::<f64>() / 3.0;
        lifts.push((
            *key,
            smallness * (ranking.neighbour * best_near + ranking.session * of_session),
        ));
    }
    for (key, lift) in lifts {
        if let Some(candidate) = candidates.get_mut(&key) {
            candidate.parts.neighbours = lift;
            candidate.score += lift;
        }
    }
    Ok(())
}

/// Between equals the newer one goes first; never more than that.
fn add_recency(candidates: &mut HashMap<RowKey, Candidate>, ranking: &Ranking) {
    let ages = Normal::of(candidates.values().map(|c| c.document.created_at.0 as f64));
    for candidate in candidates.values_mut() {
        candidate.parts.recency =
            ranking.recency * ages.apply(candidate.document.created_at.0 as f64);
        candidate.score += candidate.parts.recency;
    }
}

fn into_hit(candidate: Candidate) -> Hit {
    Hit {
        kind: candidate.document.kind,
        row_id: candidate.document.row_id,
        score: candidate.score,
        created_at: candidate.document.created_at,
        parts: candidate.parts,
    }
}

/// Min-max over the candidates.
struct Normal {
    min: f64,
    span: f64,
}

impl Normal {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let min = values.clone().fold(f64::INFINITY, f64::min);
        let max = values.fold(f64::NEG_INFINITY, f64::max);
        Self {
            min,
            span: max - min,
        }
    }

    fn apply(&self, value: f64) -> f64 {
        if self.span > 0.0 {
            (value - self.min) / self.span
        } else {
            1.0
        }
    }
}
