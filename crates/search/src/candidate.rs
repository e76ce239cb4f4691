//! A row that may be a result ([`Candidate`]) and all candidates of one query ([`CandidateSet`]): what
//! retrieval hands to ranking.

use std::collections::HashMap;

use crate::coverage::DocumentStats;
use crate::quantize::QuantizedQuery;
use crate::ranking_config::RankingConfig;
use crate::time_expr::TimePeriod;
use claude_mem_store::{IndexedDocument, RowId, StoreError};

/// One row that may be a result.
#[derive(Debug)]
pub struct Candidate {
    pub document: IndexedDocument,
    /// Which query terms it contains, and where.
    pub stats: DocumentStats,
    /// Cosine similarity, if the row's vectors were computed from its current text.
    pub cosine: Option<f64>,
    /// Share of the query's identifiers and paths it contains, 0 to 1.
    pub identifier_share: f64,
    /// The rows just before and after it in the session; set for short rows only.
    pub neighbours: Vec<RowId>,
}

impl Candidate {
    /// Whether it contains any query term.
    pub(crate) fn has_any_term(&self) -> bool {
        !self.stats.coverage.present.is_empty()
    }

    /// Whether it contains a query term or is close enough in meaning.
    pub fn has_evidence(&self, ranking: &RankingConfig) -> bool {
        let is_near = self.cosine.is_some_and(|near| near >= ranking.evidence_cosine_min);
        is_near || self.has_any_term()
    }
}

/// All candidates of one query, with the query's weights.
#[derive(Debug, Default)]
pub struct CandidateSet {
    pub rows: HashMap<RowId, Candidate>,
    /// The query's stems.
    pub terms: Vec<String>,
    /// The IDF weight of each stem.
    pub weights: Vec<f64>,
    /// Periods named in the query.
    pub periods: Vec<TimePeriod>,
    /// The query's vector, if vectors were retrieved.
    pub query_vector: Option<QuantizedQuery>,
    /// Why vector retrieval failed, if it was expected to run.
    pub vectors_unavailable: Option<StoreError>,
}
