//! Opens the store and vector files of a data directory for searching.
//!
//! Commands, MCP and the worker search through [`SearchEngine`].

use std::path::Path;
use std::sync::{Arc, RwLock};

use super::encoder::TextEncoder;
use super::searcher::Searcher;
use super::vectors::{SignatureCache, VectorRetriever};
use crate::encoder_thread::EncoderThread;
use crate::request::{SearchRequest, SearchResponse};
use claude_mem_store::{Store, StoreError, StoreReader, VectorStore};

/// An open store with its optional vector file, encoder and signature cache.
pub struct SearchEngine {
    store: Store,
    vectors: Option<VectorStore>,
    vectors_unavailable: Option<String>,
    signatures: Option<Arc<RwLock<SignatureCache>>>,
    encoder: &'static dyn TextEncoder,
    /// Encodes queries in parallel with lexical retrieval. `None` only costs time.
    encoder_thread: Option<EncoderThread>,
}

impl std::fmt::Debug for SearchEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SearchEngine")
            .field("store", &self.store)
            .field("vectors", &self.vectors)
            .finish_non_exhaustive()
    }
}

impl SearchEngine {
    /// An engine without vectors.
    pub fn lexical_only(store: Store, encoder: &'static dyn TextEncoder) -> Self {
        Self {
            store,
            vectors: None,
            vectors_unavailable: None,
            signatures: None,
            encoder,
            encoder_thread: None,
        }
    }

    /// Opens the vector file beside the store. If it is missing or unusable, searches stay lexical;
    /// an unusable file is reported with every response.
    pub fn open(store: Store, vectors: &Path, encoder: &'static dyn TextEncoder) -> Self {
        let mut engine = Self::lexical_only(store, encoder);
        match VectorStore::open_read_only(vectors, encoder.id()) {
            Ok(opened) => {
                engine.vectors = Some(opened);
                engine.encoder_thread = EncoderThread::new(encoder).ok();
            }
            // No vectors have been computed yet, which is not an error.
            Err(StoreError::Missing) => {}
            Err(e) => engine.vectors_unavailable = Some(e.to_string()),
        }
        engine
    }

    /// Caches signatures in memory, for a process that searches repeatedly.
    #[must_use]
    pub fn with_signature_cache(self) -> Self {
        self.with_shared_signatures(Arc::default())
    }

    /// Shares one signature cache between several engines on the same file.
    #[must_use]
    pub fn with_shared_signatures(mut self, shelves: Arc<RwLock<SignatureCache>>) -> Self {
        self.signatures = Some(shelves);
        self
    }

    /// Why the vector file could not be used, if it exists.
    pub fn vectors_unavailable(&self) -> Option<&str> {
        self.vectors_unavailable.as_deref()
    }

    /// Direct read access to the store.
    pub fn reads(&self) -> StoreReader<'_> {
        self.store.read()
    }

    /// Runs `look` on one snapshot of the store, with a vector retriever if there are vectors.
    pub fn view<T>(
        &mut self,
        look: impl FnOnce(StoreReader<'_>, Option<VectorRetriever<'_>>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let retriever = match (&mut self.vectors, &self.signatures) {
            (Some(vectors), Some(shelves)) => Some(VectorRetriever::cached(vectors, shelves, self.encoder)),
            (Some(vectors), None) => Some(VectorRetriever::uncached(vectors, self.encoder)),
            (None, _) => None,
        };
        let retriever =
            retriever.map(|retriever| retriever.with_encoder_thread(self.encoder_thread.as_ref()));
        self.store.read_snapshot(|reads| look(reads.reborrow(), retriever))
    }

    /// Answers one request on one snapshot.
    pub fn search(&mut self, ask: &SearchRequest) -> Result<SearchResponse, StoreError> {
        let mut found = self.view(|reads, retriever| Searcher::new(reads, retriever).search(ask))?;
        if found.vectors_unavailable.is_none() {
            found.vectors_unavailable.clone_from(&self.vectors_unavailable);
        }
        Ok(found)
    }
}
