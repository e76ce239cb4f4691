//! What turns a text into numbers: a parameter, so that nothing here depends on a model.

use crate::limits::VECTOR_QUERY_TOKENS_MAX;

/// Gives texts of like meaning vectors of like direction. Unit length, `width` numbers each.
pub trait Encoder: Sync {
    /// Vectors of encoders of different ids do not compare.
    fn id(&self) -> &str;
    fn width(&self) -> usize;
    /// The vector of what somebody looks for.
    fn query(&self, text: &str) -> Vec<f32>;
    /// The vectors of stored texts, in their order.
    fn texts(&self, texts: &[&str]) -> Vec<Vec<f32>>;
}

impl Encoder for embed::Model {
    fn id(&self) -> &str {
        Self::id(self)
    }

    fn width(&self) -> usize {
        Self::width(self)
    }

    fn query(&self, text: &str) -> Vec<f32> {
        self.encode_query_first(text, VECTOR_QUERY_TOKENS_MAX)
    }

    fn texts(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        self.encode_batch(texts)
    }
}
