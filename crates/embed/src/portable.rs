//! Portable vector comparisons; [`crate::kernels`] explains how they become the fast ones.

#![allow(clippy::inline_always, reason = "a call would lose the caller's instructions")]

#[inline(always)]
pub(crate) fn dot(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).fold(0, |sum, (a, b)| i32::wrapping_add(sum, i32::from(*a) * i32::from(*b)))
}

#[inline(always)]
pub(crate) fn sign_distances(query: &[u64], rows: &[u64], out: &mut Vec<u32>) {
    let rows = rows.chunks_exact(query.len().max(1));
    out.extend(rows.map(|row| row.iter().zip(query).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>()));
}
