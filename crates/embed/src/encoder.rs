//! Token ids to vectors: the layers of the transformer over a few texts at once.
//!
//! Texts are laid end to end without padding, so a short one beside a long one costs
//! only itself. Buffers are made once and serve every layer and every call.

use crate::attention::{Attention, HeadScratch};
use crate::format::{Header, Pooling};
use crate::kernels::{Matrix, Norm, Rows, float};
use crate::simd::Path;

/// Rows that go through a layer's products together: their activations stay in the
/// processor's second cache while the weights pass by.
const BLOCK_ROWS: usize = 48;

/// One layer of the weights file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layer<'m> {
    pub(crate) attention: Matrix<'m>,
    pub(crate) mix: Matrix<'m>,
    pub(crate) mix_norm: Norm<'m>,
    pub(crate) widen: Matrix<'m>,
    pub(crate) narrow: Matrix<'m>,
    pub(crate) narrow_norm: Norm<'m>,
}

/// What tokens are before the first layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Embeddings<'m> {
    pub(crate) word_scales: &'m [[u8; 4]],
    pub(crate) words: &'m [i8],
    pub(crate) positions: &'m [[u8; 4]],
    pub(crate) norm: Norm<'m>,
}

/// Buffers of one encoder, sized for the rows of one batch.
#[derive(Debug)]
pub(crate) struct Scratch {
    rows: Vec<f32>,
    attention: Vec<f32>,
    mixed: Vec<f32>,
    wide: Vec<f32>,
    narrow: Vec<f32>,
    pairs: Vec<u32>,
    scales: Vec<f32>,
    head: HeadScratch,
}

impl Scratch {
    /// Room for `rows` tokens in all, of which one text has at most `tokens`.
    pub(crate) fn new(header: &Header, rows: usize, tokens: usize) -> Scratch {
        let width = header.width;
        let block = BLOCK_ROWS.min(rows);
        Scratch {
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

/// Runs the encoder over `texts` and hands each text's unit vector to `take`, in order.
/// Each text has at least one token and no more than the model has positions.
pub(crate) fn run<'m>(
    path: Path,
    header: &Header,
    embeddings: &Embeddings<'m>,
    layers: impl Iterator<Item = Layer<'m>>,
    texts: &[Vec<u32>],
    scratch: &mut Scratch,
    mut take: impl FnMut(Vec<f32>),
) {
    let width = header.width;
    let mut at = 0;
    for text in texts {
        embed(
            embeddings,
            text,
            &mut scratch.rows[at..at + text.len() * width],
        );
        at += text.len() * width;
    }
    for layer in layers {
        run_layer(path, header, &layer, texts, scratch, at / width);
    }
    let mut rows = &scratch.rows[..at];
    for text in texts {
        let (own, rest) = rows.split_at(text.len() * width);
        take(pooled(header, own));
        rows = rest;
    }
}

fn embed(embeddings: &Embeddings<'_>, ids: &[u32], rows: &mut [f32]) {
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
    path: Path,
    header: &Header,
    layer: &Layer<'_>,
    texts: &[Vec<u32>],
    scratch: &mut Scratch,
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
        let input = Attention {
            rows,
            width,
            heads: header.heads,
        };
        path.attend(input, &mut scratch.head, &mut scratch.mixed[own]);
        at += text.len();
    }
    for first in (0..rows).step_by(BLOCK_ROWS) {
        finish_block(
            path,
            header,
            layer,
            scratch,
            first..rows.min(first + BLOCK_ROWS),
        );
    }
}

/// Everything behind the attention, which no longer looks at neighbours.
fn finish_block(
    path: Path,
    header: &Header,
    layer: &Layer<'_>,
    scratch: &mut Scratch,
    block: std::ops::Range<usize>,
) {
    let width = header.width;
    let values = block.start * width..block.end * width;
    let mixed = &scratch.mixed[values.clone()];
    let rows = &mut scratch.rows[values];
    let narrow = &mut scratch.narrow[..rows.len()];
    let wide = &mut scratch.wide[..block.len() * header.ffn];
    let (pairs, scales) = (&mut scratch.pairs, &mut scratch.scales);
    product(path, mixed, &layer.mix, (pairs, scales), narrow);
    path.add_and_norm(rows, narrow, layer.mix_norm);
    product(path, rows, &layer.widen, (pairs, scales), wide);
    path.gelu(wide);
    product(path, wide, &layer.narrow, (pairs, scales), narrow);
    path.add_and_norm(rows, narrow, layer.narrow_norm);
}

fn product(
    path: Path,
    input: &[f32],
    matrix: &Matrix<'_>,
    (pairs, scales): (&mut Vec<u32>, &mut Vec<f32>),
    out: &mut [f32],
) {
    let pairs = &mut pairs[..input.len() / 2];
    let scales = &mut scales[..input.len() / matrix.inputs];
    path.quantize_rows(input, matrix.inputs, pairs, scales);
    path.product(Rows { pairs, scales }, matrix, out);
}

fn pooled(header: &Header, rows: &[f32]) -> Vec<f32> {
    let mut vector = rows[..header.width].to_vec();
    if header.pooling == Pooling::Mean {
        for row in rows.chunks_exact(header.width).skip(1) {
            vector
                .iter_mut()
                .zip(row)
                .for_each(|(sum, value)| *sum += value);
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
