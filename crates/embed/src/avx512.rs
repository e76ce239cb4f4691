//! The encoder's loops with AVX-512 and its integer dot products (VNNI).
//!
//! Every function requires the processor features that an [`Avx512`] proves. The integer sums are the
//! same as in `avx2.rs`, and float sums are added in the same order, so that both give the same bits.
//! `unsafe` blocks reinterpret arrays as registers of the same size.

use std::arch::x86_64::{
    __m256i, __m512, __m512i, _mm512_add_ps, _mm512_castps_si512, _mm512_cvtepi8_epi16,
    _mm512_cvtepi32_epi16, _mm512_cvtepi32_ps, _mm512_dpwssd_epi32, _mm512_fmadd_ps, _mm512_mul_ps,
    _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps, _mm512_setzero_si512,
};
use std::mem::transmute;

use crate::avx2::Avx2;
use crate::format::{GROUP, PANEL};
use crate::kernels::{self, LayerNorm, QuantizedRows, ROUND, WeightMatrix, WeightPair, WeightPanel};

/// Rows whose sums are in registers at a time, beside the weights of two panels.
const TILE_ROWS: usize = 8;
/// Rows that use the same widened weights.
const BLOCK_ROWS: usize = 48;
/// Panels that share the broadcast inputs.
const PANELS: usize = 2;

// Every matrix has a whole number of panel pairs: its outputs are a multiple of `GROUP`.
const _: () = assert!(GROUP.is_multiple_of(PANEL * PANELS));

/// Proof that this processor has AVX-512 F, BW, VL and VNNI, and what an [`Avx2`] proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Avx512(());

