//! The weights and limits of retrieval and ranking, in one place: [`RankingConfig`].

/// Weights and limits of the ranking. One configuration for all data.
#[derive(Clone, Copy, Debug)]
pub struct RankingConfig {
    /// BM25 field weights: title, body, tags, split identifiers.
    pub field_weights: [f64; 4],
    /// Lexical candidates to read and score.
    pub candidates: usize,
    /// Nearest rows by vector to add as candidates.
    pub vector_candidates: usize,
    /// Weight of BM25.
    pub words: f64,
    /// Weight of a row's best passage relative to the whole row, within BM25.
    pub passage: f64,
    /// Weight of cosine similarity.
    pub vectors: f64,
    /// Weight of term coverage.
    pub coverage: f64,
    /// Weight of adjacent query words that are close together in the row.
    pub adjacency: f64,
    /// Weight of the largest share of query terms within a few words (proximity).
    pub proximity: f64,
    /// Share of its best neighbour's score that a short row takes over.
    pub neighbour_context: f64,
    /// Share of its session's score that a short row takes over.
    pub session_context: f64,
    /// Rows of up to the first length get full context, rows from the second length on get none;
    /// linear in between.
    pub short_doc_words: [f64; 2],
    /// Weight of recency; breaks ties only.
    pub recency: f64,
    /// Weight of containing the query's exact identifiers and paths.
    pub identifiers: f64,
    /// Weight of having been created in a period the query names.
    pub named_time: f64,
    /// Minimum cosine of a row without any query term. Context alone is not evidence.
    pub evidence_cosine_min: f64,
    /// Maximum query terms; the rarest are kept.
    pub terms_max: usize,
    /// Pseudo-documents added to N when computing IDF, so that terms are not treated as common in a
    /// tiny corpus.
    pub smoothing_docs: f64,
    /// Best candidates whose neighbours become candidates, too.
    pub expanded_candidates: usize,
}

impl Default for RankingConfig {
    fn default() -> Self {
        Self {
            field_weights: [3.0, 1.0, 0.5, 0.5],
            candidates: 80,
            vector_candidates: 50,
            words: 0.6,
            passage: 0.75,
            vectors: 0.4,
            coverage: 0.3,
            adjacency: 0.2,
            proximity: 0.5,
            neighbour_context: 0.45,
            session_context: 0.2,
            short_doc_words: [60.0, 120.0],
            recency: 0.005,
            identifiers: 0.2,
            named_time: 0.4,
            evidence_cosine_min: 0.2,
            terms_max: 32,
            smoothing_docs: 1.0,
            expanded_candidates: 12,
        }
    }
}
