//! The encoder's loops with AVX2.
//!
//! Every function requires the processor features that an [`Avx2`] proves. `unsafe` blocks reinterpret
//! arrays as registers of the same size.

use std::arch::x86_64::{
    __m128i, __m256, __m256i, _mm256_add_epi32, _mm256_cvtepi8_epi16, _mm256_cvtepi32_ps, _mm256_fmadd_ps,
    _mm256_madd_epi16, _mm256_set1_epi32, _mm256_set1_ps, _mm256_setzero_ps, _mm256_setzero_si256,
};
use std::mem::transmute;
use std::slice::ChunksExact;

use crate::attention::{self, AttentionInput, HeadScratch};
use crate::format::{GROUP, PANEL};
use crate::kernels::{self, LayerNorm, QuantizedRows, WeightMatrix, WeightPair, WeightPanel};
use crate::portable;

/// Rows whose sums fit into registers beside one panel.
const ROWS_MAX: usize = 6;

/// Proof that this processor has AVX2, FMA and POPCNT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Avx2(());

impl Avx2 {
    pub(crate) fn detect() -> Option<Avx2> {
        let has = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("popcnt");
        has.then_some(Avx2(()))
    }
}

#[target_feature(enable = "avx2,fma")]
pub(crate) fn quantize_rows(rows: &[f32], inputs: usize, pairs: &mut [u32], scales: &mut [f32]) {
    kernels::quantize_rows(rows, inputs, pairs, scales);
}

#[target_feature(enable = "avx2,fma")]
pub(crate) fn add_and_norm(rows: &mut [f32], more: &[f32], norm: LayerNorm<'_>) {
    kernels::add_and_norm(rows, more, norm);
}

#[target_feature(enable = "avx2,fma")]
pub(crate) fn gelu(values: &mut [f32]) {
    kernels::gelu::<true>(values);
}

#[target_feature(enable = "avx2,fma")]
pub(crate) fn attend(input: AttentionInput<'_>, scratch: &mut HeadScratch, out: &mut [f32]) {
    attention::attend::<true>(input, scratch, out);
}

/// Like [`kernels::product`], but a few rows at a time, so that each weight is widened once for
/// all of them.
#[target_feature(enable = "avx2,fma")]
pub(crate) fn product(rows: QuantizedRows<'_>, matrix: &WeightMatrix<'_>, out: &mut [f32]) {
    let count = rows.scales.len();
    // Blocks of nearly equal size: a single leftover row would widen all weights for itself.
    let blocks = count.div_ceil(ROWS_MAX);
    for (at, panel) in WeightPanel::panels(matrix).enumerate() {
        for block in 0..blocks {
            let (first, end) = (count * block / blocks, count * (block + 1) / blocks);
            let tile = RowTile { rows, matrix, panel, first, column: at * PANEL };
            match end - first {
                1 => tile.fill::<1>(out),
                2 => tile.fill::<2>(out),
                3 => tile.fill::<3>(out),
                4 => tile.fill::<4>(out),
                5 => tile.fill::<5>(out),
                _ => tile.fill::<ROWS_MAX>(out),
            }
        }
    }
}

/// A few rows times one panel.
struct RowTile<'a, 'm> {
    rows: QuantizedRows<'a>,
    matrix: &'a WeightMatrix<'m>,
    panel: WeightPanel<'m>,
    first: usize,
    column: usize,
}

impl RowTile<'_, '_> {
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn fill<const ROWS: usize>(&self, out: &mut [f32]) {
        let half = self.matrix.inputs / 2;
        let mut rows = [[].as_slice(); ROWS];
        for (at, row) in rows.iter_mut().enumerate() {
            *row = self.rows.pairs[(self.first + at) * half..][..half].as_chunks().0;
        }
        let mut sums = [[_mm256_setzero_ps(); 2]; ROWS];
        let groups = self.panel.weights.iter().zip(self.panel.scales);
        for (group, (weights, scales)) in groups.enumerate() {
            let mut pairs = [&[0; GROUP / 2]; ROWS];
            for (pairs, row) in pairs.iter_mut().zip(rows) {
                *pairs = &row[group];
            }
            let exact = group_sums(pairs, weights);
            let scales = [load(&scales[0]), load(&scales[1])];
            for (sums, exact) in sums.iter_mut().zip(exact) {
                for half in 0..2 {
                    let exact = _mm256_cvtepi32_ps(exact[half]);
                    sums[half] = _mm256_fmadd_ps(exact, scales[half], sums[half]);
                }
            }
        }
        let bias = [load(&self.panel.bias[0]), load(&self.panel.bias[1])];
        for (row, sums) in sums.into_iter().enumerate() {
            let row = self.first + row;
            let scale = _mm256_set1_ps(self.rows.scales[row]);
            let out = &mut out[row * self.matrix.outputs + self.column..][..PANEL];
            for half in 0..2 {
                let out = out.as_chunks_mut::<8>().0;
                store(&mut out[half], _mm256_fmadd_ps(sums[half], scale, bias[half]));
            }
        }
    }
}

