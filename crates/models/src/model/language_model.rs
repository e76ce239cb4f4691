//! The trait that every provider implements, with its request and reply.

use std::time::Duration;

use super::error::ModelError;
use super::token_usage::TokenUsage;
use claude_mem_core::clock::Millis;

/// One request to a model.
#[derive(Clone, Copy, Debug)]
pub struct ModelRequest<'a> {
    /// Role and answer contract. The same for a whole session.
    pub system: &'a str,
    /// The session's rolling summary, for models without a running conversation.
    pub so_far: &'a str,
    pub message: &'a str,
    pub answer_tokens_max: u32,
    /// The current time, to interpret a `Retry-After` date.
    pub now: Millis,
}

impl ModelRequest<'_> {
    /// The message preceded by the rolling summary, for a model that keeps no conversation.
    pub(super) fn standalone_message(&self) -> String {
        if self.so_far.is_empty() {
            return self.message.to_owned();
        }
        format!("<so_far>\n{}\n</so_far>\n{}", self.so_far, self.message)
    }
}

/// A model's reply, not yet parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelReply {
    pub text: String,
    /// `None` if the provider does not report it; then our estimate is used.
    pub usage: Option<TokenUsage>,
}

/// A language model that can be asked.
pub trait LanguageModel: Send {
    /// Makes one call and waits at most `deadline`.
    fn answer(&mut self, ask: &ModelRequest<'_>, deadline: Duration) -> Result<ModelReply, ModelError>;

    /// Tokens of the running conversation, which the next call sends again.
    fn carried_tokens(&self) -> u64 {
        0
    }

    /// Releases resources, e.g. a child process. The next call acquires them again.
    fn release(&mut self) {}
}
