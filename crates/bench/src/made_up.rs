//! Synthetic vectors for the generated history.
//!
//! Encoding half a million passages takes hours, so only the newest rows are encoded; all others get
//! real vectors with noise, in the right number and size. They are good for timing only, not for
//! measuring quality.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use claude_mem_search::TextEncoder;
use claude_mem_search::index::{catch_up, row_vectors};
use claude_mem_search::passages::subdocuments;
use claude_mem_store::{RowId, Store, StoreError, VectorStore};

use crate::corpus::rng::SplitMix64;

/// Rows that are encoded by the model.
const REAL_ROWS: u64 = 320;
/// Rows per transaction.
const BATCH: usize = 2_000;
/// Dimensions of a vector that get noise; the others stay.
const NOISY: usize = 96;

/// The vectors database of a corpus, generated once and cached beside it. Leaves the corpus with an empty
/// embedding backlog.
pub(crate) fn vectors_database(database: &Path) -> anyhow::Result<PathBuf> {
    let path = database.with_extension("vectors");
    if path.exists() {
        return Ok(path);
    }
    let unfinished = database.with_extension("vectors-part");
    for end in ["", "-wal", "-shm"] {
        let mut file = unfinished.clone().into_os_string();
        file.push(end);
        // Left by an interrupted run, if it exists.
        let _ = std::fs::remove_file(file);
    }
    let mut store = Store::open(database)?;
    // An interrupted run may have cleared part of the backlog.
    #[allow(clippy::redundant_closure_for_method_calls, reason = "one lifetime")]
    store.write(|tx| tx.enqueue_all_embeddings())?;
    let model = embed::EmbeddingModel::built_in();
    let mut vectors = VectorStore::open(&unfinished, TextEncoder::id(model))?;
    catch_up(&mut store, &mut vectors, model, |done| done.embedded >= REAL_ROWS)?;
    let pool = real_vectors(&store, model)?;
    let mut rng = SplitMix64::new(0xF0CC_AC1A);
    while synthesize_vectors(&mut store, &mut vectors, &pool, &mut rng)? > 0 {}
    vectors.checkpoint()?;
    store.checkpoint()?;
    drop(vectors);
    std::fs::rename(&unfinished, &path).context("naming the finished vectors")?;
    Ok(path)
}

/// Vectors of the oldest rows' passages, as the pool for synthetic ones.
fn real_vectors(store: &Store, model: &embed::EmbeddingModel) -> Result<Vec<Vec<f32>>, StoreError> {
    let reads = store.read();
    let mut texts = Vec::new();
    for row_id in 1..=100 {
        texts.extend(subdocuments(&reads, RowId::new(claude_mem_store::RowKind::Observation, row_id))?);
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    Ok(model.encode_batch(&texts))
}

/// Writes synthetic vectors for one batch of the backlog; returns its size.
fn synthesize_vectors(
    store: &mut Store,
    vectors: &mut VectorStore,
    pool: &[Vec<f32>],
    rng: &mut SplitMix64,
) -> Result<usize, StoreError> {
    let owed = store.read().pending_embeddings(BATCH)?;
    let mut put = Vec::with_capacity(owed.len());
    for row in &owed {
        let Some(text) = row.text else { continue };
        let parts = subdocuments(&store.read(), RowId::new(row.kind, row.row_id))?.len();
        // One vector more for the whole, unless there is only one part.
        let vectors = if parts > 1 { parts + 1 } else { parts };
        let made_up = (0..vectors).map(|_| with_noise(&pool[rng.below(pool.len())], rng));
        put.push(row_vectors(row, &text, made_up));
    }
    vectors.apply_changes(&put, &[])?;
    store.write(|tx| owed.iter().try_for_each(|owed| tx.ack_embedding(owed).map(drop)))?;
    Ok(owed.len())
}

fn with_noise(real: &[f32], rng: &mut SplitMix64) -> Vec<f32> {
    let mut vector = real.to_vec();
    for _ in 0..NOISY {
        let at = rng.below(vector.len());
        vector[at] += (rng.below(2_001) as f32 - 1_000.0) / 12_000.0;
    }
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter().map(|x| x / length).collect()
}
