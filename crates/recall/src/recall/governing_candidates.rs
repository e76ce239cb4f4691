//! What the [`GoverningModel`] says of the candidates of a prompt.

use std::collections::{HashMap, HashSet};

use crate::governing_model::GoverningModel;
use claude_mem_search::VectorRetriever;
use claude_mem_search::candidates::CandidateSet;
use claude_mem_search::quantize::QuantizedQuery;
use claude_mem_store::{RowId, RowKind, StoreError};

/// Memories that are examined because the learnt model thinks that they govern the prompt, whatever their rank.
const LIKELY_MAX: usize = 8;

/// What the learnt model says of each memory among the candidates; empty without vectors.
pub(super) fn governing_logits(
    gathered: &CandidateSet,
    retriever: Option<&VectorRetriever<'_>>,
) -> Result<HashMap<RowId, f64>, StoreError> {
    let (Some(retriever), Some(query), Some(model)) =
        (retriever, &gathered.query_vector, GoverningModel::built_in())
    else {
        return Ok(HashMap::new());
    };
    let probe = QuantizedQuery::new(&model.project(&query.to_vector()));
    let current = |key: &RowId, hash: i64| gathered.rows[key].document.text_hash == hash;
    let memories = gathered.rows.keys().copied().filter(|key| key.kind == RowKind::Observation);
    let near = retriever.similarities(&probe, memories)?;
    let near = near.into_iter().filter(|(key, near)| current(key, near.text_hash));
    Ok(near.map(|(key, near)| (key, model.logit(near.score))).collect())
}

/// The memories that most likely govern the prompt.
pub(super) fn likely_governing(logits: &HashMap<RowId, f64>) -> HashSet<RowId> {
    let mut best: Vec<(&RowId, &f64)> = logits.iter().collect();
    best.sort_by(|a, b| b.1.total_cmp(a.1).then(a.0.cmp(b.0)));
    best.into_iter().take(LIKELY_MAX).map(|(key, _)| *key).collect()
}
