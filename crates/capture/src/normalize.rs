//! Normalizes a client's hook call into an [`Event`].
//!
//! [`DecodedHookCall::normalize`] combines the payload's header, its raw contents and the turn's
//! privacy marks into a [`NormalizedEvent`], or `None` if nothing may be captured.
//!
//! Invariant: the event is fully redacted. Unreadable contents are omitted and the event is marked as
//! cut; an unreadable prompt counts as private.

use std::path::Path;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::payload;
use crate::payload::{ClientPayload, PayloadHeader};
use crate::transcript;
use crate::{sanitize, transcript_tail, truncate};
use claude_mem_core::agents::{CodingAgent, HookEventKind};
use claude_mem_core::clock::Micros;
use claude_mem_core::event::{Event, EventBody, ProjectHint};
use claude_mem_core::ids::ClientSessionId;
use claude_mem_core::limits::{MESSAGE_BYTES_MAX, TOOL_INPUT_BYTES_MAX, TOOL_OUTPUT_BYTES_MAX};
use claude_mem_core::source::TextSource;
use claude_mem_redact::HeadTailLimit;

/// One hook call as far as it could be decoded.
#[derive(Debug)]
pub struct DecodedHookCall<'a> {
    pub agent: &'static CodingAgent,
    pub kind: HookEventKind,
    pub session: &'a str,
    pub header: &'a PayloadHeader,
    /// `None` if the payload was too long or malformed: only the header is known.
    pub payload: Option<&'a ClientPayload<'a>>,
    pub at: Micros,
}

/// What the privacy marks exclude from capture.
#[derive(Clone, Copy, Debug, Default)]
pub struct TurnSuppression {
    /// Nothing of this turn may be captured.
    pub turn: bool,
    /// No summary of the session may be captured.
    pub summaries: bool,
}

/// How much of a prompt is private.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptPrivacy {
    None,
    Part,
    All,
}

/// An event and the message id that its key may need.
#[derive(Debug)]
pub struct NormalizedEvent {
    pub event: Event,
    /// The transcript's id of the agent's last message, if we had to read it there.
    pub message_id: Option<String>,
}

