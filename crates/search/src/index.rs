//! Keeps the vector file in sync with the store, from the durable backlog, newest rows first.
//!
//! Invariant: a row leaves the backlog only after the vectors of its current text are in the file,
//! or if it needs none. A killed run is resumed by the next one.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::encoder::TextEncoder;
use crate::passages::{subdocuments, with_whole};
use crate::quantize::{pack_signature, pack_vector};
use claude_mem_store::{
    EmbeddableText, PendingEmbedding, RowId, RowVectors, Store, StoreError, VectorSource, VectorStore,
};

/// Rows that are embedded between two commits.
pub(crate) const INDEX_BATCH_ROWS: usize = 16;

/// Meta key: the vector file and encoder the backlog was last filled for.
const FILE_KEY: &str = "vectors";

/// What one run did, and how much of the backlog remains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IndexProgress {
    pub embedded: u64,
    pub removed: u64,
    #[serde(rename = "left")]
    pub remaining: u64,
}

/// Works through the backlog until it is empty or `stop` returns true; `stop` is called between
/// small batches.
pub fn catch_up(
    store: &mut Store,
    vectors: &mut VectorStore,
    encoder: &dyn TextEncoder,
    mut stop: impl FnMut(&IndexProgress) -> bool,
) -> Result<IndexProgress, StoreError> {
    requeue_if_file_changed(store, vectors, encoder)?;
    let mut progress = IndexProgress::default();
    loop {
        progress.remaining = store.read().pending_embeddings_count()?;
        if progress.remaining == 0 || stop(&progress) {
            return Ok(progress);
        }
        index_batch(store, vectors, encoder, &mut progress)?;
    }
}

/// Removes the vectors of deleted rows without embedding anything. Runs after forgetting.
pub fn remove_orphan_vectors(store: &mut Store, vectors: &mut VectorStore) -> Result<u64, StoreError> {
    let mut removed = 0;
    loop {
        let owed = store.read().pending_embeddings(INDEX_BATCH_ROWS)?;
        let gone: Vec<PendingEmbedding> = owed.into_iter().filter(|owed| owed.text.is_none()).collect();
        if gone.is_empty() {
            return Ok(removed);
        }
        let keys: Vec<RowId> = gone.iter().map(|owed| RowId::new(owed.kind, owed.row_id)).collect();
        vectors.apply_changes(&[], &keys)?;
        ack_batch(store, &gone)?;
        removed += gone.len() as u64;
    }
}

/// Deletes all vectors and enqueues every row.
pub fn rebuild(store: &mut Store, vectors: &mut VectorStore) -> Result<(), StoreError> {
    #[allow(clippy::redundant_closure_for_method_calls, reason = "the method itself is of one lifetime")]
    store.write(|tx| tx.enqueue_all_embeddings())?;
    vectors.clear()
}

/// Enqueues every row if the vector file or the encoder changed.
fn requeue_if_file_changed(
    store: &mut Store,
    vectors: &VectorStore,
    encoder: &dyn TextEncoder,
) -> Result<(), StoreError> {
    let file = format!("{} {}", vectors.uid()?, encoder.id());
    if store.read().meta(FILE_KEY)?.as_deref() == Some(&file) {
        return Ok(());
    }
    store.write(|tx| {
        tx.enqueue_all_embeddings()?;
        tx.set_meta(FILE_KEY, &file)
    })
}

/// Compares all rows with all vectors and enqueues the differences: after a power cut, a restored
/// backup or a replaced file. Reads indexes only.
pub fn reconcile(store: &mut Store, vectors: &VectorStore) -> Result<u64, StoreError> {
    let mut made: HashMap<RowId, Option<VectorSource>> = HashMap::new();
    vectors.for_each_entry(|row, from| {
        made.insert(row, from);
    })?;
    let mut owed = Vec::new();
    store.read().for_each_embeddable(|row, text| {
        let from = made.remove(&row).flatten();
        let wanted = VectorSource { text_hash: text.text_hash, project: text.project };
        if from != Some(wanted) {
            owed.push((row, text.created_at));
        }
    })?;
    let orphans: HashSet<RowId> = made.into_keys().collect();
    let count = owed.len() + orphans.len();
    if count > 0 {
        store.write(|tx| {
            for (row, at) in owed {
                tx.enqueue_embedding(row, at)?;
            }
            for row in orphans {
                tx.enqueue_vector_removal(row)?;
            }
            Ok(())
        })?;
    }
    Ok(count as u64)
}

/// Processes one batch of the backlog.
fn index_batch(
    store: &mut Store,
    vectors: &mut VectorStore,
    encoder: &dyn TextEncoder,
    progress: &mut IndexProgress,
) -> Result<(), StoreError> {
    let mut put = Vec::new();
    let mut remove = Vec::new();
    let mut to_embed = Vec::new();
    // One snapshot, so that the hash belongs to the text that is read.
    let owed = store.read_snapshot(|reads| {
        let owed = reads.pending_embeddings(INDEX_BATCH_ROWS)?;
        for row in &owed {
            let Some(text) = row.text else {
                remove.push(RowId::new(row.kind, row.row_id));
                continue;
            };
            let made = vectors.vector_source(RowId::new(row.kind, row.row_id))?;
            if made.is_some_and(|made| made.text_hash == text.text_hash) {
                if made.is_some_and(|made| made.project != text.project)
                    && let Some(entry) = vectors.entry(RowId::new(row.kind, row.row_id))?
                {
                    let project = text.project;
                    put.push(RowVectors { project, ..entry });
                }
                continue;
            }
            let texts = subdocuments(reads, RowId::new(row.kind, row.row_id))?;
            if texts.is_empty() {
                remove.push(RowId::new(row.kind, row.row_id));
            } else {
                to_embed.push((*row, text, texts));
            }
        }
        Ok(owed)
    })?;
    let texts: Vec<&str> =
        to_embed.iter().flat_map(|(_, _, texts)| texts.iter().map(String::as_str)).collect();
    let mut made = encoder.embed_documents(&texts).into_iter();
    for (row, text, texts) in &to_embed {
        let vectors = made.by_ref().take(texts.len()).collect();
        put.push(row_vectors(row, text, with_whole(texts, vectors)));
    }
    vectors.apply_changes(&put, &remove)?;
    progress.embedded += to_embed.len() as u64;
    progress.removed += remove.len() as u64;
    ack_batch(store, &owed)
}

/// The entry of one row: the packed vectors of the whole and its parts, and the text they were computed
/// from.
pub fn row_vectors(
    row: &PendingEmbedding,
    text: &EmbeddableText,
    vectors: impl IntoIterator<Item = Vec<f32>>,
) -> RowVectors {
    let (mut parts, mut bits) = (Vec::new(), Vec::new());
    for vector in vectors {
        pack_vector(&vector, &mut parts);
        pack_signature(&vector, &mut bits);
    }
    RowVectors {
        kind: row.kind,
        row_id: row.row_id,
        project: text.project,
        created_at: text.created_at,
        text_hash: text.text_hash,
        parts,
        bits,
    }
}

/// Removes finished rows from the backlog.
fn ack_batch(store: &mut Store, done: &[PendingEmbedding]) -> Result<(), StoreError> {
    store.write(|tx| {
        for owed in done {
            tx.ack_embedding(owed)?;
        }
        Ok(())
    })
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
