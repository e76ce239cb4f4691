//! Reads a BERT model as it is published: tensors, vocabulary, configuration.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, ensure};
use serde::Deserialize;

/// A published model in memory.
#[derive(Debug)]
pub(super) struct Checkpoint {
    pub(super) config: Config,
    pub(super) first_token_pooling: bool,
    pub(super) vocab: Vec<String>,
    tensors: BTreeMap<String, TensorAt>,
    bytes: Vec<u8>,
}

/// The part of `config.json` that shapes the encoder.
#[derive(Debug, Deserialize)]
pub(super) struct Config {
    pub(super) hidden_size: usize,
    pub(super) intermediate_size: usize,
    pub(super) num_hidden_layers: usize,
    pub(super) num_attention_heads: usize,
    pub(super) max_position_embeddings: usize,
    pub(super) layer_norm_eps: f32,
    hidden_act: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PoolingConfig {
    pooling_mode_cls_token: bool,
}

#[derive(Debug, Deserialize)]
struct TensorAt {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

/// A matrix as published: one row per output.
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

pub(super) fn read(directory: &Path) -> anyhow::Result<Checkpoint> {
    let config: Config = json(&directory.join("config.json"))?;
    ensure!(
        config.hidden_act == "gelu",
        "the encoder knows gelu, not {}",
        config.hidden_act
    );
    let pooling_path = directory.join("1_Pooling/config.json");
    let pooling: PoolingConfig = if pooling_path.exists() {
        json(&pooling_path)?
    } else {
        PoolingConfig::default()
    };
    let vocab = String::from_utf8(file(&directory.join("vocab.txt"))?)?;
    let bytes = file(&directory.join("model.safetensors"))?;
    let (tensors, start) = index(&bytes).context("model.safetensors")?;
    Ok(Checkpoint {
        config,
        first_token_pooling: pooling.pooling_mode_cls_token,
        vocab: vocab.lines().map(str::to_owned).collect(),
        tensors,
        bytes: bytes[start..].to_vec(),
    })
}

/// The table of tensors, and where the data behind it starts.
fn index(bytes: &[u8]) -> anyhow::Result<(BTreeMap<String, TensorAt>, usize)> {
    let (length, rest) = bytes.split_first_chunk().context("too short")?;
    let length = usize::try_from(u64::from_le_bytes(*length))?;
    let table = rest.get(..length).context("shorter than its table")?;
    let mut table: BTreeMap<String, serde_json::Value> = serde_json::from_slice(table)?;
    table.remove("__metadata__");
    let tensors = table
        .into_iter()
        .map(|(name, at)| Ok((name, serde_json::from_value(at)?)));
    Ok((tensors.collect::<anyhow::Result<_>>()?, length + 8))
}

impl Checkpoint {
    /// A tensor by name, which must have this many rows and columns.
    pub(super) fn tensor(&self, name: &str, rows: usize, columns: usize) -> anyhow::Result<Tensor> {
        let at = self.find(name)?;
        let shape: &[usize] = if rows == 1 {
            &[columns]
        } else {
            &[rows, columns]
        };
        ensure!(at.dtype == "F32", "{name} is {}, not F32", at.dtype);
        ensure!(at.shape == shape, "{name} is {:?}, not {shape:?}", at.shape);
        let data = self.bytes.get(at.data_offsets.0..at.data_offsets.1);
        let (floats, rest) = data.context("a tensor outside the file")?.as_chunks();
        ensure!(
            rest.is_empty() && floats.len() == rows * columns,
            "{name} is cut off"
        );
        let values = floats
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes))
            .collect();
        Ok(Tensor {
            rows,
            columns,
            values,
        })
    }

    /// Some publish their tensors under `bert.`.
    fn find(&self, name: &str) -> anyhow::Result<&TensorAt> {
        let found = self
            .tensors
            .get(name)
            .or_else(|| self.tensors.get(&format!("bert.{name}")));
        found.with_context(|| format!("the model has no {name}"))
    }
}

fn json<T: for<'a> Deserialize<'a>>(path: &Path) -> anyhow::Result<T> {
    serde_json::from_slice(&file(path)?).with_context(|| format!("parsing {}", path.display()))
}

fn file(path: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("reading {}", path.display()))
}