impl Avx512 {
    pub(crate) fn detect(_: Avx2) -> Option<Avx512> {
        let has = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vnni");
        has.then_some(Avx512(()))
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,fma")]
pub(crate) fn quantize_rows(rows: &[f32], inputs: usize, pairs: &mut [u32], scales: &mut [f32]) {
    let pairs = pairs.chunks_exact_mut(inputs / 2);
    for ((row, pairs), scale) in rows.chunks_exact(inputs).zip(pairs).zip(scales) {
        let (steps, size) = kernels::quantization_step(row);
        *scale = size;
        let steps = _mm512_set1_ps(steps);
        let round = _mm512_set1_ps(ROUND);
        for (pairs, values) in pairs.as_chunks_mut::<8>().0.iter_mut().zip(row.as_chunks::<16>().0) {
            let rounded =
                _mm512_castps_si512(_mm512_add_ps(_mm512_mul_ps(load_floats(values), steps), round));
            store_pairs(pairs, _mm512_cvtepi32_epi16(rounded));
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,fma")]
pub(crate) fn add_and_norm(rows: &mut [f32], more: &[f32], norm: LayerNorm<'_>) {
    kernels::add_and_norm(rows, more, norm);
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,fma")]
pub(crate) fn gelu(values: &mut [f32]) {
    kernels::gelu::<true>(values);
}

/// The weights of two panels for each input pair of a group, widened to 16 bits.
type WideGroup = [[__m512i; PANELS]; GROUP / 2];
/// Float sums of one row for two panels.
type RowSums = [__m512; PANELS];

/// Like [`kernels::product`], but each group of weights is widened once for a block of rows.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,fma")]
pub(crate) fn product(rows: QuantizedRows<'_>, matrix: &WeightMatrix<'_>, out: &mut [f32]) {
    let half = matrix.inputs / 2;
    let mut sums = [[_mm512_setzero_ps(); PANELS]; BLOCK_ROWS];
    let mut weights = [[_mm512_setzero_si512(); PANELS]; GROUP / 2];
    let mut panels = WeightPanel::panels(matrix);
    let mut column = 0;
    while let (Some(first), Some(second)) = (panels.next(), panels.next()) {
        let blocks = rows.pairs.chunks(half * BLOCK_ROWS).zip(rows.scales.chunks(BLOCK_ROWS));
        let outs = out.chunks_mut(matrix.outputs * BLOCK_ROWS);
        for ((pairs, row_scales), out) in blocks.zip(outs) {
            let sums = &mut sums[..row_scales.len()];
            sums.fill([_mm512_setzero_ps(); PANELS]);
            for group in 0..matrix.inputs / GROUP {
                widen_group(&first.weights[group], &second.weights[group], &mut weights);
                let scales = [load_halves(&first.scales[group]), load_halves(&second.scales[group])];
                add_group(&pairs[group * GROUP / 2..], half, &weights, scales, sums);
            }
            let bias = [load_halves(first.bias), load_halves(second.bias)];
            for ((sums, scale), out) in sums.iter().zip(row_scales).zip(out.chunks_exact_mut(matrix.outputs))
            {
                let scale = _mm512_set1_ps(*scale);
                let out = out[column..].as_chunks_mut::<PANEL>().0;
                for ((out, sum), bias) in out.iter_mut().zip(sums).zip(bias) {
                    store(out, _mm512_fmadd_ps(*sum, scale, bias));
                }
            }
        }
        column += PANEL * PANELS;
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
#[inline]
fn widen_group(first: &[WeightPair; GROUP / 2], second: &[WeightPair; GROUP / 2], wide: &mut WideGroup) {
    for ((wide, first), second) in wide.iter_mut().zip(first).zip(second) {
        *wide = [widened(first), widened(second)];
    }
}

/// Adds the products of one group of inputs to the sums of every row. `pairs` starts with the
/// group's inputs of the first row; `stride` leads to the next row.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,fma")]
#[inline]
fn add_group(
    pairs: &[u32],
    stride: usize,
    weights: &WideGroup,
    scales: [__m512; PANELS],
    sums: &mut [RowSums],
) {
    let count = sums.len();
    // Tiles of nearly equal size: a single leftover row would read all weights for itself.
    let tiles = count.div_ceil(TILE_ROWS);
    for tile in 0..tiles {
        let (first, end) = (count * tile / tiles, count * (tile + 1) / tiles);
        let (pairs, sums) = (&pairs[first * stride..], &mut sums[first..end]);
        match end - first {
            1 => add_tile::<1>(pairs, stride, weights, scales, sums),
            2 => add_tile::<2>(pairs, stride, weights, scales, sums),
            3 => add_tile::<3>(pairs, stride, weights, scales, sums),
            4 => add_tile::<4>(pairs, stride, weights, scales, sums),
            5 => add_tile::<5>(pairs, stride, weights, scales, sums),
            6 => add_tile::<6>(pairs, stride, weights, scales, sums),
            7 => add_tile::<7>(pairs, stride, weights, scales, sums),
            _ => add_tile::<TILE_ROWS>(pairs, stride, weights, scales, sums),
        }
    }
}

/// [`add_group`] for a few rows, with exact sums within the group.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,fma")]
#[inline]
fn add_tile<const ROWS: usize>(
    pairs: &[u32],
    stride: usize,
    weights: &WideGroup,
    scales: [__m512; PANELS],
    sums: &mut [RowSums],
) {
    let mut rows = [&[0; GROUP / 2]; ROWS];
    for (at, row) in rows.iter_mut().enumerate() {
        if let Some(inputs) = pairs[at * stride..].first_chunk() {
            *row = inputs;
        }
    }
    let mut exact = [[_mm512_setzero_si512(); PANELS]; ROWS];
    for (pair, weights) in weights.iter().enumerate() {
        for (exact, row) in exact.iter_mut().zip(rows) {
            let values = _mm512_set1_epi32(row[pair].cast_signed());
            exact[0] = _mm512_dpwssd_epi32(exact[0], values, weights[0]);
            exact[1] = _mm512_dpwssd_epi32(exact[1], values, weights[1]);
        }
    }
    for (sums, exact) in sums.iter_mut().zip(exact) {
        for panel in 0..PANELS {
            sums[panel] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(exact[panel]), scales[panel], sums[panel]);
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
#[inline]
fn widened(weights: &WeightPair) -> __m512i {
    // SAFETY: both types are 32 bytes for which every value is valid.
    #[allow(unsafe_code)]
    let weights = unsafe { transmute::<WeightPair, __m256i>(*weights) };
    _mm512_cvtepi8_epi16(weights)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load_halves(floats: &[[[u8; 4]; PANEL / 2]; 2]) -> __m512 {
    // SAFETY: both types are 64 bytes for which every value is valid, and x86-64 is little-endian
    // like the file.
    #[allow(unsafe_code)]
    unsafe {
        transmute::<[[[u8; 4]; PANEL / 2]; 2], __m512>(*floats)
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load_floats(floats: &[f32; 16]) -> __m512 {
    // SAFETY: both types are sixteen floats.
    #[allow(unsafe_code)]
    unsafe {
        transmute::<[f32; 16], __m512>(*floats)
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(to: &mut [f32; PANEL], values: __m512) {
    // SAFETY: both types are sixteen floats.
    #[allow(unsafe_code)]
    let values = unsafe { transmute::<__m512, [f32; PANEL]>(values) };
    *to = values;
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store_pairs(to: &mut [u32; 8], values: __m256i) {
    // SAFETY: both types are 32 bytes for which every value is valid.
    #[allow(unsafe_code)]
    let values = unsafe { transmute::<__m256i, [u32; 8]>(values) };
    *to = values;
}
