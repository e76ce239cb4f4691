//! Self-attention over the tokens of one text.
//!
//! Eight queries are processed at once, one per register lane: their scores are side by side, so
//! that maximum, exponential and sum need no cross-lane operations. Keys also come in groups of
//! eight, the number of sums the processor can keep in flight. Like all of [`crate::kernels`], this
//! is safe code that is inlined into the portable path and the AVX2 path; `avx512_attention.rs` has
//! the same loops for sixteen queries.

#![allow(clippy::inline_always, reason = "a call would lose the caller's instructions")]

use crate::kernels::{exp, larger, multiply_add};

/// Queries of a group.
const LANES: usize = 8;
/// Maximum queries of a group on any path: the lanes of the widest register.
const LANES_MAX: usize = 16;
/// Keys of a group, and columns of the values that are summed together.
pub(crate) const GROUP_KEYS: usize = 8;
/// One number per query of a group.
type QueryLanes = [f32; LANES];

/// The queries, keys and values of one text, concatenated in each row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttentionInput<'a> {
    pub(crate) rows: &'a [f32],
    pub(crate) width: usize,
    pub(crate) heads: usize,
}

/// Buffers for one head of one text.
#[derive(Debug)]
pub(crate) struct HeadScratch {
    pub(crate) queries: Vec<f32>,
    pub(crate) keys: Vec<[f32; GROUP_KEYS]>,
    pub(crate) values: Vec<f32>,
    pub(crate) scores: Vec<f32>,
}

impl HeadScratch {
    pub(crate) fn new(tokens_max: usize, head_width: usize) -> HeadScratch {
        HeadScratch {
            queries: vec![0.0; head_width * LANES_MAX],
            keys: vec![[0.0; GROUP_KEYS]; tokens_max.div_ceil(GROUP_KEYS) * head_width],
            values: vec![0.0; tokens_max * head_width],
            scores: vec![0.0; tokens_max.next_multiple_of(GROUP_KEYS) * LANES_MAX],
        }
    }
}

/// Computes attention and writes one row of `width` numbers per token to `out`.
#[inline(always)]
pub(crate) fn attend<const FMA: bool>(input: AttentionInput<'_>, scratch: &mut HeadScratch, out: &mut [f32]) {
    let AttentionInput { rows, width, heads } = input;
    let (stride, head_width) = (width * 3, width / heads);
    let tokens = rows.len() / stride;
    let keys = &mut scratch.keys[..tokens.div_ceil(GROUP_KEYS) * head_width];
    let values = &mut scratch.values[..tokens * head_width];
    let queries = &mut scratch.queries.as_chunks_mut::<LANES>().0[..head_width];
    let scores = scratch.scores.as_chunks_mut::<LANES>().0;
    for at in (0..width).step_by(head_width) {
        for (rows, keys) in rows.chunks(stride * GROUP_KEYS).zip(keys.chunks_exact_mut(head_width)) {
            transpose_head(rows, stride, width + at, keys);
        }
        gather_head(rows, stride, width * 2 + at, head_width, values);
        for (rows, out) in rows.chunks(stride * LANES).zip(out.chunks_mut(width * LANES)) {
            transpose_head(rows, stride, at, queries);
            score_keys::<FMA>(queries, keys, scores);
            let scores = &mut scores[..tokens];
            let totals = softmax_weights::<FMA>(scores);
            for part in (0..head_width).step_by(GROUP_KEYS) {
                let mut sums = weighted_values::<FMA>(scores, &values[part..], head_width);
                for sums in &mut sums {
                    for (sum, total) in sums.iter_mut().zip(&totals) {
                        *sum /= total;
                    }
                }
                for (lane, out) in out.chunks_exact_mut(width).enumerate() {
                    for (out, sum) in out[at + part..].iter_mut().zip(&sums) {
                        *out = sum[lane];
                    }
                }
            }
        }
    }
}

/// Copies one head's part of every row, concatenated.
#[inline(always)]
pub(crate) fn gather_head(rows: &[f32], stride: usize, at: usize, count: usize, to: &mut [f32]) {
    for (row, to) in rows.chunks_exact(stride).zip(to.chunks_exact_mut(count)) {
        to.copy_from_slice(&row[at..at + count]);
    }
}

/// Transposes one head's part of up to `ROWS` rows to one lane per row. Lanes without a row keep
/// stale values, whose results are never read.
#[inline(always)]
pub(crate) fn transpose_head<const ROWS: usize>(
    rows: &[f32],
    stride: usize,
    at: usize,
    to: &mut [[f32; ROWS]],
) {
    for (lane, row) in rows.chunks_exact(stride).enumerate().take(ROWS) {
        for (to, value) in to.iter_mut().zip(&row[at..]) {
            to[lane] = *value;
        }
    }
}

/// Scores every query against every key: a row per key, a lane per query.
#[inline(always)]
fn score_keys<const FMA: bool>(
    queries: &[QueryLanes],
    keys: &[[f32; GROUP_KEYS]],
    scores: &mut [QueryLanes],
) {
    let blocks = scores.as_chunks_mut::<GROUP_KEYS>().0;
    for (scores, keys) in blocks.iter_mut().zip(keys.chunks_exact(queries.len())) {
        // Local until complete: in memory they would be written back at every step.
        let mut sums = [[0.0; LANES]; GROUP_KEYS];
        for (query, keys) in queries.iter().zip(keys) {
            for (sums, key) in sums.iter_mut().zip(keys) {
                add_scaled::<FMA>(sums, *key, query);
            }
        }
        *scores = sums;
    }
}

/// Turns scores into unnormalised softmax weights and returns their sums.
#[inline(always)]
fn softmax_weights<const FMA: bool>(scores: &mut [QueryLanes]) -> QueryLanes {
    let mut largest = [f32::MIN; LANES];
    for scores in &*scores {
        for (largest, score) in largest.iter_mut().zip(scores) {
            *largest = larger(*score, *largest);
        }
    }
    let mut totals = [0.0; LANES];
    for scores in scores {
        for ((score, largest), total) in scores.iter_mut().zip(largest).zip(&mut totals) {
            *score = exp::<FMA>(*score - largest);
            *total += *score;
        }
    }
    totals
}

/// The weighted sum of `GROUP_KEYS` columns of the values: a row per column, a lane per query.
#[inline(always)]
fn weighted_values<const FMA: bool>(
    weights: &[QueryLanes],
    values: &[f32],
    stride: usize,
) -> [QueryLanes; GROUP_KEYS] {
    let mut sums = [[0.0; LANES]; GROUP_KEYS];
    for (weights, values) in weights.iter().zip(values.chunks(stride)) {
        let Some(values) = values.first_chunk::<GROUP_KEYS>() else {
            break;
        };
        for (sums, value) in sums.iter_mut().zip(values) {
            add_scaled::<FMA>(sums, *value, weights);
        }
    }
    sums
}

#[inline(always)]
fn add_scaled<const FMA: bool>(sums: &mut QueryLanes, by: f32, values: &QueryLanes) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum = multiply_add::<FMA>(by, *value, *sum);
    }
}
