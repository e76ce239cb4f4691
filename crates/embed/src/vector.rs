//! Quantized vectors and their comparison: int8 dot products and Hamming distances of sign bits.
//!
//! Where vectors are stored, and which are compared, is up to the caller.

use crate::simd::{self, SimdPath};

/// A vector quantized to int8: `values` times `scale` approximates the original.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantizedVector {
    pub scale: f32,
    pub values: Vec<i8>,
}

/// Quantizes a vector so that its largest absolute value becomes 127. The cosine of two quantized
/// unit vectors is `dot_i8(a, b) · a.scale · b.scale`, with an error below .002 for any pair of
/// texts.
pub fn quantize(vector: &[f32]) -> QuantizedVector {
    let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    let steps = if largest > 0.0 { 127.0 / largest } else { 0.0 };
    let values = vector.iter().map(|value| (value * steps).round_ties_even() as i8);
    QuantizedVector { scale: largest / 127.0, values: values.collect() }
}

/// The dot product of two vectors, over the shorter length.
pub fn dot_i8(a: &[i8], b: &[i8]) -> i32 {
    SimdPath::best().dot(a, b)
}

/// Appends the dot product of `query` with each of the concatenated rows to `out`. A trailing
/// partial row is ignored.
pub fn dots_i8(query: &[i8], rows: &[i8], out: &mut Vec<i32>) {
    SimdPath::best().dots(query, rows, out);
}

/// Reinterprets bytes as signed numbers.
pub fn as_i8(bytes: &[u8]) -> &[i8] {
    simd::as_i8(bytes)
}

/// Reinterprets signed numbers as bytes.
pub fn as_bytes(values: &[i8]) -> &[u8] {
    simd::as_bytes(values)
}

/// The sign bits of a vector, set if negative: 64 per word, the first in the lowest bit.
pub fn signs(values: &[i8]) -> Vec<u64> {
    let word = |values: &[i8]| {
        let bits = values.iter().enumerate().map(|(at, value)| u64::from(*value < 0) << at);
        bits.fold(0, |word, bit| word | bit)
    };
    values.chunks(64).map(word).collect()
}

/// Appends the Hamming distance of `query` to each of the concatenated rows to `out`. It is small
/// for vectors of similar direction.
pub fn sign_distances(query: &[u64], rows: &[u64], out: &mut Vec<u32>) {
    SimdPath::best().sign_distances(query, rows, out);
}

#[cfg(test)]
#[path = "vector_tests.rs"]
mod tests;
