//! Vector retrieval: rows by similarity of meaning.
//!
//! [`VectorRetriever`] scans binary signatures of all rows in scope by Hamming distance, then
//! rescores the best with their quantized vectors. Each match carries the hash of the text its
//! vectors were computed from; the caller must compare it with the current text.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use super::encoder::TextEncoder;
use crate::encoder_thread::{EncoderThread, PendingVector};
use crate::quantize::{QuantizedQuery, unpack_signatures};
use crate::scope::AllowedRows;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::ProjectId;
use claude_mem_store::{NO_PROJECT, RowFilter, RowId, RowKind, StoreError, StoredSignature, VectorStore};

/// Rows whose full vectors are compared after the comparison by sign bits.
const VECTOR_RESCORED_ROWS: usize = 150;

/// Maximum characters of a query that are tokenized for its embedding.
const VECTOR_QUERY_CHARS_MAX: usize = 2_000;

/// The similarity of a row, and the hash of the text it was computed from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VectorMatch {
    pub score: f64,
    pub text_hash: i64,
}

/// Vector matches by row.
pub(crate) type VectorMatches = HashMap<RowId, VectorMatch>;

/// The vector file and the encoder that produced it, with an optional in-memory signature cache.
#[derive(Debug)]
pub struct VectorRetriever<'a> {
    store: &'a mut VectorStore,
    cache: Option<&'a RwLock<SignatureCache>>,
    encoder: EncoderRef<'a>,
    encoder_thread: Option<&'a EncoderThread>,
}

struct EncoderRef<'a>(&'a dyn TextEncoder);

impl std::fmt::Debug for EncoderRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.id())
    }
}

impl<'a> VectorRetriever<'a> {
    /// Reads signatures from the file for each query.
    pub fn uncached(store: &'a mut VectorStore, encoder: &'a dyn TextEncoder) -> Self {
        Self { store, cache: None, encoder: EncoderRef(encoder), encoder_thread: None }
    }

    /// Keeps signatures in memory between queries.
    pub fn cached(
        store: &'a mut VectorStore,
        shelves: &'a RwLock<SignatureCache>,
        encoder: &'a dyn TextEncoder,
    ) -> Self {
        Self { store, cache: Some(shelves), encoder: EncoderRef(encoder), encoder_thread: None }
    }

    /// Embeds queries on this thread.
    #[must_use]
    pub fn with_encoder_thread(mut self, aside: Option<&'a EncoderThread>) -> Self {
        self.encoder_thread = aside;
        self
    }

    /// Starts embedding a query, cut to `VECTOR_QUERY_CHARS_MAX`.
    pub fn start_encoding(&self, text: &str) -> PendingVector {
        let cut: String = text.chars().take(VECTOR_QUERY_CHARS_MAX).collect();
        PendingVector::start(cut, self.encoder_thread)
    }

    /// Waits for the query's vector and quantizes it.
    pub fn quantized_query(&self, question: PendingVector) -> QuantizedQuery {
        QuantizedQuery::new(&question.wait(self.encoder.0))
    }

    /// The nearest rows within `scope`, without rows known not to be `allowed`. A folder condition
    /// is left to the caller.
    pub fn nearest(
        &mut self,
        probe: &QuantizedQuery,
        scope: &RowFilter,
        allowed: Option<&AllowedRows>,
    ) -> Result<VectorMatches, StoreError> {
        let mut best = TopSignatures::default();
        let is_inside = |seen: &SignatureRow| {
            seen.is_in_scope(scope)
                && allowed.is_none_or(|rows| rows.may_contain(RowId::new(seen.kind, seen.row_id)))
        };
        match self.cache {
            Some(shelves) => {
                SignatureCache::refresh(shelves, self.store, probe.width())?;
                let shelves = shelves.read().unwrap_or_else(PoisonError::into_inner);
                shelves.for_each_in_scope(scope, probe, |seen, differing| {
                    if is_inside(seen) {
                        best.0.push((probe.similarity_from_distances(differing), *seen));
                    }
                });
            }
            None => {
                let everybodys = scope.user_level.then_some(NO_PROJECT);
                let either = scope.project.into_iter().chain(everybodys).map(Some);
                let mut owners: Vec<Option<ProjectId>> = either.collect();
                if owners.is_empty() {
                    owners.push(None);
                }
                for owner in owners {
                    self.store.scan_signatures(owner, 0, |found| {
                        let seen = SignatureRow::from_signature(&found);
                        if let Some(score) =
                            is_inside(&seen).then(|| probe.signature_similarity(found.bits)).flatten()
                        {
                            best.0.push((score, seen));
                        }
                    })?;
                }
            }
        }
        // The caller will reject some of these, so rescore more.
        let tested = allowed.is_some_and(AllowedRows::needs_row_check);
        let rows = if tested { 4 } else { 1 } * VECTOR_RESCORED_ROWS;
        self.rescore(probe, &best.into_top(rows))
    }

    /// The similarity of these rows, for those that have vectors.
    pub fn similarities(
        &self,
        probe: &QuantizedQuery,
        keys: impl Iterator<Item = RowId>,
    ) -> Result<VectorMatches, StoreError> {
        let mut near = VectorMatches::new();
        for key in keys {
            self.store.read_row_vectors(key, |text_hash, parts| {
                if let Some(score) = probe.similarity(parts) {
                    let score = f64::from(score);
                    near.insert(key, VectorMatch { score, text_hash });
                }
            })?;
        }
        Ok(near)
    }

