//! Reads a published BERT model ([`BertCheckpoint`]): tensors, vocabulary, configuration.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, ensure};
use serde::Deserialize;

/// A published model in memory.
#[derive(Debug)]
pub(super) struct BertCheckpoint {
    pub(super) config: BertConfig,
    pub(super) first_token_pooling: bool,
    pub(super) vocab: Vec<String>,
    tensors: BTreeMap<String, TensorEntry>,
    bytes: Vec<u8>,
}

/// The part of `config.json` that shapes the encoder.
#[derive(Debug, Deserialize)]
pub(super) struct BertConfig {
    pub(super) hidden_size: usize,
    pub(super) intermediate_size: usize,
    pub(super) num_hidden_layers: usize,
    pub(super) num_attention_heads: usize,
    pub(super) max_position_embeddings: usize,
    pub(super) layer_norm_eps: f32,
    hidden_act: String,
}

/// The part of `1_Pooling/config.json` that we use.
#[derive(Default, Deserialize)]
#[serde(default)]
struct PoolingConfig {
    pooling_mode_cls_token: bool,
}

/// An entry of the safetensors index.
#[derive(Debug, Deserialize)]
struct TensorEntry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

/// A matrix as published, with one row per output.
#[derive(Clone, Debug)]
pub(super) struct Tensor {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) values: Vec<f32>,
}

impl Tensor {
    pub(super) fn row(&self, index: usize) -> &[f32] {
        &self.values[index * self.columns..][..self.columns]
    }
}

/// Reads the model files of this directory.
pub(super) fn read_checkpoint(directory: &Path) -> anyhow::Result<BertCheckpoint> {
    let config: BertConfig = read_json(&directory.join("config.json"))?;
    ensure!(config.hidden_act == "gelu", "the encoder supports only gelu, not {}", config.hidden_act);
    let pooling_path = directory.join("1_Pooling/config.json");
    let pooling: PoolingConfig =
        if pooling_path.exists() { read_json(&pooling_path)? } else { PoolingConfig::default() };
    let vocab = String::from_utf8(read_file(&directory.join("vocab.txt"))?)?;
    let bytes = read_file(&directory.join("model.safetensors"))?;
    let (tensors, start) = read_tensor_index(&bytes).context("model.safetensors")?;
    Ok(BertCheckpoint {
        config,
        first_token_pooling: pooling.pooling_mode_cls_token,
        vocab: vocab.lines().map(str::to_owned).collect(),
        tensors,
        bytes: bytes[start..].to_vec(),
    })
}

/// The safetensors index, and the offset of the data after it.
fn read_tensor_index(bytes: &[u8]) -> anyhow::Result<(BTreeMap<String, TensorEntry>, usize)> {
    let (length, rest) = bytes.split_first_chunk().context("too short")?;
    let length = usize::try_from(u64::from_le_bytes(*length))?;
    let table = rest.get(..length).context("shorter than its index")?;
    let mut table: BTreeMap<String, serde_json::Value> = serde_json::from_slice(table)?;
    table.remove("__metadata__");
    let tensors = table.into_iter().map(|(name, at)| Ok((name, serde_json::from_value(at)?)));
    Ok((tensors.collect::<anyhow::Result<_>>()?, length + 8))
}

impl BertCheckpoint {
    /// The tensor of this name; an error if it does not have this many rows and columns.
    pub(super) fn tensor(&self, name: &str, rows: usize, columns: usize) -> anyhow::Result<Tensor> {
        let at = self.find(name)?;
        let shape: &[usize] = if rows == 1 { &[columns] } else { &[rows, columns] };
        ensure!(at.dtype == "F32", "{name} is {}, not F32", at.dtype);
        ensure!(at.shape == shape, "{name} is {:?}, not {shape:?}", at.shape);
        let data = self.bytes.get(at.data_offsets.0..at.data_offsets.1);
        let (floats, rest) = data.context("a tensor lies outside the file")?.as_chunks();
        ensure!(rest.is_empty() && floats.len() == rows * columns, "{name} is cut off");
        let values = floats.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        Ok(Tensor { rows, columns, values })
    }

    /// Finds a tensor by name, also with the prefix `bert.` that some publishers use.
    fn find(&self, name: &str) -> anyhow::Result<&TensorEntry> {
        let found = self.tensors.get(name).or_else(|| self.tensors.get(&format!("bert.{name}")));
        found.with_context(|| format!("the model has no {name}"))
    }
}

fn read_json<T: for<'a> Deserialize<'a>>(path: &Path) -> anyhow::Result<T> {
    serde_json::from_slice(&read_file(path)?).with_context(|| format!("parsing {}", path.display()))
}

fn read_file(path: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("reading {}", path.display()))
}
