//! Vectors as they are stored and compared: eight bits per number, or one.
//!
//! Absent on purpose: where they are kept and which of them are compared.

use crate::simd::{self, Path};

/// A vector in eight bits per number: `values` times `scale` is what it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Int8 {
    pub scale: f32,
    pub values: Vec<i8>,
}

/// The largest number becomes 127. The cosine of two quantized unit vectors is
/// `dot_i8(a, b) · a.scale · b.scale`, off by less than .002 for any pair of texts.
pub fn quantize(vector: &[f32]) -> Int8 {
    let largest = vector
        .iter()
        .fold(0.0_f32, |largest, value| largest.max(value.abs()));
    let steps = if largest > 0.0 { 127.0 / largest } else { 0.0 };
    let values = vector
        .iter()
        .map(|value| (value * steps).round_ties_even() as i8);
    Int8 {
        scale: largest / 127.0,
        values: values.collect(),
    }
}

/// The product of two vectors; of the shorter length, if they differ.
pub fn dot_i8(a: &[i8], b: &[i8]) -> i32 {
    Path::best().dot(a, b)
}

/// The product of `query` with each of the rows that lie end to end, appended to `out`.
/// Bytes behind the last whole row are left alone.
pub fn dots_i8(query: &[i8], rows: &[i8], out: &mut Vec<i32>) {
    Path::best().dots(query, rows, out);
}

/// Bytes of a file as the signed numbers they hold.
pub fn as_i8(bytes: &[u8]) -> &[i8] {
    simd::as_i8(bytes)
}

/// Signed numbers as the bytes to store.
pub fn as_bytes(values: &[i8]) -> &[u8] {
    simd::as_bytes(values)
}

/// One bit per number: whether it is negative. Sixty-four share a word, the first in the
/// lowest bit.
pub fn signs(values: &[i8]) -> Vec<u64> {
    let word = |values: &[i8]| {
        let bits = values
            .iter()
            .enumerate()
            .map(|(at, value)| u64::from(*value < 0) << at);
        bits.fold(0, |word, bit| word | bit)
    };
    values.chunks(64).map(word).collect()
}

/// In how many signs each of the rows that lie end to end differs from `query`, appended
/// to `out`: few for vectors that point the same way.
pub fn sign_distances(query: &[u64], rows: &[u64], out: &mut Vec<u32>) {
    Path::best().sign_distances(query, rows, out);
}

/// Portable forms; see [`crate::kernels`] for how they become the fast ones.
pub(crate) mod portable {
    #![allow(
        clippy::inline_always,
        reason = "a call would lose the caller's instructions"
    )]

    #[inline(always)]
    pub(crate) fn dot(a: &[i8], b: &[i8]) -> i32 {
        a.iter().zip(b).fold(0, |sum, (a, b)| {
            i32::wrapping_add(sum, i32::from(*a) * i32::from(*b))
        })
    }

    #[inline(always)]
    pub(crate) fn sign_distances(query: &[u64], rows: &[u64], out: &mut Vec<u32>) {
        let rows = rows.chunks_exact(query.len().max(1));
        out.extend(rows.map(|row| {
            row.iter()
                .zip(query)
                .map(|(a, b)| (a ^ b).count_ones())
                .sum::<u32>()
        }));
    }
}

#[cfg(test)]
#[path = "vector_tests.rs"]
mod tests;
