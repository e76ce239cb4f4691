//! An encoder that uses all cores and, for tuning runs, caches its vectors in a file.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use claude_mem_search::TextEncoder;

/// The built-in model with an optional cache of vectors, keyed by a hash of the text.
pub(crate) struct CachingEncoder {
    file: Option<PathBuf>,
    cache: Mutex<HashMap<u64, Vec<f32>>>,
}

impl CachingEncoder {
    pub(crate) fn open(file: Option<&Path>) -> Self {
        let mut known = HashMap::new();
        if let Some(bytes) = file.and_then(|file| std::fs::read(file).ok()) {
            let width = embed::EmbeddingModel::built_in().width();
            for entry in bytes.chunks_exact(8 + 4 * width) {
                let (hash, vector) = entry.split_at(8);
                let vector = vector.as_chunks().0.iter().map(|x| f32::from_le_bytes(*x));
                let hash = hash.try_into().map_or(0, u64::from_le_bytes);
                known.insert(hash, vector.collect());
            }
        }
        Self { file: file.map(Path::to_owned), cache: Mutex::new(known) }
    }

    /// Appends one vector to the cache file at once, so that an interrupted run keeps its work.
    fn append_to_file(&self, key: u64, vector: &[f32]) -> std::io::Result<()> {
        let Some(path) = &self.file else {
            return Ok(());
        };
        let mut bytes = key.to_le_bytes().to_vec();
        bytes.extend(vector.iter().flat_map(|x| x.to_le_bytes()));
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        file.write_all(&bytes)
    }

    fn add(&self, key: u64, vector: &[f32]) {
        if let Err(error) = self.append_to_file(key, vector) {
            eprintln!("vector not cached: {error}");
        }
        self.lock_cache().insert(key, vector.to_vec());
    }

    fn lock_cache(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Vec<f32>>> {
        self.cache.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl TextEncoder for CachingEncoder {
    fn id(&self) -> &str {
        embed::EmbeddingModel::built_in().id()
    }

    fn width(&self) -> usize {
        embed::EmbeddingModel::built_in().width()
    }

    fn embed_query(&self, text: &str) -> Vec<f32> {
        if self.file.is_none() {
            return TextEncoder::embed_query(embed::EmbeddingModel::built_in(), text);
        }
        let key = cache_key("query", text);
        if let Some(vector) = self.lock_cache().get(&key) {
            return vector.clone();
        }
        let vector = TextEncoder::embed_query(embed::EmbeddingModel::built_in(), text);
        self.add(key, &vector);
        vector
    }

    fn embed_documents(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        let keys: Vec<u64> = texts.iter().map(|text| cache_key("text", text)).collect();
        let mut made: Vec<Option<Vec<f32>>> = {
            let known = self.lock_cache();
            keys.iter().map(|key| known.get(key).cloned()).collect()
        };
        let missing: Vec<usize> = (0..texts.len()).filter(|&at| made[at].is_none()).collect();
        let wanted: Vec<&str> = missing.iter().map(|&at| texts[at]).collect();
        for (at, vector) in missing.into_iter().zip(encode_parallel(&wanted)) {
            if self.file.is_some() {
                self.add(keys[at], &vector);
            }
            made[at] = Some(vector);
        }
        made.into_iter().map(Option::unwrap_or_default).collect()
    }
}

fn cache_key(what: &str, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (embed::EmbeddingModel::built_in().id(), what, text).hash(&mut hasher);
    hasher.finish()
}

fn encode_parallel(texts: &[&str]) -> Vec<Vec<f32>> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let each = texts.len().div_ceil(cores).max(1);
    std::thread::scope(|threads| {
        let running: Vec<_> = texts
            .chunks(each)
            .map(|chunk| threads.spawn(|| embed::EmbeddingModel::built_in().encode_batch(chunk)))
            .collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    })
}
