//! Normalizes a client's hook call into an [`Event`].
//!
//! [`DecodedHookCall::normalize`] combines the payload's header, its raw contents and the turn's
//! privacy marks into a [`NormalizedEvent`], or `None` if nothing may be captured.
//!
//! Invariant: the event is fully redacted. Unreadable contents are omitted and the event is marked as
//! cut; an unreadable prompt counts as private.

use std::cell::OnceCell;
use std::path::Path;

use serde_json::value::RawValue;

use crate::payload;
use crate::payload::{ClientPayload, PayloadHeader};
use crate::private_word_mask::mask_private_words;
use crate::prompt_source::{self, ClassifiedPrompt, PromptClass, PromptPrivacy};
use crate::session_words::SessionWords;
use crate::transcript;
use crate::truncate::{ToolCallTruncator, TruncatedValue};
use crate::{sanitize, transcript_tail};
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
    /// The speaker of the prompt, classified when it is first needed.
    pub prompt: OnceCell<Option<ClassifiedPrompt>>,
}

/// The parts of a session that privacy marks exclude from capture.
#[derive(Clone, Copy, Debug, Default)]
pub struct TurnSuppression {
    /// Nothing of this turn may be captured.
    pub turn: bool,
    /// No summary of the session may be captured.
    pub summaries: bool,
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
        self.classified_prompt().map_or(PromptPrivacy::All, ClassifiedPrompt::privacy)
    }

    /// Whether a part of the prompt is private, even if the user did not write it.
    pub fn has_private_part(&self) -> bool {
        self.classified_prompt().is_none_or(|prompt| prompt.has_private_part)
    }

    /// Whether the call begins a turn of the user.
    pub fn begins_user_turn(&self) -> bool {
        self.kind == HookEventKind::Prompt && self.privacy() != PromptPrivacy::Foreign
    }

    /// The prompt with its class. `None` if it is unreadable.
    fn classified_prompt(&self) -> Option<&ClassifiedPrompt> {
        let classify = || {
            let text = self.text_field(|wire| wire.prompt)?;
            Some(prompt_source::classify_prompt(&text))
        };
        self.prompt.get_or_init(classify).as_ref()
    }

    /// The tool's raw input, response and error.
    pub fn raw_contents(&self) -> [Option<&RawValue>; 3] {
        self.payload.map_or([None; 3], |wire| [wire.tool_input, wire.tool_response, wire.error])
    }

    /// Learns from the private blocks of what a tool got and gave and of what the agent said. True if something was
    /// new.
    pub(crate) fn learn_private_words(&self, words: &mut SessionWords) -> bool {
        let Some(wire) = self.payload else {
            return false;
        };
        let texts = [wire.tool_input, wire.tool_response, wire.error, wire.last_assistant_message];
        // Every text is looked at.
        texts.into_iter().flatten().fold(false, |is_new, raw| words.learn_raw(raw.get()) | is_new)
    }

    /// The whole prompt, with its private blocks; never to be stored.
    pub fn raw_prompt(&self) -> Option<std::borrow::Cow<'_, str>> {
        self.text_field(|wire| wire.prompt)
    }

    /// Builds the event to capture. `None` if nothing of this call may be captured.
    pub fn normalize(
        &self,
        silence: TurnSuppression,
        project: Option<ProjectHint>,
        private_words: &SessionWords,
    ) -> Option<NormalizedEvent> {
        let mut normalized = self.normalize_body(silence, project)?;
        mask_private_words(&mut normalized.event, private_words);
        Some(normalized)
    }

    fn normalize_body(
        &self,
        silence: TurnSuppression,
        project: Option<ProjectHint>,
    ) -> Option<NormalizedEvent> {
        let mut message_id = None;
        let mut agent_id = self.header.agent_id.clone();
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
            HookEventKind::Prompt => self.prompt(silence, &mut agent_id)?,
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
            agent_id,
            agent_type: self.header.agent_type.clone(),
            transcript_path: self.header.transcript_path.as_deref().and_then(sanitize::sanitize_path),
            cut,
            body,
        };
        Some(NormalizedEvent { event, message_id })
    }

    /// The event of a submitted prompt. What the user did not say is no prompt of the user: a plan that
    /// the client hands over has its own source, a subagent's report is the subagent's last message.
    fn prompt(&self, silence: TurnSuppression, agent_id: &mut Option<String>) -> Option<EventBody> {
        let prompt =
            |text: &str, source| EventBody::Prompt { text: redact_message(text), private: false, source };
        match self.classified_prompt().map(|prompt| &prompt.class) {
            None | Some(PromptClass::Private) => {
                Some(EventBody::Prompt { text: String::new(), private: true, source: TextSource::Prompt })
            }
            Some(PromptClass::User(text)) => Some(prompt(text, TextSource::Prompt)),
            Some(_) if silence.turn => None,
            Some(PromptClass::Foreign(source, text)) => Some(prompt(text, *source)),
            Some(PromptClass::Teammate(message)) => Some(EventBody::Text {
                source: TextSource::TeammateMessage,
                text: redact_message(&message.text),
                id: None,
                about: message.sender.clone(),
            }),
            // The report may repeat what an earlier turn kept private.
            Some(PromptClass::Notification(_)) if silence.summaries => None,
            Some(PromptClass::Notification(report)) => {
                *agent_id = Some(report.task_id.clone()?);
                let last_message = Some(redact_message(report.result.as_ref()?));
                Some(EventBody::SubagentStop { last_message })
            }
            Some(PromptClass::Interruption | PromptClass::ClientText) => None,
        }
    }

    fn tool_use(&self, cut: &mut bool) -> EventBody {
        let failed = self.kind == HookEventKind::ToolFailure;
        let mut truncator = ToolCallTruncator::default();
        let mut keep = |kept: Option<TruncatedValue>| {
            let kept = kept?;
            *cut |= kept.cut;
            Some(kept.value)
        };
        let wire = self.payload;
        let input = wire.and_then(|wire| wire.tool_input);
        let input = keep(input.map(|raw| truncator.input(raw, TOOL_INPUT_BYTES_MAX)));
        let output =
            wire.and_then(|wire| if failed { wire.error.or(wire.tool_response) } else { wire.tool_response });
        EventBody::ToolUse {
            tool: self.header.tool.clone().unwrap_or_default(),
            tool_use_id: self.header.tool_use_id.clone(),
            input: input.unwrap_or_default(),
            output: keep(output.map(|raw| truncator.output(raw, TOOL_OUTPUT_BYTES_MAX))).unwrap_or_default(),
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
        let translate = self.agent.transcripts.and_then(|transcripts| transcripts.translate);
        let last =
            transcript_tail::last_message(Path::new(transcript?), self.session, translate).ok().flatten();
        let Some(last) = last else {
            // Several ends of turns without a message and without a prompt's id are several events.
            *id = translate.map(|_| format!("at-{}", self.at.0));
            return None;
        };
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
