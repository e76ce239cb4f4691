//! Reads records with the user's role: prompts of the user and of others, tool results, summaries.

use std::borrow::Cow;

use super::compact;
use super::reader::TranscriptReader;
use super::record::{RecordContent, RecordMessage, TranscriptRecord};
use super::redaction::redact_message;
use crate::prompt_source::{self, ClassifiedPrompt, PromptClass};
use crate::sanitize;
use claude_mem_core::agents::WARMUP_PROMPT;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::EventBody;
use claude_mem_core::source::TextSource;

impl TranscriptReader<'_> {
    pub(super) fn user_record(
        &mut self,
        record: &TranscriptRecord<'_>,
        message: &RecordMessage<'_>,
        at: Millis,
    ) {
        let Some(content) = message.content() else {
            return self.handle_partial_record(record);
        };
        if let RecordContent::Blocks(blocks) = &content
            && blocks.iter().any(|block| block.kind() == "tool_result")
        {
            self.last_message_was_not_last();
            return self.tool_results(record, blocks, at);
        }
        let text = content.text();
        if record.is_compact_summary() {
            return self.compact_summary(record, &text, at);
        }
        if self.rules.agent.is_some() {
            self.is_warmup |= text.trim() == WARMUP_PROMPT;
            return;
        }
        if record.is_sidechain() || record.is_client_generated() {
            return;
        }
        let prompt = classify_record(record, &text);
        self.state.had_private |= prompt.has_private_part;
        if prompt.has_private_part {
            self.learn_private_words(&text);
        }
        match prompt.class {
            PromptClass::User(said) => self.start_turn(record, Some(&said), at),
            PromptClass::Private => self.start_turn(record, None, at),
            PromptClass::Foreign(source, text) => self.foreign_prompt(record, source, &text, at),
            PromptClass::Notification(report) => {
                self.start_foreign_turn(record);
                self.subagent_report(&report, at);
            }
            PromptClass::Teammate(message) => {
                self.start_foreign_turn(record);
                self.teammate_message(&message, at);
            }
            PromptClass::Interruption => {
                self.last_message_was_not_last();
                self.pending_calls.clear();
            }
            PromptClass::ClientText => {}
        }
    }

    /// Starts a turn of the user. `said` is `None` if all of the prompt is private.
    fn start_turn(&mut self, record: &TranscriptRecord<'_>, said: Option<&str>, at: Millis) {
        let text = said.map(redact_message).unwrap_or_default();
        // Before the turn ends: a prompt that waited for its end was in the queue until now.
        self.queued_prompt_began(&text);
        self.end_turn();
        self.pending_calls.clear();
        let prompt_id = record.prompt_id().map(Cow::into_owned).and_then(sanitize::sanitize_id);
        let marked = prompt_id.as_deref().is_some_and(self.rules.is_muted);
        let muted = marked || said.is_none();
        self.state.had_private |= muted;
        if let Some(id) = prompt_id.as_ref().filter(|_| muted) {
            self.note_private(id);
        }
        self.state.muted = muted;
        self.state.user_prompt_id.clone_from(&prompt_id);
        self.state.prompt_id = prompt_id;
        self.state.text_bytes = 0;
        let text = if muted { String::new() } else { text };
        let event =
            self.build_event(at, EventBody::Prompt { text, private: muted, source: TextSource::Prompt });
        self.emit(event, None);
    }

    /// Starts a turn that the user did not begin. A private turn stays private in it.
    fn start_foreign_turn(&mut self, record: &TranscriptRecord<'_>) {
        self.end_turn();
        self.pending_calls.clear();
        self.state.text_bytes = 0;
        if let Some(id) = record.prompt_id().map(Cow::into_owned).and_then(sanitize::sanitize_id) {
            self.state.prompt_id = Some(id);
        }
    }

    fn foreign_prompt(&mut self, record: &TranscriptRecord<'_>, source: TextSource, text: &str, at: Millis) {
        self.start_foreign_turn(record);
        if !self.is_muted() {
            let body = EventBody::Prompt { text: redact_message(text), private: false, source };
            self.emit(self.build_event(at, body), None);
        }
    }

    fn compact_summary(&mut self, record: &TranscriptRecord<'_>, text: &str, at: Millis) {
        if self.state.had_private || self.state.muted || self.rules.agent.is_some() {
            return;
        }
        let summary = redact_message(compact::strip_compact_wrapper(text));
        if summary.trim().is_empty() {
            return;
        }
        let mut event = self.build_event(at, EventBody::PostCompact { summary });
        event.prompt_id = record.prompt_id().map(Cow::into_owned);
        self.emit(event, None);
    }
}

/// Classifies a user record. The fields of a record tell more than a hook knows.
fn classify_record(record: &TranscriptRecord<'_>, text: &str) -> ClassifiedPrompt {
    let prompt = prompt_source::classify_prompt(text);
    let class = match prompt.class {
        PromptClass::User(text) if record.plan_content().is_some() => {
            PromptClass::Foreign(TextSource::Plan, text)
        }
        PromptClass::User(_) | PromptClass::Private if record.is_of_other_origin() => PromptClass::ClientText,
        class => class,
    };
    ClassifiedPrompt { class, ..prompt }
}
