//! Input and output of [`read_transcript`](super::read_transcript): [`ReadRules`], [`ReadPosition`] and
//! the [`EventSink`].

use serde::{Deserialize, Serialize};

use crate::settings::HookSettings;
use claude_mem_core::agents::LineTranslator;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::{Event, EventKey, ProjectHint};

/// Position up to which a transcript was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadPosition {
    /// Offset of the first unread byte.
    pub offset: u64,
    pub state: ReaderState,
}

/// The reader's state, which lets it resume in the middle of a transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReaderState {
    /// The prompt that the current turn began with.
    pub prompt_id: Option<String>,
    /// Nothing of the current turn may be captured.
    pub muted: bool,
    /// Something earlier was private, and summaries may repeat it.
    pub had_private: bool,
    /// The prompts of muted turns, for the transcripts of their subagents.
    pub private_prompts: Vec<String>,
    /// The latest prompt of the user. It differs from `prompt_id` in a turn that something else began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_prompt_id: Option<String>,
    /// Prompts of the queue that have not become anything yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queue: Vec<QueuedPrompt>,
    /// Bytes of the texts that the current turn has left.
    #[serde(skip_serializing_if = "is_zero")]
    pub text_bytes: u64,
    /// The words of private blocks, as [`SessionWords`](crate::session_words::SessionWords) encodes them.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub private_words: String,
}

/// A prompt that entered the queue. Its text is redacted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct QueuedPrompt {
    /// When it was queued, in milliseconds; identifies it within the session.
    pub at_ms: i64,
    pub text: String,
    /// The whole prompt is private.
    pub private: bool,
    /// When prompts left the queue during the turn, in milliseconds. This one may be among them.
    pub removed_ms: Option<i64>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl ReaderState {
    /// The state after the file was replaced: only the privacy of the session is kept.
    pub(super) fn of_replaced_file(self) -> Self {
        Self {
            muted: self.muted,
            had_private: self.had_private,
            private_prompts: self.private_prompts,
            private_words: self.private_words,
            ..Self::default()
        }
    }
}

/// The session that a transcript belongs to, and the rules for capturing it.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "one of the rules is a function")]
pub struct ReadRules<'a> {
    pub client: &'a str,
    /// The client's session id. Records with another id are the copied history of that session.
    pub session: &'a str,
    pub settings: &'a HookSettings,
    pub home: &'a str,
    pub project: Option<&'a ProjectHint>,
    /// Path of the main transcript, recorded in the events.
    pub path: &'a str,
    /// The subagent whose transcript this is; `None` for the main transcript.
    pub agent: Option<&'a Subagent>,
    /// Older records belong to the session that this one continues.
    pub since: Option<Millis>,
    /// Whether a hook has muted the turn of this prompt.
    pub is_muted: &'a dyn Fn(&str) -> bool,
    /// The session has ended, so its last message is final.
    pub ended: bool,
    /// Translates the lines of another client than Claude Code.
    pub translate: Option<LineTranslator>,
}

/// A subagent of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subagent {
    pub id: String,
    pub kind: Option<String>,
}

/// Receives the events of a transcript.
pub trait EventSink {
    /// Whether this event is already known and need not be built.
    fn is_known(&mut self, key: EventKey) -> bool;
    /// Receives one event, in transcript order.
    fn push(&mut self, key: EventKey, event: Event);
    /// Called before the line at this offset is read.
    fn line_started(&mut self, _offset: u64) {}
    /// Called after a line was processed; the next one starts at `offset`. `is_safe` means that no
    /// earlier line is needed any more, so that reading can resume at `offset`.
    fn line_finished(&mut self, _offset: u64, _state: &ReaderState, _is_safe: bool) {}
}
