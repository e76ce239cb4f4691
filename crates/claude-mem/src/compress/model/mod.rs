//! The models that can compress, behind one small trait.
//!
//! In: an `Ask`. Out: the text of an answer and what it cost, or an error that is a decision.
//!
//! Invariant: every call ends by its deadline, whatever the other side does, and holds no more
//! than a bounded answer in memory. A key is in no error, no log and no `Debug` output. One call
//! is one attempt: whether to try again is the ladder's decision, not a model's.

mod anthropic;
mod choice;
mod claude;
mod claude_faults;
mod conversation;
mod endpoint;
mod error;
mod fault;
mod gemini;
mod http;
mod openai;
mod pool;

use std::time::Duration;

pub use anthropic::Anthropic;
pub use choice::{Choice, Edge};
pub use claude::{Claude, Launch, MARKER, environment};
pub use endpoint::Endpoint;
pub use error::{ModelError, Spent};
pub use gemini::Gemini;
pub use http::{Network, proxy_from_environment, refused_proxy};
pub use openai::OpenAi;
pub use pool::Pool;

use crate::clock::Millis;

/// One question.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// Who the model is and how it must answer. The same for a whole session.
    pub system: &'a str,
    /// What is known of the session; for models that do not remember it themselves.
    pub so_far: &'a str,
    pub message: &'a str,
    pub answer_tokens_max: u32,
    /// To make sense of a date that a server names.
    pub now: Millis,
}

impl Ask<'_> {
    /// The message with all that a model must know which remembers nothing.
    fn whole_message(&self) -> String {
        if self.so_far.is_empty() {
            return self.message.to_owned();
        }
        format!("<so_far>\n{}\n</so_far>\n{}", self.so_far, self.message)
    }
}

/// What came back, not yet read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub text: String,
    /// Absent where the provider does not say; then the estimator speaks.
    pub usage: Option<Usage>,
}

/// Tokens as the provider counts them. What it read from a cache counts as input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
}

impl Usage {
    pub const fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// Something that answers.
pub trait Model: Send {
    /// Asks once and waits no longer than the deadline.
    fn answer(&mut self, ask: &Ask<'_>, deadline: Duration) -> Result<Answer, ModelError>;

    /// Tokens that the next call sends again, because a conversation carries them.
    fn carried_tokens(&self) -> u64 {
        0
    }

    /// Lets go of what an unused model holds. The next ask takes it up again.
    fn rest(&mut self) {}
}

#[cfg(test)]
mod wire_tests;
