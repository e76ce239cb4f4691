//! Keeps the vectors file in step with the truth: from the durable backlog, newest first.
//!
//! Invariant: a row leaves the backlog only after the vectors of its present text are in the
//! file, or none are owed; killed at any point, the next run goes on where this one stood.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::encoder::Encoder;
use super::packed::{pack, pack_signs};
use super::rank::RowKey;
use super::subdocuments::subdocuments;
use crate::limits::INDEX_BATCH_ROWS;
use crate::store::{MadeFrom, Owed, OwedText, RowVectors, Store, StoreError, VectorStore};

/// Which file the backlog was last filled for.
const FILE_KEY: &str = "vectors";

/// What one run did, and what is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Progress {
    pub embedded: u64,
    pub removed: u64,
    pub left: u64,
}

/// Works until nothing is owed or `stop` says so; it is asked between batches of a few rows.
pub fn catch_up(
    store: &mut Store,
    vectors: &mut VectorStore,
    encoder: &dyn Encoder,
    mut stop: impl FnMut(&Progress) -> bool,
) -> Result<Progress, StoreError> {
    bind(store, vectors, encoder)?;
    let mut progress = Progress::default();
    loop {
        progress.left = store.read().owed_vectors_count()?;
        if progress.left == 0 || stop(&progress) {
            return Ok(progress);
        }
        batch(store, vectors, encoder, &mut progress)?;
    }
}

/// Removes vectors of rows that are gone, and embeds nothing: what forgetting ends with.
pub fn sweep(store: &mut Store, vectors: &mut VectorStore) -> Result<u64, StoreError> {
    let mut removed = 0;
    loop {
        let owed = store.read().owed_vectors(INDEX_BATCH_ROWS)?;
        let gone: Vec<Owed> = owed
            .into_iter()
            .filter(|owed| owed.text.is_none())
            .collect();
        if gone.is_empty() {
            return Ok(removed);
        }
        let keys: Vec<RowKey> = gone.iter().map(|owed| (owed.kind, owed.row_id)).collect();
        vectors.change(&[], &keys)?;
        settle(store, &gone)?;
        removed += gone.len() as u64;
    }
}

/// Forgets every vector and owes them all.
pub fn rebuild(store: &mut Store, vectors: &mut VectorStore) -> Result<(), StoreError> {
    #[allow(
        clippy::redundant_closure_for_method_calls,
        reason = "the method itself is of one lifetime"
    )]
    store.write(|tx| tx.owe_all_vectors())?;
    vectors.clear()
}

/// A file that this database has not filled yet, or not by this encoder, is owed everything.
fn bind(store: &mut Store, vectors: &VectorStore, encoder: &dyn Encoder) -> Result<(), StoreError> {
    let file = format!("{} {}", vectors.uid()?, encoder.id());
    if store.read().meta(FILE_KEY)?.as_deref() == Some(&file) {
        return Ok(());
    }
    store.write(|tx| {
        tx.owe_all_vectors()?;
        tx.set_meta(FILE_KEY, &file)
    })
}

/// Compares every row with every vector and owes what differs: for a start after a power cut, a
/// restored backup or a replaced file. Reads indexes only.
pub fn reconcile(store: &mut Store, vectors: &VectorStore) -> Result<u64, StoreError> {
    let mut made: HashMap<RowKey, Option<MadeFrom>> = HashMap::new();
    vectors.each(|kind, row_id, from| {
        made.insert((kind, row_id), from);
    })?;
    let mut owed = Vec::new();
    store.read().each_embeddable(|kind, row_id, text| {
        let from = made.remove(&(kind, row_id)).flatten();
        let wanted = MadeFrom {
            text_hash: text.text_hash,
            project: text.project,
        };
        if from != Some(wanted) {
            owed.push((kind, row_id, text.created_at));
        }
    })?;
    let orphans: HashSet<RowKey> = made.into_keys().collect();
    let count = owed.len() + orphans.len();
    if count > 0 {
        store.write(|tx| {
            for (kind, row_id, at) in owed {
                tx.owe_vectors(kind, row_id, at)?;
            }
            for (kind, row_id) in orphans {
                tx.owe_removal(kind, row_id)?;
            }
            Ok(())
        })?;
    }
    Ok(count as u64)
}

fn batch(
    store: &mut Store,
    vectors: &mut VectorStore,
    encoder: &dyn Encoder,
    progress: &mut Progress,
) -> Result<(), StoreError> {
    let mut put = Vec::new();
    let mut remove = Vec::new();
    let mut to_embed = Vec::new();
    // One view of the database: the hash belongs to the very text that is read.
    let owed = store.view(|reads| {
        let owed = reads.owed_vectors(INDEX_BATCH_ROWS)?;
        for row in &owed {
            let Some(text) = row.text else {
                remove.push((row.kind, row.row_id));
                continue;
            };
            let made = vectors.made_from(row.kind, row.row_id)?;
            if made.is_some_and(|made| made.text_hash == text.text_hash) {
                if made.is_some_and(|made| made.project != text.project)
                    && let Some(entry) = vectors.entry(row.kind, row.row_id)?
                {
                    let project = text.project;
                    put.push(RowVectors { project, ..entry });
                }
                continue;
            }
            let texts = subdocuments(reads, row.kind, row.row_id)?;
            if texts.is_empty() {
                remove.push((row.kind, row.row_id));
            } else {
                to_embed.push((*row, text, texts));
            }
        }
        Ok(owed)
    })?;
    let texts: Vec<&str> = to_embed
        .iter()
        .flat_map(|(_, _, texts)| texts.iter().map(String::as_str))
        .collect();
    let mut made = encoder.texts(&texts).into_iter();
    for (row, text, texts) in &to_embed {
        put.push(row_vectors(row, text, made.by_ref().take(texts.len())));
    }
    vectors.change(&put, &remove)?;
    progress.embedded += to_embed.len() as u64;
    progress.removed += remove.len() as u64;
    settle(store, &owed)
}

/// What is kept of one row: the vectors of its parts, and of which text they were made.
pub fn row_vectors(
    row: &Owed,
    text: &OwedText,
    vectors: impl IntoIterator<Item = Vec<f32>>,
) -> RowVectors {
    let (mut parts, mut bits) = (Vec::new(), Vec::new());
    for vector in vectors {
        pack(&vector, &mut parts);
        pack_signs(&vector, &mut bits);
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

fn settle(store: &mut Store, done: &[Owed]) -> Result<(), StoreError> {
    store.write(|tx| {
        for owed in done {
            tx.settle_vectors(owed)?;
        }
        Ok(())
    })
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
