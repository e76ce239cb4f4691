//! A prompt and what was done for it: the unit that a compressor reads.
//!
//! In: the events of one session, in order. Out: an `Episode` for `distil` or `compress`.
//! Everything in it has been redacted already; nothing here is raw.

use serde::{Deserialize, Serialize};

use crate::clock::Millis;

/// One prompt with its tool uses and the agent's last words. A turn that is too long or too old
/// is cut into several episodes, of which only the last has `final_message`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    pub project: String,
    /// The project's root directory, so that paths can be shown relative to it.
    pub root: String,
    pub branch: Option<String>,
    pub prompt: Option<Prompt>,
    pub steps: Vec<Step>,
    pub final_message: Option<FinalMessage>,
    /// The client's own account of a compacted conversation, where one came in this episode.
    pub compact_summary: Option<String>,
    /// True when Stop closed it: then a summary is due.
    pub finished: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Prompt {
    pub number: u32,
    pub text: String,
    pub at: Millis,
}

/// One tool call with its result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// As the client names it: `Bash`, `Edit`, `mcp__server__tool`.
    pub tool: String,
    pub input: serde_json::Value,
    /// The client's structured response, or the plain text of an old or a failed one.
    pub output: serde_json::Value,
    pub failed: bool,
    pub at: Millis,
    /// The subagent that made the call, if one did.
    pub agent: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FinalMessage {
    pub text: String,
    pub at: Millis,
}
