//! A scripted model: a real HTTP/1.1 server on loopback.
//!
//! A [`ScriptedModel`] accepts requests of Anthropic's Messages API, OpenAI's chat completions and responses, and
//! Gemini's `generateContent`, and answers each with the next [`ModelTurn`] of its [`ModelScript`], in the same API,
//! streamed if the request asks for it. Every [`RecordedRequest`] is kept for the test to inspect.
//!
//! Invariant: dropping the model ends every connection, including those that a turn holds open. There is
//! no async runtime and no sleeping; a delay is a [`TestGate`] that the test opens.

mod anthropic;
mod fault;
mod gate;
mod gemini;
mod http;
mod openai;
mod request;
mod responses;
mod script;
mod server;
mod turn;

#[cfg(test)]
mod faces_tests;
#[cfg(test)]
mod faults_tests;
#[cfg(test)]
mod script_tests;

pub use fault::ResponseFault;
pub use gate::TestGate;
pub use request::{ModelApi, RecordedRequest, ToolResult};
pub use script::{ModelScript, RequestMatcher};
pub use server::ScriptedModel;
pub use turn::{BilledUsage, ModelTurn, ScriptedToolCall, StopReason, TurnSource};
