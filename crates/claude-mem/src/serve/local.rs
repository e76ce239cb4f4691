//! The distiller as the worker calls it: no model, no waiting, no failure.

use super::drain::{Compressor, Verdict};
use super::work::{Made, Work};
use crate::distil::{self, Carry};
use crate::vocabulary::Vocabulary;

/// The name that rows of the distiller carry.
pub const LOCAL: &str = "local";

#[derive(Debug, Default)]
pub struct Local {
    pub vocabulary: Vocabulary,
}

impl Compressor for Local {
    fn make(&self, work: &Work) -> Verdict {
        Verdict::Made(Box::new(made(work, &self.vocabulary)))
    }
}

/// What the distiller makes of an episode. A carry that does not read, because another version
/// wrote it, is an empty one.
pub fn made(work: &Work, vocabulary: &Vocabulary) -> Made {
    let carry = work.carry.as_deref();
    let mut carry: Carry = carry
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    let distilled = distil::distil(&work.episode, &mut carry, vocabulary);
    Made {
        distilled,
        by: LOCAL.to_owned(),
        carry: serde_json::to_string(&carry).ok(),
        rolling_summary: None,
    }
}