/// Exact sums over one group of inputs, as in the portable path.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn group_sums<const ROWS: usize>(
    rows: [&[u32; GROUP / 2]; ROWS],
    weights: &[WeightPair; GROUP / 2],
) -> [[__m256i; 2]; ROWS] {
    let mut sums = [[_mm256_setzero_si256(); 2]; ROWS];
    for (pair, weights) in weights.iter().enumerate() {
        let [low, high] = weights;
        let weights = [widened(low), widened(high)];
        for (sums, row) in sums.iter_mut().zip(rows) {
            let values = _mm256_set1_epi32(row[pair].cast_signed());
            for half in 0..2 {
                let products = _mm256_madd_epi16(values, weights[half]);
                sums[half] = _mm256_add_epi32(sums[half], products);
            }
        }
    }
    sums
}

/// Dot products with many rows; the query is widened once.
#[target_feature(enable = "avx2,fma")]
pub(crate) fn dots(query: &[i8], rows: ChunksExact<'_, i8>, out: &mut Vec<i32>) {
    let (chunks, rest) = query.as_chunks();
    let mut wide = Vec::with_capacity(chunks.len());
    for chunk in chunks {
        wide.push(widened(chunk));
    }
    for row in rows {
        let (chunks, row_rest) = row.as_chunks();
        let mut sums = _mm256_setzero_si256();
        for (query, row) in wide.iter().zip(chunks) {
            sums = _mm256_add_epi32(sums, _mm256_madd_epi16(*query, widened(row)));
        }
        out.push(total(sums).wrapping_add(portable::dot(rest, row_rest)));
    }
}

#[target_feature(enable = "avx2,fma")]
pub(crate) fn dot(a: &[i8], b: &[i8]) -> i32 {
    let mut sums = _mm256_setzero_si256();
    let (a_chunks, b_chunks) = (a.as_chunks().0, b.as_chunks().0);
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        sums = _mm256_add_epi32(sums, _mm256_madd_epi16(widened(a), widened(b)));
    }
    let done = a_chunks.len().min(b_chunks.len()) * 16;
    total(sums).wrapping_add(portable::dot(&a[done..], &b[done..]))
}

#[target_feature(enable = "avx2,fma")]
#[inline]
fn total(sums: __m256i) -> i32 {
    // SAFETY: both types are 32 bytes for which every value is valid.
    #[allow(unsafe_code)]
    let sums = unsafe { transmute::<__m256i, [i32; 8]>(sums) };
    sums.into_iter().fold(0, i32::wrapping_add)
}

#[target_feature(enable = "avx2,fma,popcnt")]
pub(crate) fn sign_distances(query: &[u64], rows: &[u64], out: &mut Vec<u32>) {
    portable::sign_distances(query, rows, out);
}

#[target_feature(enable = "avx2,fma")]
#[inline]
fn widened(numbers: &[i8; 16]) -> __m256i {
    // SAFETY: both types are sixteen bytes for which every value is valid.
    #[allow(unsafe_code)]
    let numbers = unsafe { transmute::<[i8; 16], __m128i>(*numbers) };
    _mm256_cvtepi8_epi16(numbers)
}

#[target_feature(enable = "avx2,fma")]
#[inline]
fn load(floats: &[[u8; 4]; 8]) -> __m256 {
    // SAFETY: both types are 32 bytes for which every value is valid, and x86-64 is
    // little-endian like the file.
    #[allow(unsafe_code)]
    unsafe {
        transmute::<[[u8; 4]; 8], __m256>(*floats)
    }
}

#[target_feature(enable = "avx2,fma")]
#[inline]
fn store(to: &mut [f32; 8], values: __m256) {
    // SAFETY: both types are eight floats.
    #[allow(unsafe_code)]
    let values = unsafe { transmute::<__m256, [f32; 8]>(values) };
    *to = values;
}
