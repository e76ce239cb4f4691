//! Follows the prompts that the user queues while the agent works.
//!
//! The client records when a prompt enters the queue, and later, without naming it, that prompts left
//! it. A prompt that waits for the end of the turn becomes a user record and is an ordinary prompt. One
//! that is handed to the model during the turn appears nowhere else.
//!
//! Invariant: a queued prompt is taken once, as the prompt that it became or as a [`QueuedPrompt`].

use super::read_rules::QueuedPrompt;
use super::reader::TranscriptReader;
use super::record::TranscriptRecord;
use super::redaction::redact_text;
use crate::prompt_source::{self, PromptClass};
use claude_mem_core::clock::Millis;
use claude_mem_core::source::TextSource;

/// Maximum queued prompts that are followed. Of more, the oldest counts as handed to the model.
const QUEUED_PROMPTS_MAX: usize = 16;

impl TranscriptReader<'_> {
    pub(super) fn queue_operation(&mut self, record: &TranscriptRecord<'_>, at: Millis) {
        if self.rules.agent.is_some() {
            return;
        }
        let content = record.content();
        match (&*record.operation(), content) {
            ("enqueue", Some(text)) => self.enqueue_prompt(&text, at),
            ("remove", _) => self.mark_removed(at),
            // The user took the prompts back to edit them.
            ("popAll", Some(text)) => {
                let text = redact_text(&text);
                self.state.queue.retain(|queued| queued.private || !text.contains(&queued.text));
            }
            // A user record follows.
            _ => {}
        }
    }

    fn enqueue_prompt(&mut self, text: &str, at: Millis) {
        let queued = QueuedPrompt { at_ms: at.0, ..QueuedPrompt::default() };
        let queued = match self.user_words(text, at) {
            PromptClass::Private => QueuedPrompt { private: true, ..queued },
            // Nothing of a private turn is stored, not even until the turn ends.
            PromptClass::User(_) if self.is_muted() => return,
            PromptClass::User(text) => QueuedPrompt { text: redact_text(&text), ..queued },
            _ => return,
        };
        if self.state.queue.len() >= QUEUED_PROMPTS_MAX {
            let oldest = self.state.queue.remove(0);
            self.emit_queued_prompt(&oldest);
        }
        self.state.queue.push(queued);
    }

    /// A prompt of the queue that the client handed to the model during the turn.
    pub(super) fn queued_command(&mut self, text: &str, at: Millis) {
        if self.rules.agent.is_some() {
            return;
        }
        match self.user_words(text, at) {
            PromptClass::Private => self.mute_rest_of_turn(),
            PromptClass::User(text) => {
                let text = redact_text(&text);
                let known = self.state.queue.iter().position(|queued| queued.text == text);
                let queued = match known {
                    Some(at) => self.state.queue.remove(at),
                    None => QueuedPrompt { at_ms: at.0, text, ..QueuedPrompt::default() },
                };
                self.emit_queued_prompt(&QueuedPrompt { removed_ms: Some(at.0), ..queued });
            }
            _ => {}
        }
    }

    /// Classifies a text of the queue. What subagents and teammates report there is taken at once; the
    /// rest is the user's only if it looks typed.
    fn user_words(&mut self, text: &str, at: Millis) -> PromptClass {
        let start = text.trim_start();
        let by_client = start.starts_with('{') || prompt_source::is_local_command_line(start);
        if by_client {
            return PromptClass::ClientText;
        }
        let prompt = prompt_source::classify_prompt(text);
        self.state.had_private |= prompt.has_private_part;
        match prompt.class {
            PromptClass::User(_) if start.starts_with('<') && !prompt.has_private_part => {
                return PromptClass::ClientText;
            }
            PromptClass::Notification(report) => self.subagent_report(&report, at),
            PromptClass::Teammate(message) => self.teammate_message(&message, at),
            class => return class,
        }
        PromptClass::ClientText
    }

    fn mark_removed(&mut self, at: Millis) {
        for queued in &mut self.state.queue {
            queued.removed_ms.get_or_insert(at.0);
        }
        // The model has read it, and may repeat it from here on.
        if self.state.queue.iter().any(|queued| queued.private) {
            self.state.queue.retain(|queued| !queued.private);
            self.mute_rest_of_turn();
        }
    }

    /// A queued prompt became this user record. `text` is redacted.
    pub(super) fn queued_prompt_began(&mut self, text: &str) {
        let text = text.trim();
        let known = self.state.queue.iter().position(|queued| queued.text.trim() == text);
        if let Some(at) = known {
            self.state.queue.remove(at);
        }
    }

    /// Emits the prompts that left the queue during the turn, and all of them at the end of the session.
    pub(super) fn emit_queued_prompts(&mut self, session_ended: bool) {
        if self.state.queue.is_empty() {
            return;
        }
        let queue = std::mem::take(&mut self.state.queue);
        let (due, left): (Vec<_>, Vec<_>) =
            queue.into_iter().partition(|queued| session_ended || queued.removed_ms.is_some());
        self.state.queue = left;
        for queued in &due {
            self.emit_queued_prompt(queued);
        }
    }

    fn emit_queued_prompt(&mut self, queued: &QueuedPrompt) {
        let id = format!("queue:{}", queued.at_ms);
        let at = Millis(queued.removed_ms.unwrap_or(queued.at_ms));
        self.emit_user_words(TextSource::QueuedPrompt, &queued.text, Some(id), None, at);
    }
}
