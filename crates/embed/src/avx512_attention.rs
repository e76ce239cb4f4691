//! Self-attention with AVX-512: the loops of [`crate::attention`] with sixteen queries per register.
//!
//! Written with intrinsics, because the compiler does not keep sixteen lanes in one register. The
//! operations and their order are those of `attention.rs` and `kernels.rs`, and so are the results.
//! `unsafe` blocks reinterpret an array as a register of the same size and back.

use std::arch::x86_64::{
    __m512, _mm512_add_epi32, _mm512_add_ps, _mm512_castps_si512, _mm512_castsi512_ps, _mm512_div_ps,
    _mm512_fmadd_ps, _mm512_max_ps, _mm512_set1_ps, _mm512_setzero_ps, _mm512_slli_epi32, _mm512_sub_ps,
};
use std::f32::consts::LOG2_E;
use std::mem::transmute;

use crate::attention::{AttentionInput, GROUP_KEYS, HeadScratch, gather_head, transpose_head};
use crate::format::PANEL;
use crate::kernels::{EXP_TERMS, LN_2_HIGH, LN_2_LOW, ROUND};

/// Queries per register.
const LANES: usize = 16;
/// Columns of the values that are summed together. Head widths are a multiple of it.
const COLUMNS: usize = PANEL;

/// Computes attention and writes one row of `width` numbers per token to `out`.
#[target_feature(enable = "avx512f,fma")]
pub(crate) fn attend(input: AttentionInput<'_>, scratch: &mut HeadScratch, out: &mut [f32]) {
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
            score_keys(queries, keys, scores);
            let scores = &mut scores[..tokens];
            let totals = softmax_weights(scores);
            for part in (0..head_width).step_by(COLUMNS) {
                let sums = weighted_values(scores, &values[part..], head_width, totals);
                for (lane, out) in out.chunks_exact_mut(width).enumerate() {
                    for (out, sum) in out[at + part..].iter_mut().zip(&sums) {
                        *out = sum[lane];
                    }
                }
            }
        }
    }
}

/// Scores every query against every key: a row per key, a lane per query.
#[target_feature(enable = "avx512f,fma")]
#[inline]
fn score_keys(queries: &[[f32; LANES]], keys: &[[f32; GROUP_KEYS]], scores: &mut [[f32; LANES]]) {
    let blocks = scores.as_chunks_mut::<GROUP_KEYS>().0;
    for (scores, keys) in blocks.iter_mut().zip(keys.chunks_exact(queries.len())) {
        let mut sums = [_mm512_setzero_ps(); GROUP_KEYS];
        for (query, keys) in queries.iter().zip(keys) {
            let query = load(query);
            for (sum, key) in sums.iter_mut().zip(keys) {
                *sum = _mm512_fmadd_ps(_mm512_set1_ps(*key), query, *sum);
            }
        }
        for (scores, sum) in scores.iter_mut().zip(sums) {
            *scores = store(sum);
        }
    }
}

/// Turns scores into unnormalised softmax weights and returns their sums.
#[target_feature(enable = "avx512f,fma")]
#[inline]
fn softmax_weights(scores: &mut [[f32; LANES]]) -> __m512 {
    let mut largest = _mm512_set1_ps(f32::MIN);
    for scores in &*scores {
        largest = _mm512_max_ps(load(scores), largest);
    }
    let mut totals = _mm512_setzero_ps();
    for scores in scores {
        let weights = exp(_mm512_sub_ps(load(scores), largest));
        totals = _mm512_add_ps(totals, weights);
        *scores = store(weights);
    }
    totals
}

/// The weighted mean of `COLUMNS` columns of the values: a row per column, a lane per query.
#[target_feature(enable = "avx512f,fma")]
#[inline]
fn weighted_values(
    weights: &[[f32; LANES]],
    values: &[f32],
    stride: usize,
    totals: __m512,
) -> [[f32; LANES]; COLUMNS] {
    let mut sums = [_mm512_setzero_ps(); COLUMNS];
    for (weights, values) in weights.iter().zip(values.chunks(stride)) {
        let Some(values) = values.first_chunk::<COLUMNS>() else {
            break;
        };
        let weights = load(weights);
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum = _mm512_fmadd_ps(_mm512_set1_ps(*value), weights, *sum);
        }
    }
    let mut means = [[0.0; LANES]; COLUMNS];
    for (mean, sum) in means.iter_mut().zip(sums) {
        *mean = store(_mm512_div_ps(sum, totals));
    }
    means
}

/// [`crate::kernels::exp`] of sixteen numbers.
#[target_feature(enable = "avx512f,fma")]
#[inline]
fn exp(x: __m512) -> __m512 {
    let x = _mm512_max_ps(x, _mm512_set1_ps(-87.0));
    let round = _mm512_set1_ps(ROUND);
    let shifted = _mm512_fmadd_ps(x, _mm512_set1_ps(LOG2_E), round);
    let twos = _mm512_sub_ps(shifted, round);
    let rest = _mm512_fmadd_ps(twos, _mm512_set1_ps(-LN_2_HIGH), x);
    let rest = _mm512_fmadd_ps(twos, _mm512_set1_ps(-LN_2_LOW), rest);
    let [first, others @ ..] = EXP_TERMS;
    let mut series = _mm512_set1_ps(first);
    for term in others {
        series = _mm512_fmadd_ps(series, rest, _mm512_set1_ps(term));
    }
    let exponent = _mm512_slli_epi32::<23>(_mm512_castps_si512(shifted));
    _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(series), exponent))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(floats: &[f32; LANES]) -> __m512 {
    // SAFETY: both types are sixteen floats.
    #[allow(unsafe_code)]
    unsafe {
        transmute::<[f32; LANES], __m512>(*floats)
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(values: __m512) -> [f32; LANES] {
    // SAFETY: both types are sixteen floats.
    #[allow(unsafe_code)]
    unsafe {
        transmute::<__m512, [f32; LANES]>(values)
    }
}