    /// The exact similarity of rows found by signature.
    fn rescore(&self, probe: &QuantizedQuery, rows: &[SignatureRow]) -> Result<VectorMatches, StoreError> {
        let by_id: HashMap<i64, RowId> =
            rows.iter().map(|seen| (seen.id, RowId::new(seen.kind, seen.row_id))).collect();
        let mut ids: Vec<i64> = by_id.keys().copied().collect();
        // In file order, so that each page is read once.
        ids.sort_unstable();
        let mut near = VectorMatches::with_capacity(ids.len());
        self.store.read_vectors(&ids, |id, text_hash, parts| {
            if let Some(score) = probe.similarity(parts) {
                let score = f64::from(score);
                near.insert(by_id[&id], VectorMatch { score, text_hash });
            }
        })?;
        Ok(near)
    }
}

/// Rows with their estimated similarity.
#[derive(Default)]
struct TopSignatures(Vec<(f32, SignatureRow)>);

impl TopSignatures {
    /// The `count` most similar rows, unordered.
    fn into_top(mut self, count: usize) -> Vec<SignatureRow> {
        if self.0.len() > count {
            self.0.select_nth_unstable_by(count, |a, b| b.0.total_cmp(&a.0).then(b.1.id.cmp(&a.1.id)));
            self.0.truncate(count);
        }
        self.0.into_iter().map(|(_, seen)| seen).collect()
    }
}

/// A row's entry in the signature table.
#[derive(Clone, Copy, Debug)]
struct SignatureRow {
    id: i64,
    kind: RowKind,
    row_id: i64,
    created_at: Millis,
}

impl SignatureRow {
    fn from_signature(found: &StoredSignature<'_>) -> Self {
        Self { id: found.id, kind: found.kind, row_id: found.row_id, created_at: found.created_at }
    }

    /// Whether kind and time are in scope. The project was selected by the query, and types are
    /// covered by the allowed rows.
    fn is_in_scope(&self, scope: &RowFilter) -> bool {
        (scope.kinds.is_empty() || scope.kinds.contains(&self.kind))
            && scope.since.is_none_or(|since| self.created_at >= since)
            && scope.until.is_none_or(|until| self.created_at < until)
    }
}

/// In-memory signatures, grouped by project. For long-lived processes; may be dropped at any time.
#[derive(Debug, Default)]
pub struct SignatureCache {
    by_project: HashMap<Option<ProjectId>, ProjectSignatures>,
    newest_id: i64,
    file_uid: String,
    entries: u64,
}

/// The signatures of one project, concatenated.
#[derive(Debug, Default)]
struct ProjectSignatures {
    /// Each row with the end of its signatures in `words`.
    rows: Vec<(SignatureRow, usize)>,
    words: Vec<u64>,
}

impl SignatureCache {
    /// Approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        let of = |shelf: &ProjectSignatures| {
            shelf.words.capacity() * size_of::<u64>()
                + shelf.rows.capacity() * size_of::<(SignatureRow, usize)>()
        };
        self.by_project.values().map(of).sum()
    }

    /// Loads signatures added since the last refresh. Entries of deleted or changed rows stay until
    /// too many accumulate; their vectors no longer exist, so they are never returned.
    fn refresh(shelves: &RwLock<Self>, store: &VectorStore, width: usize) -> Result<(), StoreError> {
        let newest = store.newest_id()?;
        let file = store.uid()?;
        let is_new = |shelves: &Self| newest != shelves.newest_id || file != shelves.file_uid;
        // Check under the read lock first: with nothing new, we need not wait for concurrent
        // readers.
        if !is_new(&shelves.read().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(());
        }
        let mut shelves = shelves.write().unwrap_or_else(PoisonError::into_inner);
        if is_new(&shelves) {
            shelves.append_new(store, newest, file, width)?;
        }
        Ok(())
    }

    /// Appends signatures newer than the last seen; starts over for another file or if more than
    /// half of the entries are stale.
    fn append_new(
        &mut self,
        store: &VectorStore,
        newest: i64,
        file: String,
        width: usize,
    ) -> Result<(), StoreError> {
        if file != self.file_uid || self.entries > 2 * store.row_count()? + 1_000 {
            *self = Self { file_uid: file, ..Self::default() };
        }
        let after = self.newest_id;
        store.scan_signatures(None, after, |found| {
            let shelf = self.by_project.entry(found.project).or_default();
            if unpack_signatures(found.bits, width, &mut shelf.words) {
                shelf.rows.push((SignatureRow::from_signature(&found), shelf.words.len()));
            }
            self.entries += 1;
            self.newest_id = self.newest_id.max(found.id);
        })?;
        self.newest_id = self.newest_id.max(newest);
        Ok(())
    }

    /// Calls `look` for each row of the scope's projects with the Hamming distance of each of its
    /// vectors.
    fn for_each_in_scope(
        &self,
        scope: &RowFilter,
        probe: &QuantizedQuery,
        mut look: impl FnMut(&SignatureRow, &[u32]),
    ) {
        let shelves = self.by_project.iter().filter(|(of, _)| scope.includes_owner(**of, of.is_none()));
        let mut differing = Vec::new();
        for (_, shelf) in shelves {
            differing.clear();
            probe.hamming_distances(&shelf.words, &mut differing);
            let mut start = 0;
            for (seen, end) in &shelf.rows {
                let end = end / probe.signature_words().max(1);
                look(seen, &differing[start..end]);
                start = end;
            }
        }
    }
}
