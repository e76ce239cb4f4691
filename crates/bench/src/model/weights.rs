//! Converts a published model into the weights file.
//!
//! Weights are quantized to eight-bit integers. Each output channel has its own scale for
//! every group of inputs: with one scale per channel a few large weights cost all others
//! their precision, and the cosine to the original fell to .996 for the shortest texts.

use anyhow::{Context as _, ensure};
use embed::format::{self, GROUP, ModelHeader, Pooling};
use embed::layout::{MatrixLayout, ModelLayout};

use super::checkpoint::{BertCheckpoint, Tensor};

const INT8_MAX: f32 = 127.0;

/// Metadata that the published files do not contain.
#[derive(Debug)]
pub(super) struct ModelMetadata<'a> {
    pub(super) id: &'a str,
    pub(super) query_prefix: &'a str,
    pub(super) passage_prefix: &'a str,
    pub(super) tokens_max: usize,
}

/// Builds the weights file from a checkpoint.
pub(super) fn convert(from: &BertCheckpoint, names: &ModelMetadata<'_>) -> anyhow::Result<Vec<u8>> {
    let mut header = header(from, names)?;
    let layout = ModelLayout::for_header(&header);
    let mut file = WeightsBuffer { bytes: vec![0; layout.bytes] };
    file.put(layout.id, names.id.as_bytes());
    file.put(layout.query_prefix, names.query_prefix.as_bytes());
    file.put(layout.passage_prefix, names.passage_prefix.as_bytes());
    put_vocab(&mut file, &header, &layout, &from.vocab)?;
    put_embeddings(&mut file, &header, &layout, from)?;
    for index in 0..header.layers {
        put_layer(&mut file, &header, &layout, index, from).with_context(|| format!("layer {index}"))?;
    }
    header.checksum = format::checksum(format::payload(&file.bytes));
    file.put(0, &header.to_bytes());
    ModelHeader::parse(&file.bytes)?;
    Ok(file.bytes)
}

fn header(from: &BertCheckpoint, names: &ModelMetadata<'_>) -> anyhow::Result<ModelHeader> {
    let config = &from.config;
    let vocab = &from.vocab;
    let id_of = |name: &str| {
        let at = vocab.iter().position(|piece| piece == name);
        at.map(|id| id as u32).with_context(|| format!("the vocabulary has no {name}"))
    };
    ensure!(names.tokens_max <= config.max_position_embeddings, "tokens_max exceeds the model's positions");
    Ok(ModelHeader {
        layers: config.num_hidden_layers,
        width: config.hidden_size,
        heads: config.num_attention_heads,
        ffn: config.intermediate_size,
        vocab: vocab.len(),
        tokens_max: names.tokens_max,
        pooling: if from.first_token_pooling { Pooling::First } else { Pooling::Mean },
        slots: (vocab.len() * 2).next_power_of_two(),
        pieces_bytes: vocab.iter().map(String::len).sum(),
        piece_bytes_max: vocab.iter().map(String::len).max().unwrap_or(0),
        unknown_id: id_of("[UNK]")?,
        start_id: id_of("[CLS]")?,
        end_id: id_of("[SEP]")?,
        norm_epsilon: config.layer_norm_eps,
        id_bytes: names.id.len(),
        query_prefix_bytes: names.query_prefix.len(),
        passage_prefix_bytes: names.passage_prefix.len(),
        checksum: 0,
    })
}

/// The weights file under construction.
struct WeightsBuffer {
    bytes: Vec<u8>,
}

impl WeightsBuffer {
    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn put_floats(&mut self, at: usize, values: &[f32]) {
        for (index, value) in values.iter().enumerate() {
            self.put(at + index * 4, &value.to_le_bytes());
        }
    }
}

fn put_vocab(
    file: &mut WeightsBuffer,
    header: &ModelHeader,
    layout: &ModelLayout,
    vocab: &[String],
) -> anyhow::Result<()> {
    let mut end = 0;
    for (id, piece) in vocab.iter().enumerate() {
        file.put(layout.pieces + end, piece.as_bytes());
        end += piece.len();
        file.put(layout.piece_ends + id * 4, &(end as u32).to_le_bytes());
    }
    let table = format::hash_table(vocab.iter().map(String::as_str), header.slots);
    for (index, slot) in table.context("the hash table is too full")?.iter().enumerate() {
        file.put(layout.slots + index * 4, &slot.to_le_bytes());
    }
    Ok(())
}

