//! Text embeddings: [`EmbeddingModel`] maps a text to a unit vector. Independent of the rest of
//! claude-mem.
//!
//! ```text
//! text ─► tokenizer (unicode, vocab) ─► ids ─► encoder (kernels, simd) ─► vector
//!                       ▲                          ▲
//!                       └── weights file (format, layout), inside the executable
//! ```
//!
//! The weights are part of the executable, so there are no files, no network, no threads and no
//! state between calls. Vectors are stored and compared as int8 or as one bit per dimension
//! ([`quantize`], [`signs`]).
//!
//! Invariant: a text's vector does not depend on other texts in its batch or on earlier calls.

mod attention;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod avx512_attention;
mod encoder;
pub mod format;
mod kernels;
pub mod layout;
mod model;
mod portable;
mod simd;
mod tokenizer;
mod unicode;
mod unicode_table;
mod vector;
mod vocab;

pub use format::WeightsError;
pub use model::EmbeddingModel;
pub use simd::InstructionSet;
pub use vector::{QuantizedVector, as_bytes, as_i8, dot_i8, dots_i8, quantize, sign_distances, signs};