impl DecodedHookCall<'_> {
    /// How much of the prompt is private. An unreadable prompt counts as fully private.
    pub fn privacy(&self) -> PromptPrivacy {
        let Some(text) = self.text_field(|wire| wire.prompt) else {
            return PromptPrivacy::All;
        };
        let stripped = claude_mem_redact::private(&text);
        if stripped.is_fully_private() {
            PromptPrivacy::All
        } else if stripped.private {
            PromptPrivacy::Part
        } else {
            PromptPrivacy::None
        }
    }

    /// The tool's raw input, response and error.
    pub fn raw_contents(&self) -> [Option<&RawValue>; 3] {
        self.payload.map_or([None; 3], |wire| [wire.tool_input, wire.tool_response, wire.error])
    }

    /// Builds the event to capture. `None` if nothing of this call may be captured.
    pub fn normalize(
        &self,
        silence: TurnSuppression,
        project: Option<ProjectHint>,
    ) -> Option<NormalizedEvent> {
        let mut message_id = None;
        let mut cut = self.payload.is_none();
        let body = match self.kind {
            HookEventKind::BeforeTool => return None,
            HookEventKind::SessionStart => EventBody::SessionStart {
                source: known_or_empty(self.header.source.as_deref(), &sanitize::SESSION_START_SOURCES),
            },
            HookEventKind::SessionEnd => EventBody::SessionEnd {
                reason: known_or_empty(self.header.reason.as_deref(), &sanitize::SESSION_END_REASONS),
            },
            HookEventKind::PreCompact => EventBody::PreCompact {
                trigger: known_or_empty(self.header.trigger.as_deref(), &sanitize::COMPACT_TRIGGERS),
            },
            HookEventKind::Prompt => self.prompt(),
            HookEventKind::Stop => EventBody::Stop {
                last_message: if silence.turn {
                    None
                } else {
                    let path = self.header.transcript_path.as_deref();
                    self.last_message(path, &mut message_id)
                },
            },
            _ if silence.turn => return None,
            HookEventKind::SubagentStop if self.is_warmup() => return None,
            HookEventKind::SubagentStop => EventBody::SubagentStop {
                last_message: {
                    let path = self.header.agent_transcript_path.as_deref();
                    self.last_message(path, &mut message_id)
                },
            },
            HookEventKind::PostCompact if silence.summaries => return None,
            HookEventKind::PostCompact => EventBody::PostCompact {
                summary: {
                    let said = self.text_field(|wire| wire.compact_summary)?;
                    redact_message(transcript::compact_summary(&said))
                },
            },
            HookEventKind::ToolUse | HookEventKind::ToolFailure => self.tool_use(&mut cut),
        };
        let event = Event {
            client: self.agent.name.to_owned(),
            session: ClientSessionId(self.session.to_owned()),
            at: self.at,
            project,
            prompt_id: self.header.prompt_id.clone(),
            agent_id: self.header.agent_id.clone(),
            agent_type: self.header.agent_type.clone(),
            transcript_path: self.header.transcript_path.as_deref().and_then(sanitize::sanitize_path),
            cut,
            body,
        };
        Some(NormalizedEvent { event, message_id })
    }

    fn prompt(&self) -> EventBody {
        let text = self.text_field(|wire| wire.prompt);
        match (self.privacy(), text) {
            (PromptPrivacy::All, _) | (_, None) => {
                EventBody::Prompt { text: String::new(), private: true, source: TextSource::Prompt }
            }
            (_, Some(text)) => {
                EventBody::Prompt { text: redact_message(&text), private: false, source: TextSource::Prompt }
            }
        }
    }

    fn tool_use(&self, cut: &mut bool) -> EventBody {
        let failed = self.kind == HookEventKind::ToolFailure;
        let mut part = |raw: Option<&RawValue>, bytes_max| match raw {
            None => Value::Null,
            Some(raw) => {
                let kept = truncate::truncate_json(raw, bytes_max);
                *cut |= kept.cut;
                kept.value
            }
        };
        let wire = self.payload;
        let output = wire.and_then(|wire| if failed { wire.error } else { wire.tool_response });
        EventBody::ToolUse {
            tool: self.header.tool.clone().unwrap_or_default(),
            tool_use_id: self.header.tool_use_id.clone(),
            input: part(wire.and_then(|wire| wire.tool_input), TOOL_INPUT_BYTES_MAX),
            output: part(output, TOOL_OUTPUT_BYTES_MAX),
            failed,
            duration_ms: self.header.duration_ms,
        }
    }

    /// The agent's last message, from the payload, else from the end of the transcript.
    fn last_message(&self, transcript: Option<&str>, id: &mut Option<String>) -> Option<String> {
        if let Some(text) = self.text_field(|wire| wire.last_assistant_message) {
            return Some(redact_message(&text));
        }
        // An unreadable transcript yields no message; transcript backfill tries again later.
        let last = transcript_tail::last_message(Path::new(transcript?), self.session).ok()??;
        *id = last.id;
        Some(redact_message(&last.text))
    }

    /// Whether this is a warm-up subagent, which some clients start without a task. The payloads of
    /// those clients omit the last message.
    fn is_warmup(&self) -> bool {
        let silent = self.text_field(|wire| wire.last_assistant_message).is_none();
        let transcript = self.header.agent_transcript_path.as_deref();
        silent && transcript.is_some_and(|path| transcript_tail::is_warmup(Path::new(path)))
    }

    fn text_field<'w>(
        &'w self,
        field: impl Fn(&ClientPayload<'w>) -> Option<&'w RawValue>,
    ) -> Option<std::borrow::Cow<'w, str>> {
        self.payload.and_then(field).and_then(payload::decode_string)
    }
}

fn known_or_empty(said: Option<&str>, words: &[&str]) -> String {
    said.map_or_else(String::new, |said| sanitize::known_word(said, words))
}

fn redact_message(text: &str) -> String {
    claude_mem_redact::text(text, HeadTailLimit::from_total(MESSAGE_BYTES_MAX)).text.into_owned()
}

#[cfg(test)]
#[path = "normalize_tests.rs"]
mod tests;