fn put_embeddings(
    file: &mut WeightsBuffer,
    header: &ModelHeader,
    layout: &ModelLayout,
    from: &BertCheckpoint,
) -> anyhow::Result<()> {
    let width = header.width;
    let words = from.tensor("embeddings.word_embeddings.weight", header.vocab, width)?;
    for id in 0..header.vocab {
        let (scale, integers) = quantized(words.row(id));
        file.put_floats(layout.word_scales + id * 4, &[scale]);
        file.put(layout.words + id * width, &integers);
    }
    let positions = from.config.max_position_embeddings;
    let positions = from.tensor("embeddings.position_embeddings.weight", positions, width)?;
    let types = from.tensor("embeddings.token_type_embeddings.weight", 2, width)?;
    for at in 0..header.tokens_max {
        let sums = positions.row(at).iter().zip(types.row(0)).map(|(a, b)| a + b);
        file.put_floats(layout.positions + at * width * 4, &sums.collect::<Vec<_>>());
    }
    put_norm(file, layout.norm, from, "embeddings.LayerNorm", width)
}

fn put_layer(
    file: &mut WeightsBuffer,
    header: &ModelHeader,
    layout: &ModelLayout,
    index: usize,
    from: &BertCheckpoint,
) -> anyhow::Result<()> {
    let (at, width) = (&layout.layer, header.width);
    let start = layout.layers + at.bytes * index;
    let name = |part: &str| format!("encoder.layer.{index}.{part}");
    let linear = |part: &str, rows: usize, columns: usize| -> anyhow::Result<(Tensor, Tensor)> {
        let weight = from.tensor(&name(&format!("{part}.weight")), rows, columns)?;
        Ok((weight, from.tensor(&name(&format!("{part}.bias")), 1, rows)?))
    };
    let attention = stacked([
        scaled(linear("attention.self.query", width, width)?, head_scale(header)),
        linear("attention.self.key", width, width)?,
        linear("attention.self.value", width, width)?,
    ]);
    put_matrix(file, start, &at.attention, &attention);
    put_matrix(file, start, &at.attention_output, &linear("attention.output.dense", width, width)?);
    put_norm(file, start + at.attention_norm, from, &name("attention.output.LayerNorm"), width)?;
    put_matrix(file, start, &at.ffn_up, &linear("intermediate.dense", header.ffn, width)?);
    put_matrix(file, start, &at.ffn_down, &linear("output.dense", width, header.ffn)?);
    put_norm(file, start + at.ffn_norm, from, &name("output.LayerNorm"), width)
}

/// The attention scale `1/√d`, folded into the query weights.
fn head_scale(header: &ModelHeader) -> f32 {
    1.0 / ((header.width / header.heads) as f32).sqrt()
}

fn scaled((mut weight, mut bias): (Tensor, Tensor), by: f32) -> (Tensor, Tensor) {
    for value in weight.values.iter_mut().chain(&mut bias.values) {
        *value *= by;
    }
    (weight, bias)
}

/// Concatenates the outputs of several linear layers into one matrix.
fn stacked(parts: [(Tensor, Tensor); 3]) -> (Tensor, Tensor) {
    let [mut whole, second, third] = parts;
    for part in [second, third] {
        whole.0.rows += part.0.rows;
        whole.0.values.extend(part.0.values);
        whole.1.columns += part.1.columns;
        whole.1.values.extend(part.1.values);
    }
    whole
}

fn put_matrix(file: &mut WeightsBuffer, start: usize, at: &MatrixLayout, (weight, bias): &(Tensor, Tensor)) {
    file.put_floats(start + at.bias, &bias.values);
    for output in 0..at.outputs {
        for (group, values) in weight.row(output).chunks_exact(GROUP).enumerate() {
            let (scale, integers) = quantized(values);
            file.put_floats(start + at.scales + at.scale(output, group) * 4, &[scale]);
            for (index, integer) in integers.into_iter().enumerate() {
                let input = group * GROUP + index;
                file.bytes[start + at.weights + at.weight(output, input)] = integer;
            }
        }
    }
}

fn put_norm(
    file: &mut WeightsBuffer,
    at: usize,
    from: &BertCheckpoint,
    name: &str,
    width: usize,
) -> anyhow::Result<()> {
    file.put_floats(at, &from.tensor(&format!("{name}.weight"), 1, width)?.values);
    file.put_floats(at + width * 4, &from.tensor(&format!("{name}.bias"), 1, width)?.values);
    Ok(())
}

/// Quantizes values to int8 (two's complement bytes) with one scale.
fn quantized(values: &[f32]) -> (f32, Vec<u8>) {
    let largest = values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    let steps = if largest > 0.0 { INT8_MAX / largest } else { 0.0 };
    let integers = values.iter().map(|value| (value * steps).round_ties_even() as i8 as u8);
    (largest / INT8_MAX, integers.collect())
}
