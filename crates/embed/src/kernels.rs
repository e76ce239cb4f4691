//! The encoder's arithmetic, written so that the compiler can vectorize every loop.
//!
//! Everything here is safe code over slices and always inlined: called directly, it is the portable
//! path; called from a function with AVX2 enabled (see [`crate::simd`]), it becomes part of the
//! fast path. `FMA` selects fused multiply-add, which only pays off where the processor has the
//! instruction. Integer products are exact, so the two paths differ only in the rounding of some
//! float sums.

#![allow(clippy::inline_always, reason = "a call would lose the caller's instructions")]

use crate::format::{GROUP, PANEL};

/// Floats summed in parallel: two registers of eight.
const LANES: usize = 16;

/// A matrix of the weights file; [`crate::layout`] describes its order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WeightMatrix<'m> {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    pub(crate) bias: &'m [[u8; 4]],
    pub(crate) scales: &'m [[u8; 4]],
    pub(crate) weights: &'m [i8],
}

/// Activations quantized to 16-bit integers. Two adjacent values share a word, the first in the low
/// half, because the product consumes pairs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuantizedRows<'a> {
    pub(crate) pairs: &'a [u32],
    pub(crate) scales: &'a [f32],
}

/// Gains and offsets of a layer norm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayerNorm<'m> {
    pub(crate) gains: &'m [[u8; 4]],
    pub(crate) offsets: &'m [[u8; 4]],
    pub(crate) epsilon: f32,
}

#[inline(always)]
pub(crate) fn float(bytes: &[u8; 4]) -> f32 {
    f32::from_le_bytes(*bytes)
}

#[inline(always)]
pub(crate) fn multiply_add<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

#[inline(always)]
pub(crate) fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// Sums `of(value)` over all elements, in `LANES` partial sums.
#[inline(always)]
fn sum_of(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += of(*value);
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().map(|value| of(*value)).sum::<f32>()
}

#[inline(always)]
fn largest_of(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [f32::MIN; LANES];
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane = larger(of(*value), *lane);
        }
    }
    let largest = lanes.into_iter().fold(f32::MIN, larger);
    rest.iter().fold(largest, |largest, value| larger(of(*value), largest))
}

/// Quantizes rows to integers, each with its own scale.
#[inline(always)]
pub(crate) fn quantize_rows(rows: &[f32], inputs: usize, pairs: &mut [u32], scales: &mut [f32]) {
    let pairs = pairs.chunks_exact_mut(inputs / 2);
    for ((row, pairs), scale) in rows.chunks_exact(inputs).zip(pairs).zip(scales) {
        let (steps, size) = quantization_step(row);
        *scale = size;
        for (pair, values) in pairs.iter_mut().zip(row.as_chunks::<2>().0) {
            let [low, high] = values.map(|value| (value * steps + ROUND).to_bits());
            *pair = low & 0xFFFF | high << 16;
        }
    }
}

/// The integer steps per unit that make the row's largest absolute value the largest integer, and the
/// size of one step.
#[inline(always)]
pub(crate) fn quantization_step(row: &[f32]) -> (f32, f32) {
    let largest = largest_of(row, f32::abs);
    let steps = if largest > 0.0 { INT16_MAX / largest } else { 0.0 };
    (steps, largest / INT16_MAX)
}

const INT16_MAX: f32 = 32_767.0;
/// Added to a small float, this leaves the nearest integer in the low bits: 1.5 · 2^23.
pub(crate) const ROUND: f32 = 12_582_912.0;

/// `out = rows · matrixᵀ + bias`, with exact integer sums within each group of inputs.
#[inline(always)]
pub(crate) fn product(rows: QuantizedRows<'_>, matrix: &WeightMatrix<'_>, out: &mut [f32]) {
    let mut sums = [0; PANEL];
    out.fill(0.0);
    for (at, panel) in WeightPanel::panels(matrix).enumerate() {
        for (group, (weights, scales)) in panel.weights.iter().zip(panel.scales).enumerate() {
            let weights = split_pairs(weights);
            let rows = rows.pairs.chunks_exact(matrix.inputs / 2);
            for (row, out) in rows.zip(out.chunks_exact_mut(matrix.outputs)) {
                group_sums(&row.as_chunks().0[group], &weights, &mut sums);
                let out = out[at * PANEL..][..PANEL].iter_mut();
                for ((out, sum), scale) in out.zip(sums).zip(scales.as_flattened()) {
                    *out += sum as f32 * float(scale);
                }
            }
        }
    }
    for (out, scale) in out.chunks_exact_mut(matrix.outputs).zip(rows.scales) {
        for (out, bias) in out.iter_mut().zip(matrix.bias) {
            *out = *out * scale + float(bias);
        }
    }
}

/// The weights of one group, split into first and second inputs of each pair.
type SplitWeights = [[[i16; PANEL]; 2]; GROUP / 2];

/// Widens the weights of a group to 16 bits, once for all rows.
#[inline(always)]
fn split_pairs(weights: &[WeightPair; GROUP / 2]) -> SplitWeights {
    let mut apart = [[[0; PANEL]; 2]; GROUP / 2];
    for (apart, pair) in apart.iter_mut().zip(weights) {
        for (channel, two) in pair.as_flattened().as_chunks::<2>().0.iter().enumerate() {
            apart[0][channel] = i16::from(two[0]);
            apart[1][channel] = i16::from(two[1]);
        }
    }
    apart
}

