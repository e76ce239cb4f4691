//! A model that answers from a script: a real HTTP/1.1 server on loopback.
//!
//! In: requests in the shape of Anthropic's Messages API, OpenAI's chat completions or Gemini's
//! `generateContent`. Out: the next [`Turn`] of the [`Script`], in the same shape, streamed if the
//! request asked for it. Every request is kept, so that a test can see what reached the model.
//!
//! Invariant: dropping the model ends every connection, also those a turn holds open. Absent on
//! purpose: an async runtime, sleeping; a delay is a [`Gate`] that the test opens.

mod anthropic;
mod fault;
mod gate;
mod gemini;
mod http;
mod openai;
mod request;
mod script;
mod server;
mod turn;

#[cfg(test)]
mod faces_tests;
#[cfg(test)]
mod faults_tests;
#[cfg(test)]
mod script_tests;

pub use fault::Fault;
pub use gate::Gate;
pub use request::{Face, Request, ToolResult};
pub use script::{Script, Source, When};
pub use server::ScriptedModel;
pub use turn::{Call, Stop, Turn, Usage};
