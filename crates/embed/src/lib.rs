//! Text in, a unit vector out. Knows nothing of memory.
//!
//! ```text
//! text ─► tokenizer (unicode, vocab) ─► ids ─► encoder (kernels, simd) ─► vector
//!                       ▲                          ▲
//!                       └── weights file (format, layout), inside the executable
//! ```
//!
//! Invariant: the same text gives the same vector, whatever it is batched with and
//! whatever came before it. Absent on purpose: files, the network, threads, any state
//! between calls.

mod attention;
mod encoder;
pub mod format;
mod kernels;
pub mod layout;
mod model;
mod simd;
mod tokenizer;
mod unicode;
mod unicode_table;
mod vector;
mod vocab;

pub use format::BadModel;
pub use model::Model;
pub use vector::{Int8, as_bytes, as_i8, dot_i8, dots_i8, quantize, sign_distances, signs};
