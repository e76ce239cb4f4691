//! Runs the transformer layers over a batch of texts: token ids in, unit vectors out.
//!
//! Texts are concatenated without padding, so a short text beside a long one costs only its own
//! length. Buffers are allocated once and reused for every layer and batch.

use crate::attention::{AttentionInput, HeadScratch};
use crate::format::{ModelHeader, Pooling};
use crate::kernels::{LayerNorm, QuantizedRows, WeightMatrix, float};
use crate::simd::SimdPath;

/// Rows that pass through a layer's matrix products together: their activations stay in the L2
/// cache while the weights stream by.
const BLOCK_ROWS: usize = 48;

/// The weights of one layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EncoderLayer<'m> {
    pub(crate) attention: WeightMatrix<'m>,
    pub(crate) attention_output: WeightMatrix<'m>,
    pub(crate) attention_norm: LayerNorm<'m>,
    pub(crate) ffn_up: WeightMatrix<'m>,
    pub(crate) ffn_down: WeightMatrix<'m>,
    pub(crate) ffn_norm: LayerNorm<'m>,
}

/// The token and position embeddings before the first layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EmbeddingTable<'m> {
    pub(crate) word_scales: &'m [[u8; 4]],
    pub(crate) words: &'m [i8],
    pub(crate) positions: &'m [[u8; 4]],
    pub(crate) norm: LayerNorm<'m>,
}

/// Buffers for the rows of one batch.
#[derive(Debug)]
pub(crate) struct EncoderScratch {
    rows: Vec<f32>,
    attention: Vec<f32>,
    mixed: Vec<f32>,
    wide: Vec<f32>,
    narrow: Vec<f32>,
    pairs: Vec<u32>,
    scales: Vec<f32>,
    head: HeadScratch,
}

impl EncoderScratch {
    /// Allocates for `rows` tokens in total, at most `tokens` per text.
    pub(crate) fn new(header: &ModelHeader, rows: usize, tokens: usize) -> EncoderScratch {
        let width = header.width;
        let block = BLOCK_ROWS.min(rows);
        EncoderScratch {
            rows: vec![0.0; rows * width],
            attention: vec![0.0; rows * width * 3],
            mixed: vec![0.0; rows * width],
            wide: vec![0.0; block * header.ffn],
            narrow: vec![0.0; block * width],
            pairs: vec![0; block * width.max(header.ffn) / 2],
            scales: vec![0.0; block],
            head: HeadScratch::new(tokens, width / header.heads),
        }
    }
}

/// Runs the encoder over `texts` and passes each text's unit vector to `take`, in order. Each text
/// must have at least one token and no more than the model has positions.
pub(crate) fn run<'m>(
    path: SimdPath,
    header: &ModelHeader,
    embeddings: &EmbeddingTable<'m>,
    layers: impl Iterator<Item = EncoderLayer<'m>>,
    texts: &[Vec<u32>],
    scratch: &mut EncoderScratch,
    mut take: impl FnMut(Vec<f32>),
) {
    let width = header.width;
    let mut at = 0;
    for text in texts {
        embed(embeddings, text, &mut scratch.rows[at..at + text.len() * width]);
        at += text.len() * width;
    }
    for layer in layers {
        run_layer(path, header, &layer, texts, scratch, at / width);
    }
    let mut rows = &scratch.rows[..at];
    for text in texts {
        let (own, rest) = rows.split_at(text.len() * width);
        take(pool(header, own));
        rows = rest;
    }
}

fn embed(embeddings: &EmbeddingTable<'_>, ids: &[u32], rows: &mut [f32]) {
    let width = embeddings.norm.gains.len();
    let positions = embeddings.positions.chunks_exact(width);
    for ((id, row), position) in ids.iter().zip(rows.chunks_exact_mut(width)).zip(positions) {
        let id = *id as usize;
        let scale = float(&embeddings.word_scales[id]);
        let word = &embeddings.words[id * width..][..width];
        for ((value, weight), position) in row.iter_mut().zip(word).zip(position) {
            *value = f32::from(*weight) * scale + float(position);
        }
        crate::kernels::norm_row(row, embeddings.norm);
    }
}

fn run_layer(
    path: SimdPath,
    header: &ModelHeader,
    layer: &EncoderLayer<'_>,
    texts: &[Vec<u32>],
    scratch: &mut EncoderScratch,
    rows: usize,
) {
    let width = header.width;
    for first in (0..rows).step_by(BLOCK_ROWS) {
        let block = first..rows.min(first + BLOCK_ROWS);
        let input = &scratch.rows[block.start * width..block.end * width];
        let out = &mut scratch.attention[block.start * width * 3..block.end * width * 3];
        let quantized = (&mut scratch.pairs, &mut scratch.scales);
        product(path, input, &layer.attention, quantized, out);
    }
    let mut at = 0;
    for text in texts {
        let own = at * width..(at + text.len()) * width;
        let rows = &scratch.attention[own.start * 3..own.end * 3];
        let input = AttentionInput { rows, width, heads: header.heads };
        path.attend(input, &mut scratch.head, &mut scratch.mixed[own]);
        at += text.len();
    }
    for first in (0..rows).step_by(BLOCK_ROWS) {
        finish_block(path, header, layer, scratch, first..rows.min(first + BLOCK_ROWS));
    }
}

/// The part of a layer after attention, which works on each row separately.
fn finish_block(
    path: SimdPath,
    header: &ModelHeader,
    layer: &EncoderLayer<'_>,
    scratch: &mut EncoderScratch,
    block: std::ops::Range<usize>,
) {
    let width = header.width;
    let values = block.start * width..block.end * width;
    let mixed = &scratch.mixed[values.clone()];
    let rows = &mut scratch.rows[values];
    let narrow = &mut scratch.narrow[..rows.len()];
    let wide = &mut scratch.wide[..block.len() * header.ffn];
    let (pairs, scales) = (&mut scratch.pairs, &mut scratch.scales);
    product(path, mixed, &layer.attention_output, (pairs, scales), narrow);
    path.add_and_norm(rows, narrow, layer.attention_norm);
    product(path, rows, &layer.ffn_up, (pairs, scales), wide);
    path.gelu(wide);
    product(path, wide, &layer.ffn_down, (pairs, scales), narrow);
    path.add_and_norm(rows, narrow, layer.ffn_norm);
}

fn product(
    path: SimdPath,
    input: &[f32],
    matrix: &WeightMatrix<'_>,
    (pairs, scales): (&mut Vec<u32>, &mut Vec<f32>),
    out: &mut [f32],
) {
    let pairs = &mut pairs[..input.len() / 2];
    let scales = &mut scales[..input.len() / matrix.inputs];
    path.quantize_rows(input, matrix.inputs, pairs, scales);
    path.product(QuantizedRows { pairs, scales }, matrix, out);
}

/// Pools the rows of one text into its unit vector.
fn pool(header: &ModelHeader, rows: &[f32]) -> Vec<f32> {
    let mut vector = rows[..header.width].to_vec();
    if header.pooling == Pooling::Mean {
        for row in rows.chunks_exact(header.width).skip(1) {
            vector.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
    }
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        for value in &mut vector {
            *value /= length;
        }
    }
    vector
}
