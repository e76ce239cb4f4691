//! The encoder as a parameter, so that search does not depend on a model.

/// Maximum tokens of a query that are embedded. The time is proportional to their number.
const VECTOR_QUERY_TOKENS_MAX: usize = 64;

/// Maps texts of similar meaning to vectors of similar direction: unit length, `width` dimensions.
pub trait TextEncoder: Sync {
    /// Identifies the model; vectors of different ids are not comparable.
    fn id(&self) -> &str;
    /// The number of dimensions.
    fn width(&self) -> usize;
    /// The vector of a query.
    fn embed_query(&self, text: &str) -> Vec<f32>;
    /// The vectors of stored texts, in order.
    fn embed_documents(&self, texts: &[&str]) -> Vec<Vec<f32>>;
}

impl TextEncoder for embed::EmbeddingModel {
    fn id(&self) -> &str {
        Self::id(self)
    }

    fn width(&self) -> usize {
        Self::width(self)
    }

    fn embed_query(&self, text: &str) -> Vec<f32> {
        self.encode_query_first(text, VECTOR_QUERY_TOKENS_MAX)
    }

    fn embed_documents(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        self.encode_batch(texts)
    }
}
