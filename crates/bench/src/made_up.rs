//! Vectors for a made-up history. Encoding half a million passages takes hours, so the newest
//! rows are really encoded and all others get real vectors with some noise: as many and as long as
//! theirs would be, good for measuring time and for nothing else.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use claude_mem::search::Encoder;
use claude_mem::search::index::{catch_up, row_vectors};
use claude_mem::search::subdocuments::subdocuments;
use claude_mem::store::{Store, StoreError, VectorStore};

use crate::corpus::rng::Rng;

/// Rows that are really encoded.
const REAL_ROWS: u64 = 320;
/// Rows of one transaction.
const BATCH: usize = 2_000;
/// Numbers of a vector that get noise; the others stay.
const NOISY: usize = 96;

/// The vectors file of a corpus, made once and kept beside it. The corpus is owed none after.
pub(crate) fn vectors(database: &Path) -> anyhow::Result<PathBuf> {
    let path = database.with_extension("vectors");
    if path.exists() {
        return Ok(path);
    }
    let unfinished = database.with_extension("vectors-part");
    for end in ["", "-wal", "-shm"] {
        let mut file = unfinished.clone().into_os_string();
        file.push(end);
        // What an interrupted run left; usually nothing.
        let _ = std::fs::remove_file(file);
    }
    let mut store = Store::open(database)?;
    // An interrupted run may have settled some of them.
    #[allow(clippy::redundant_closure_for_method_calls, reason = "one lifetime")]
    store.write(|tx| tx.owe_all_vectors())?;
    let model = embed::Model::built_in();
    let mut vectors = VectorStore::open(&unfinished, Encoder::id(model))?;
    catch_up(&mut store, &mut vectors, model, |done| {
        done.embedded >= REAL_ROWS
    })?;
    let pool = real_vectors(&store, model)?;
    let mut rng = Rng::new(0xF0CC_AC1A);
    while made_up(&mut store, &mut vectors, &pool, &mut rng)? > 0 {}
    vectors.checkpoint()?;
    store.checkpoint()?;
    drop(vectors);
    std::fs::rename(&unfinished, &path).context("naming the finished vectors")?;
    Ok(path)
}

/// Of passages of the oldest rows, which are like all others.
fn real_vectors(store: &Store, model: &embed::Model) -> Result<Vec<Vec<f32>>, StoreError> {
    let reads = store.read();
    let mut texts = Vec::new();
    for row_id in 1..=100 {
        texts.extend(subdocuments(
            &reads,
            claude_mem::store::RowKind::Observation,
            row_id,
        )?);
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    Ok(model.encode_batch(&texts))
}

fn made_up(
    store: &mut Store,
    vectors: &mut VectorStore,
    pool: &[Vec<f32>],
    rng: &mut Rng,
) -> Result<usize, StoreError> {
    let owed = store.read().owed_vectors(BATCH)?;
    let mut put = Vec::with_capacity(owed.len());
    for row in &owed {
        let Some(text) = row.text else { continue };
        let parts = subdocuments(&store.read(), row.kind, row.row_id)?.len();
        let made_up = (0..parts).map(|_| with_noise(&pool[rng.below(pool.len())], rng));
        put.push(row_vectors(row, &text, made_up));
    }
    vectors.change(&put, &[])?;
    store.write(|tx| {
        owed.iter()
            .try_for_each(|owed| tx.settle_vectors(owed).map(drop))
    })?;
    Ok(owed.len())
}

fn with_noise(real: &[f32], rng: &mut Rng) -> Vec<f32> {
    let mut vector = real.to_vec();
    for _ in 0..NOISY {
        let at = rng.below(vector.len());
        vector[at] += (rng.below(2_001) as f32 - 1_000.0) / 12_000.0;
    }
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter().map(|x| x / length).collect()
}
