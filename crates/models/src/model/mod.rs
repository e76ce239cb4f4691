//! Language models behind one small trait.
//!
//! A [`LanguageModel`] takes a [`ModelRequest`] and returns a [`ModelReply`] with its [`TokenUsage`],
//! or a [`ModelError`] whose variants are decisions for the caller. [`ProviderConfig`] opens the model
//! that the settings name.
//!
//! Invariant: every call ends by its deadline, whatever the server does, and buffers a bounded
//! response. No key appears in an error, a log line or `Debug` output. One call is one attempt: the
//! backoff decides about retries, not the model.

mod anthropic;
mod api_key;
mod choice;
mod claude;
pub(crate) mod claude_conversation;
mod claude_faults;
mod claude_launch;
mod conversation;
mod endpoint;
mod error;
mod fault;
mod gemini;
mod http;
mod language_model;
mod openai;
mod pool;
mod token_usage;

pub use anthropic::AnthropicClient;
pub use api_key::read_api_key;
pub use choice::{MissingPart, ProviderConfig, ProviderEnv};
pub use claude::{COMPRESSOR_MARKER, ClaudeCodeClient, ClaudeLaunch, compressor_environment};
pub use claude_launch::ClaudeInstall;
pub use endpoint::ModelEndpoint;
pub use error::{FailureCost, ModelError};
pub use gemini::GeminiClient;
pub use http::NetworkConfig;
pub use language_model::{LanguageModel, ModelReply, ModelRequest};
pub use openai::OpenAiClient;
pub use pool::ModelPool;
pub use token_usage::TokenUsage;

#[cfg(test)]
mod wire_tests;