/// Not inlined: the compiler vectorizes this only if the sums end in memory.
#[inline(never)]
fn group_sums(pairs: &[u32; GROUP / 2], weights: &SplitWeights, out: &mut [i32; PANEL]) {
    let mut sums = [0_i32; PANEL];
    for (pair, [lows, highs]) in pairs.iter().zip(weights) {
        let (low, high) = (i32::from(*pair as i16), i32::from((pair >> 16) as i16));
        for ((sum, first), second) in sums.iter_mut().zip(lows).zip(highs) {
            // Cannot overflow, 64 · 127 · 32767 < 2^31; a check would prevent vectorization.
            let both = (low * i32::from(*first)).wrapping_add(high * i32::from(*second));
            *sum = sum.wrapping_add(both);
        }
    }
    *out = sums;
}

/// Half a panel: the channels of one register.
const HALF: usize = PANEL / 2;
/// The weights of one input pair for all channels of a panel.
pub(crate) type WeightPair = [[i8; HALF * 2]; 2];
/// One number per channel of a panel.
type PanelChannels = [[[u8; 4]; HALF]; 2];

/// Sixteen output channels of a matrix, split into groups of inputs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WeightPanel<'m> {
    pub(crate) bias: &'m PanelChannels,
    pub(crate) scales: &'m [PanelChannels],
    pub(crate) weights: &'m [[WeightPair; GROUP / 2]],
}

impl<'m> WeightPanel<'m> {
    #[inline(always)]
    pub(crate) fn panels(matrix: &WeightMatrix<'m>) -> impl Iterator<Item = WeightPanel<'m>> + use<'m> {
        let groups = matrix.inputs / GROUP;
        let bias = matrix.bias.as_chunks().0.as_chunks().0.iter();
        let scales = matrix.scales.as_chunks().0.as_chunks().0.chunks_exact(groups);
        let pairs = matrix.weights.as_chunks().0.as_chunks().0;
        let weights = pairs.as_chunks().0.chunks_exact(groups);
        let parts = bias.zip(scales).zip(weights);
        parts.map(|((bias, scales), weights)| WeightPanel { bias, scales, weights })
    }
}

/// `rows = norm(rows + more)`.
#[inline(always)]
pub(crate) fn add_and_norm(rows: &mut [f32], more: &[f32], norm: LayerNorm<'_>) {
    let width = norm.gains.len();
    for (row, more) in rows.chunks_exact_mut(width).zip(more.chunks_exact(width)) {
        for (value, more) in row.iter_mut().zip(more) {
            *value += more;
        }
        norm_row(row, norm);
    }
}

#[inline(always)]
pub(crate) fn norm_row(row: &mut [f32], norm: LayerNorm<'_>) {
    let count = row.len() as f32;
    let mean = sum_of(row, |value| value) / count;
    let variance = sum_of(row, |value| (value - mean) * (value - mean)) / count;
    let steps = 1.0 / (variance + norm.epsilon).sqrt();
    for ((value, gain), offset) in row.iter_mut().zip(norm.gains).zip(norm.offsets) {
        *value = (*value - mean) * steps * float(gain) + float(offset);
    }
}

/// The GELU activation, `x · Φ(x)`, with Φ from the error function as approximated by Abramowitz
/// and Stegun (7.1.26, error at most 1.5e-7).
#[inline(always)]
pub(crate) fn gelu<const FMA: bool>(values: &mut [f32]) {
    for value in values {
        let x = value.abs() * std::f32::consts::FRAC_1_SQRT_2;
        let t = 1.0 / multiply_add::<FMA>(0.327_591_1, x, 1.0);
        let terms = [-1.453_152, 1.421_413_7, -0.284_496_74, 0.254_829_6];
        let series = terms.into_iter().fold(1.061_405_4, |sum, term| multiply_add::<FMA>(sum, t, term));
        let tail = series * t * exp::<FMA>(-x * x);
        let doubled = if *value < 0.0 { tail } else { 2.0 - tail };
        *value *= 0.5 * doubled;
    }
}

/// e to the `x` for `x` ≤ 0, accurate to the last two bits of a float.
#[inline(always)]
pub(crate) fn exp<const FMA: bool>(x: f32) -> f32 {
    let x = larger(x, -87.0);
    let shifted = multiply_add::<FMA>(x, std::f32::consts::LOG2_E, ROUND);
    let twos = shifted - ROUND;
    let rest = multiply_add::<FMA>(twos, -LN_2_HIGH, x);
    let rest = multiply_add::<FMA>(twos, -LN_2_LOW, rest);
    let [first, others @ ..] = EXP_TERMS;
    let series = others.into_iter().fold(first, |sum, term| multiply_add::<FMA>(sum, rest, term));
    f32::from_bits(series.to_bits().wrapping_add(shifted.to_bits() << 23))
}

/// Ln 2 in two parts, so that the remainder of [`exp`] keeps its last bits.
pub(crate) const LN_2_HIGH: f32 = 0.693_359_4;
pub(crate) const LN_2_LOW: f32 = -2.121_944_4e-4;
/// Coefficients of the series in [`exp`], highest power first.
pub(crate) const EXP_TERMS: [f32; 7] = [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];
