//! From what the client sent to what we keep.
//!
//! In: a payload's fields, its unread contents, what is known of the turn. Out: an `Event`, all
//! of it redacted, or nothing. Contents that could not be read are missing, and the event says
//! so; a prompt that could not be read counts as private.

use std::path::Path;

use serde_json::Value;
use serde_json::value::RawValue;

use super::agents::{Agent, Kind};
use super::event::{Body, Event, ProjectHint};
use super::wire::{self, Head, Wire};
use super::{keep, plain, tail};
use crate::clock::Micros;
use crate::ids::ClientSessionId;
use crate::limits::{MESSAGE_BYTES_MAX, TOOL_INPUT_BYTES_MAX, TOOL_OUTPUT_BYTES_MAX};
use crate::redact::{self, Cut};
use crate::transcript;

/// One hook call, as far as it was understood.
#[derive(Debug)]
pub struct Call<'a> {
    pub agent: &'static Agent,
    pub kind: Kind,
    pub session: &'a str,
    pub head: &'a Head,
    /// `None`: the payload was too long or broken, and the head is all there is.
    pub wire: Option<&'a Wire<'a>>,
    pub at: Micros,
}

/// What the marks say about the turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silence {
    /// Nothing of this turn may be kept.
    pub turn: bool,
    /// Nothing that sums the session up may be kept.
    pub summaries: bool,
}

/// How much of a prompt is private.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privacy {
    None,
    Part,
    All,
}

/// An event and what its key needs beyond it.
#[derive(Debug)]
pub struct Taken {
    pub event: Event,
    /// The transcript's id of the agent's last message, where we had to look it up.
    pub message_id: Option<String>,
}

impl Call<'_> {
    /// How private the prompt is. One that cannot be read may be all private.
    pub fn privacy(&self) -> Privacy {
        let Some(text) = self.content(|wire| wire.prompt) else {
            return Privacy::All;
        };
        let stripped = redact::private(&text);
        if stripped.is_fully_private() {
            Privacy::All
        } else if stripped.private {
            Privacy::Part
        } else {
            Privacy::None
        }
    }

    /// What a tool was given and what came of it, unread.
    pub fn contents(&self) -> [Option<&RawValue>; 3] {
        self.wire.map_or([None; 3], |wire| {
            [wire.tool_input, wire.tool_response, wire.error]
        })
    }

    /// The event to keep. `None`: nothing of this call may be kept.
    pub fn take(&self, silence: Silence, project: Option<ProjectHint>) -> Option<Taken> {
        let mut message_id = None;
        let mut cut = self.wire.is_none();
        let body = match self.kind {
            Kind::BeforeTool => return None,
            Kind::SessionStart => Body::SessionStart {
                source: known(self.head.source.as_deref(), &plain::SOURCES),
            },
            Kind::SessionEnd => Body::SessionEnd {
                reason: known(self.head.reason.as_deref(), &plain::REASONS),
            },
            Kind::PreCompact => Body::PreCompact {
                trigger: known(self.head.trigger.as_deref(), &plain::TRIGGERS),
            },
            Kind::Prompt => self.prompt(),
            Kind::Stop => Body::Stop {
                last_message: if silence.turn {
                    None
                } else {
                    let path = self.head.transcript_path.as_deref();
                    self.last_message(path, &mut message_id)
                },
            },
            _ if silence.turn => return None,
            Kind::SubagentStop if self.is_warmup() => return None,
            Kind::SubagentStop => Body::SubagentStop {
                last_message: {
                    let path = self.head.agent_transcript_path.as_deref();
                    self.last_message(path, &mut message_id)
                },
            },
            Kind::PostCompact if silence.summaries => return None,
            Kind::PostCompact => Body::PostCompact {
                summary: {
                    let said = self.content(|wire| wire.compact_summary)?;
                    message(transcript::compact_summary(&said))
                },
            },
            Kind::ToolUse | Kind::ToolFailure => self.tool_use(&mut cut),
        };
        let event = Event {
            client: self.agent.name.to_owned(),
            session: ClientSessionId(self.session.to_owned()),
            at: self.at,
            project,
            prompt_id: self.head.prompt_id.clone(),
            agent_id: self.head.agent_id.clone(),
            agent_type: self.head.agent_type.clone(),
            transcript_path: self.head.transcript_path.as_deref().and_then(plain::path),
            cut,
            body,
        };
        Some(Taken { event, message_id })
    }

    fn prompt(&self) -> Body {
        let text = self.content(|wire| wire.prompt);
        match (self.privacy(), text) {
            (Privacy::All, _) | (_, None) => Body::Prompt {
                text: String::new(),
                private: true,
            },
            (_, Some(text)) => Body::Prompt {
                text: message(&text),
                private: false,
            },
        }
    }

    fn tool_use(&self, cut: &mut bool) -> Body {
        let failed = self.kind == Kind::ToolFailure;
        let mut part = |raw: Option<&RawValue>, bytes_max| match raw {
            None => Value::Null,
            Some(raw) => {
                let kept = keep::json(raw, bytes_max);
                *cut |= kept.cut;
                kept.value
            }
        };
        let wire = self.wire;
        let output = wire.and_then(|wire| {
            if failed {
                wire.error
            } else {
                wire.tool_response
            }
        });
        Body::ToolUse {
            tool: self.head.tool.clone().unwrap_or_default(),
            tool_use_id: self.head.tool_use_id.clone(),
            input: part(wire.and_then(|wire| wire.tool_input), TOOL_INPUT_BYTES_MAX),
            output: part(output, TOOL_OUTPUT_BYTES_MAX),
            failed,
            duration_ms: self.head.duration_ms,
        }
    }

    /// The agent's last words, from the payload, else from the end of the transcript.
    fn last_message(&self, transcript: Option<&str>, id: &mut Option<String>) -> Option<String> {
        if let Some(text) = self.content(|wire| wire.last_assistant_message) {
            return Some(message(&text));
        }
        // A transcript that cannot be read is no message; the reader of transcripts tries again.
        let last = tail::last_message(Path::new(transcript?)).ok()??;
        *id = last.id;
        Some(message(&last.text))
    }

    /// Some clients start agents that do nothing, to be quick later. Those clients do not tell an
    /// agent's last words.
    fn is_warmup(&self) -> bool {
        let silent = self.content(|wire| wire.last_assistant_message).is_none();
        let transcript = self.head.agent_transcript_path.as_deref();
        silent && transcript.is_some_and(|path| tail::is_warmup(Path::new(path)))
    }

    fn content<'w>(
        &'w self,
        field: impl Fn(&Wire<'w>) -> Option<&'w RawValue>,
    ) -> Option<std::borrow::Cow<'w, str>> {
        self.wire.and_then(field).and_then(wire::text)
    }
}

fn known(said: Option<&str>, words: &[&str]) -> String {
    said.map_or_else(String::new, |said| plain::word(said, words))
}

fn message(text: &str) -> String {
    redact::text(text, Cut::of(MESSAGE_BYTES_MAX))
        .text
        .into_owned()
}

#[cfg(test)]
#[path = "take_tests.rs"]
mod tests;
