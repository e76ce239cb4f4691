//! [`catch_up`] computes the vectors that stored rows still lack.
//!
//! Invariant: one thread at a time works on the backlog, on its own connections: encoding takes
//! seconds, and no other thread may wait for it. It shares a batch with idle cores.

use crate::index_signal::IndexSignal;
use claude_mem_core::log::{LogLevel, LogWriter};
use claude_mem_core::platform;
use claude_mem_ingest::shared_store::SharedStore;
use claude_mem_search::{ParallelEncoder, index};
use claude_mem_store::{Store, StoreError, VectorStore};

/// Computes vectors until every stored row has them. False if `is_over` returned true first.
pub(crate) fn catch_up(
    store: &SharedStore,
    signal: &IndexSignal,
    is_over: &dyn Fn() -> bool,
) -> Result<bool, StoreError> {
    let Some(_alone) = signal.work_alone(is_over) else { return Ok(false) };
    let (mut own, mut vectors) = open_stores(store)?;
    let model = embed::EmbeddingModel::built_in();
    let encoder = ParallelEncoder::new(model, &platform::idle_cores);
    let done = index::catch_up(&mut own, &mut vectors, &encoder, |_| is_over())?;
    if done.embedded > 0 {
        vectors.checkpoint()?;
    }
    Ok(done.remaining == 0)
}

/// Opens the store and the vectors on connections of their own.
pub(crate) fn open_stores(store: &SharedStore) -> Result<(Store, VectorStore), StoreError> {
    let vectors = VectorStore::open(&store.dir().vectors_db(), embed::EmbeddingModel::built_in().id())?;
    if let Some(why) = vectors.replaced_reason() {
        let (now, what) = (claude_mem_core::clock::now().millis(), "rebuilding all vectors");
        LogWriter::for_worker(store.dir()).line(now, LogLevel::Warn, what, &[("why", &why)]);
    }
    Ok((Store::open(&store.dir().db())?, vectors))
}
