//! Selects the instructions the encoder uses, and implements the loops that the compiler does not
//! vectorize well.
//!
//! Only this file, `avx2.rs`, `avx512.rs` and `avx512_attention.rs` contain `unsafe`. A block either calls a function that
//! needs an instruction set on the strength of a proof that only detection can create
//! ([`Avx2`](crate::avx2::Avx2), [`Avx512`](crate::avx512::Avx512)), or reinterprets bytes: an array
//! as a register of the same size, or unsigned as signed bytes.

use crate::attention::{self, AttentionInput, HeadScratch};
use crate::kernels::{self, LayerNorm, QuantizedRows, WeightMatrix};
use crate::portable;
#[cfg(target_arch = "x86_64")]
use crate::{avx2, avx512, avx512_attention};

/// The instruction set of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SimdPath {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Avx512),
}

/// An instruction set that the encoder can be limited to, from the oldest to the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InstructionSet {
    /// The baseline of the architecture.
    Baseline,
    /// AVX2 with fused multiply-add, of x86-64 processors since about 2013.
    Avx2,
    /// AVX-512 with integer dot products (VNNI), of x86-64 processors since about 2019.
    Avx512,
}

/// Calls a kernel with the path's instructions.
macro_rules! on_path {
    ($path:expr, $portable:expr, $avx2:expr, $avx512:expr) => {
        match $path {
            SimdPath::Portable => $portable,
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an `Avx2` exists only if the processor was detected to have AVX2, FMA and
            // POPCNT, which is all that the functions of `avx2` require.
            #[allow(unsafe_code)]
            SimdPath::Avx2(_) => unsafe { $avx2 },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an `Avx512` exists only if the processor was detected to have what an `Avx2`
            // proves, and AVX-512 F, BW, VL and VNNI: all that the functions of both files require.
            #[allow(unsafe_code)]
            SimdPath::Avx512(_) => unsafe { $avx512 },
        }
    };
}

impl SimdPath {
    /// The fastest path of this processor.
    pub(crate) fn best() -> SimdPath {
        SimdPath::best_within(InstructionSet::Avx512)
    }

    /// The fastest path of this processor that needs no more than `limit`.
    pub(crate) fn best_within(limit: InstructionSet) -> SimdPath {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = avx2::Avx2::detect().filter(|_| limit >= InstructionSet::Avx2) {
            let avx512 = avx512::Avx512::detect(avx2).filter(|_| limit >= InstructionSet::Avx512);
            return avx512.map_or(SimdPath::Avx2(avx2), SimdPath::Avx512);
        }
        let _ = limit;
        SimdPath::Portable
    }

    /// The instruction set of this path.
    pub(crate) fn instruction_set(self) -> InstructionSet {
        match self {
            SimdPath::Portable => InstructionSet::Baseline,
            #[cfg(target_arch = "x86_64")]
            SimdPath::Avx2(_) => InstructionSet::Avx2,
            #[cfg(target_arch = "x86_64")]
            SimdPath::Avx512(_) => InstructionSet::Avx512,
        }
    }

    pub(crate) fn product(self, rows: QuantizedRows<'_>, matrix: &WeightMatrix<'_>, out: &mut [f32]) {
        on_path!(
            self,
            kernels::product(rows, matrix, out),
            avx2::product(rows, matrix, out),
            avx512::product(rows, matrix, out)
        );
    }

    pub(crate) fn quantize_rows(self, rows: &[f32], inputs: usize, pairs: &mut [u32], scales: &mut [f32]) {
        on_path!(
            self,
            kernels::quantize_rows(rows, inputs, pairs, scales),
            avx2::quantize_rows(rows, inputs, pairs, scales),
            avx512::quantize_rows(rows, inputs, pairs, scales)
        );
    }

    pub(crate) fn add_and_norm(self, rows: &mut [f32], more: &[f32], norm: LayerNorm<'_>) {
        on_path!(
            self,
            kernels::add_and_norm(rows, more, norm),
            avx2::add_and_norm(rows, more, norm),
            avx512::add_and_norm(rows, more, norm)
        );
    }

    pub(crate) fn gelu(self, values: &mut [f32]) {
        on_path!(self, kernels::gelu::<false>(values), avx2::gelu(values), avx512::gelu(values));
    }

    pub(crate) fn attend(self, input: AttentionInput<'_>, scratch: &mut HeadScratch, out: &mut [f32]) {
        on_path!(
            self,
            attention::attend::<false>(input, scratch, out),
            avx2::attend(input, scratch, out),
            avx512_attention::attend(input, scratch, out)
        );
    }

    pub(crate) fn dot(self, a: &[i8], b: &[i8]) -> i32 {
        on_path!(self, portable::dot(a, b), avx2::dot(a, b), avx2::dot(a, b))
    }

    pub(crate) fn dots(self, query: &[i8], rows: &[i8], out: &mut Vec<i32>) {
        let rows = rows.chunks_exact(query.len().max(1));
        on_path!(
            self,
            out.extend(rows.map(|row| portable::dot(query, row))),
            avx2::dots(query, rows, out),
            avx2::dots(query, rows, out)
        );
    }

    pub(crate) fn sign_distances(self, query: &[u64], rows: &[u64], out: &mut Vec<u32>) {
        on_path!(
            self,
            portable::sign_distances(query, rows, out),
            avx2::sign_distances(query, rows, out),
            avx2::sign_distances(query, rows, out)
        );
    }
}

pub(crate) fn as_i8(bytes: &[u8]) -> &[i8] {
    // SAFETY: `u8` and `i8` have the same size and alignment, and every bit pattern is valid for
    // both; length and lifetime are those of `bytes`.
    #[allow(unsafe_code)]
    unsafe {
        std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len())
    }
}

pub(crate) fn as_bytes(values: &[i8]) -> &[u8] {
    // SAFETY: as in `as_i8`, the other way round.
    #[allow(unsafe_code)]
    unsafe {
        std::slice::from_raw_parts(values.as_ptr().cast(), values.len())
    }
}
