//! The files of a data directory, opened for looking: what commands, MCP and the worker ask.

use std::path::Path;
use std::sync::{Arc, RwLock};

use super::aside::Aside;
use super::ask::{Ask, Found};
use super::encoder::Encoder;
use super::searcher::Searcher;
use super::vectors::{Shelves, VectorLeg};
use crate::store::{Reads, Store, StoreError, VectorStore};

/// A store and, where there are any, its vectors.
pub struct Engine {
    store: Store,
    vectors: Option<VectorStore>,
    without_vectors: Option<String>,
    shelves: Option<Arc<RwLock<Shelves>>>,
    encoder: &'static dyn Encoder,
    /// Without it, for want of threads, it only takes longer.
    aside: Option<Aside>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("store", &self.store)
            .field("vectors", &self.vectors)
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// Words alone.
    pub fn of_words(store: Store, encoder: &'static dyn Encoder) -> Self {
        Self {
            store,
            vectors: None,
            without_vectors: None,
            shelves: None,
            encoder,
            aside: None,
        }
    }

    /// With the vectors beside it, as far as there are any. That they are missing or damaged is
    /// told with every answer, and costs nothing else.
    pub fn open(store: Store, vectors: &Path, encoder: &'static dyn Encoder) -> Self {
        let mut engine = Self::of_words(store, encoder);
        match VectorStore::open_read_only(vectors, encoder.id()) {
            Ok(opened) => {
                engine.vectors = Some(opened);
                engine.aside = Aside::new(encoder).ok();
            }
            // None have been made yet; that is no fault.
            Err(StoreError::Missing) => {}
            Err(e) => engine.without_vectors = Some(e.to_string()),
        }
        engine
    }

    /// For a process that is asked more than once: signatures stay in memory.
    #[must_use]
    pub fn staying(self) -> Self {
        self.sharing(Arc::default())
    }

    /// For several that are asked at once: the signatures of one file are in memory once.
    #[must_use]
    pub fn sharing(mut self, shelves: Arc<RwLock<Shelves>>) -> Self {
        self.shelves = Some(shelves);
        self
    }

    /// Why vectors have no say, where they should have.
    pub fn without_vectors(&self) -> Option<&str> {
        self.without_vectors.as_deref()
    }

    pub fn reads(&self) -> Reads<'_> {
        self.store.read()
    }

    /// The store as it is at one moment, and the vectors where there are any.
    pub fn view<T>(
        &mut self,
        look: impl FnOnce(Reads<'_>, Option<VectorLeg<'_>>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let leg = match (&mut self.vectors, &self.shelves) {
            (Some(vectors), Some(shelves)) => Some(VectorLeg::warm(vectors, shelves, self.encoder)),
            (Some(vectors), None) => Some(VectorLeg::cold(vectors, self.encoder)),
            (None, _) => None,
        };
        let leg = leg.map(|leg| leg.aside(self.aside.as_ref()));
        self.store.view(|reads| look(reads.again(), leg))
    }

    pub fn search(&mut self, ask: &Ask) -> Result<Found, StoreError> {
        let mut found = self.view(|reads, leg| Searcher::new(reads, leg).search(ask))?;
        if found.without_vectors.is_none() {
            found.without_vectors.clone_from(&self.without_vectors);
        }
        Ok(found)
    }
}
