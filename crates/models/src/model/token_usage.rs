//! The tokens of one call.

/// Tokens as the provider counts them. Cached input counts as input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage {
    pub input: u64,
    pub output: u64,
}

impl TokenUsage {
    pub const fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}
