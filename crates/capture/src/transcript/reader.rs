//! Turns transcript lines into events.
//!
//! [`TranscriptReader`] tracks the current turn: its prompt, the tool calls without a result and the
//! latest assistant message, which becomes the turn's Stop event if it is the last. Its methods for tool
//! results, queued prompts and other texts are in the files named after them.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::value::RawValue;

use super::lines::has_user_role;
use super::read_rules::{EventSink, ReadPosition, ReadRules, ReaderState};
use super::record::{self, RecordContent, RecordMessage, TranscriptRecord};
use super::redaction::redact_message;
use crate::ignored_text::drop_ignored_text;
use crate::private_word_mask::mask_private_words;
use crate::session_words::SessionWords;
use claude_mem_core::agents::LineTranslator;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::{Event, EventBody, EventKey};
use claude_mem_core::event_key;
use claude_mem_core::ids::ClientSessionId;

/// Maximum private prompts that are recorded per session. Once the list is full, every subagent
/// counts as muted.
const TRANSCRIPT_PRIVATE_MAX: usize = 64;

/// State machine over the records of one transcript.
pub(super) struct TranscriptReader<'r> {
    pub(super) rules: &'r ReadRules<'r>,
    pub(super) sink: &'r mut dyn EventSink,
    pub(super) state: ReaderState,
    /// Tool calls without a result, by tool use id.
    pub(super) pending_calls: HashMap<String, PendingToolCall>,
    last: Option<LastMessageCandidate>,
    /// Words of private blocks, decoded from the state.
    /// `None`: they could not be read, so nothing can be masked and nothing is emitted.
    private_words: Option<SessionWords>,
    /// Offset to resume at: the first line that is still needed.
    resume_offset: u64,
    /// The state at that offset.
    resume_state: ReaderState,
    /// The working directory of the latest record.
    cwd: Option<String>,
    /// The transcript is that of a warm-up subagent.
    pub(super) is_warmup: bool,
}

/// A tool call without a result.
pub(super) struct PendingToolCall {
    pub(super) tool: String,
    pub(super) input: Option<Box<RawValue>>,
    /// The tool's calls are not captured; only words at its rejection are.
    pub(super) is_skipped: bool,
}

/// The latest assistant message, which may turn out to be the last of its turn.
pub(super) struct LastMessageCandidate {
    pub(super) text: String,
    pub(super) uuid: Option<String>,
    /// Position of its block in the record.
    pub(super) block: usize,
    message_id: Option<String>,
    pub(super) at: Millis,
    /// Whether the model marked it as final; `None` if that is not known.
    is_final: Option<bool>,
}

impl<'r> TranscriptReader<'r> {
    pub(super) fn new(
        rules: &'r ReadRules<'r>,
        sink: &'r mut dyn EventSink,
        state: ReaderState,
        offset: u64,
    ) -> Self {
        Self {
            rules,
            sink,
            resume_state: state.clone(),
            private_words: SessionWords::decode(&state.private_words),
            state,
            pending_calls: HashMap::new(),
            last: None,
            resume_offset: offset,
            cwd: rules.project.map(|project| project.root.clone()),
            is_warmup: false,
        }
    }

    /// Reads a line of another client. One that cannot be parsed may be a prompt.
    pub(super) fn read_foreign_line(&mut self, line: &[u8], translate: LineTranslator) {
        let records = record::decode_line(line).and_then(|line| translate(&line));
        match records {
            Some(records) => records.iter().for_each(|record| self.read_line(record.to_string().as_bytes())),
            None if memchr::memmem::find(line, b"\"user\"").is_some() => self.mute_unreadable_turn(),
            None => {}
        }
    }

    pub(super) fn read_line(&mut self, line: &[u8]) {
        if record::is_irrelevant(line) {
            return;
        }
        let sound = record::decode_line(line);
        let Some(record) = sound.as_deref().and_then(TranscriptRecord::parse) else {
            if has_user_role(line) {
                self.mute_unreadable_turn();
            }
            return;
        };
        if !self.belongs_to_session(&record) {
            return;
        }
        // Tool output may contain private blocks, too.
        if let (Some(line), Some(words)) = (sound.as_deref(), &mut self.private_words)
            && words.learn_raw(line)
        {
            self.state.private_words = words.encode();
        }
        let Some(at) = record.at() else {
            return self.handle_partial_record(&record);
        };
        if self.rules.since.is_some_and(|since| at < since) {
            return;
        }
        if let Some(cwd) = record.cwd()
            && self.cwd.as_deref() != Some(&*cwd)
        {
            self.cwd = Some(cwd.into_owned());
        }
        // A subagent's records name the prompt of the turn it works for.
        if self.rules.agent.is_some()
            && let Some(id) = record.prompt_id()
        {
            self.state.prompt_id = Some(id.into_owned());
        }
        match (&*record.kind(), record.message()) {
            ("user", Some(message)) => self.user_record(&record, &message, at),
            ("assistant", Some(message)) => self.assistant_record(&record, &message, at),
            ("queue-operation", _) => self.queue_operation(&record, at),
            ("pr-link", _) => self.pull_request(&record, at),
            ("system", _) if record.subtype() == "away_summary" => self.recap(&record, at),
            ("attachment", _) => {
                if let Some(text) = record.queued_command() {
                    self.queued_command(&text, at);
                }
            }
            (_, None) => self.handle_partial_record(&record),
            _ => {}
        }
    }

    /// Handles a record that parses only in part: if it may be a prompt, the turn is muted.
    pub(super) fn handle_partial_record(&mut self, record: &TranscriptRecord<'_>) {
        let by_client = record.is_sidechain() || record.is_client_generated();
        if record.kind() == "user" && !by_client {
            self.mute_unreadable_turn();
        }
    }

    /// Mutes the turn of an unreadable record that may be a prompt: it may have been private.
    pub(super) fn mute_unreadable_turn(&mut self) {
        self.state.prompt_id = None;
        self.mute_rest_of_turn();
    }

    /// Something private became part of the turn: nothing more of it is captured.
    pub(super) fn mute_rest_of_turn(&mut self) {
        self.last = None;
        self.pending_calls.clear();
        self.state.muted = true;
        self.state.had_private = true;
        if let Some(id) = self.state.prompt_id.clone() {
            self.note_private(&id);
        }
    }

    /// Called after each line. If no earlier line is needed any more, reading can resume here.
    pub(super) fn line_finished(&mut self, offset: u64) {
        let is_safe = self.pending_calls.is_empty() && self.last.is_none();
        if is_safe {
            self.resume_offset = offset;
            self.resume_state.clone_from(&self.state);
        }
        self.sink.line_finished(offset, &self.state, is_safe);
    }

    pub(super) fn line_started(&mut self, offset: u64) {
        self.sink.line_started(offset);
    }

    pub(super) fn finish(mut self, offset: u64) -> ReadPosition {
        let is_last = self.last.as_ref().and_then(|last| last.is_final);
        if self.rules.ended || is_last == Some(true) {
            self.end_turn();
        }
        if self.rules.ended {
            self.emit_queued_prompts(true);
            self.pending_calls.clear();
        }
        self.line_finished(offset);
        ReadPosition { offset: self.resume_offset, state: self.resume_state }
    }

    fn belongs_to_session(&self, record: &TranscriptRecord<'_>) -> bool {
        record.session().is_none_or(|session| session == self.rules.session)
    }

    /// Remembers the words of a text's private blocks, so that they are masked where they come back.
    pub(super) fn learn_private_words(&mut self, text: &str) {
        if let Some(words) = &mut self.private_words {
            words.learn(text);
            self.state.private_words = words.encode();
        }
    }

    /// Records a private prompt. The list is bounded: once it is full, every subagent counts as muted.
    pub(super) fn note_private(&mut self, id: &str) {
        let prompts = &mut self.state.private_prompts;
        if prompts.len() < TRANSCRIPT_PRIVATE_MAX && !prompts.iter().any(|known| known == id) {
            prompts.push(id.to_owned());
        }
    }

    fn assistant_record(&mut self, record: &TranscriptRecord<'_>, message: &RecordMessage<'_>, at: Millis) {
        if record.is_api_error(message) {
            return;
        }
        let Some(RecordContent::Blocks(blocks)) = message.content() else {
            return;
        };
        for (at_block, block) in blocks.into_iter().enumerate() {
            match &*block.kind() {
                "tool_use" => {
                    self.last_message_was_not_last();
                    self.tool_call(&block);
                }
                "text" if !block.text().trim().is_empty() => {
                    // Sidechain records in the main transcript are messages of subagents.
                    if record.is_sidechain() && self.rules.agent.is_none() {
                        continue;
                    }
                    let id = message.id().map(Cow::into_owned);
                    let same = |last: &LastMessageCandidate| last.message_id == id && id.is_some();
                    if !self.last.as_ref().is_some_and(same) {
                        self.end_turn_if_final();
                    }
                    self.last_message_was_not_last();
                    self.last = Some(LastMessageCandidate {
                        text: block.text().into_owned(),
                        uuid: record.uuid().map(Cow::into_owned),
                        block: at_block,
                        message_id: id,
                        at,
                        is_final: message.is_final(),
                    });
                }
                _ => {}
            }
        }
    }

    pub(super) fn is_muted(&self) -> bool {
        if self.rules.agent.is_none() {
            return self.state.muted;
        }
        match &self.state.prompt_id {
            Some(id) => {
                let known = &self.state.private_prompts;
                known.contains(id) || known.len() >= TRANSCRIPT_PRIVATE_MAX || (self.rules.is_muted)(id)
            }
            // The turn is unknown and may have been a private one.
            None => self.state.had_private,
        }
    }

    /// The turn continues, so the latest message is not its last.
    pub(super) fn last_message_was_not_last(&mut self) {
        if let Some(message) = self.last.take() {
            self.emit_message(&message);
        }
    }

    /// Ends the turn if its latest message was final. Called when another message follows: something
    /// other than a prompt has started the model again.
    fn end_turn_if_final(&mut self) {
        if self.last.as_ref().and_then(|last| last.is_final) == Some(true) {
            self.end_turn();
        }
    }

    pub(super) fn end_turn(&mut self) {
        self.emit_queued_prompts(false);
        let Some(last) = self.last.take() else {
            return;
        };
        if last.is_final == Some(false) {
            return self.emit_message(&last);
        }
        if self.is_muted() || self.is_warmup {
            return;
        }
        let text = redact_message(&last.text);
        if self.rules.agent.is_none() && self.has_stopped_in_user_turn(&text) {
            return;
        }
        let last_message = Some(text);
        let body = match self.rules.agent {
            Some(_) => EventBody::SubagentStop { last_message },
            None => EventBody::Stop { last_message },
        };
        let event = self.build_event(last.at, body);
        self.emit(event, last.uuid.as_deref());
    }

    /// Whether a hook has reported this message as the end of the user's turn, although something else
    /// has started the model since.
    fn has_stopped_in_user_turn(&mut self, text: &str) -> bool {
        let Some(id) = &self.state.user_prompt_id else {
            return false;
        };
        let key = self.event_keys().stop(Some(id), Some(text));
        self.state.user_prompt_id != self.state.prompt_id && self.sink.is_known(key)
    }

    pub(super) fn event_keys(&self) -> event_key::SessionEventKeys<'r> {
        event_key::SessionEventKeys { client: self.rules.client, session: self.rules.session }
    }

    pub(super) fn build_event(&self, at: Millis, body: EventBody) -> Event {
        let rules = self.rules;
        Event {
            client: rules.client.to_owned(),
            session: ClientSessionId(rules.session.to_owned()),
            at: at.micros(),
            project: rules.project.cloned(),
            prompt_id: self.state.prompt_id.clone(),
            agent_id: rules.agent.map(|agent| agent.id.clone()),
            agent_type: rules.agent.and_then(|agent| agent.kind.clone()),
            transcript_path: Some(rules.path.to_owned()),
            cut: false,
            body,
        }
    }

    pub(super) fn emit(&mut self, mut event: Event, message_id: Option<&str>) {
        let Some(private_words) = &self.private_words else { return };
        mask_private_words(&mut event, private_words);
        let ReadRules { settings, home, .. } = self.rules;
        let is_ignored = |text: &str| settings.text_names_ignored_path(text, self.cwd.as_deref(), home);
        if !drop_ignored_text(&mut event.body, is_ignored) {
            return;
        }
        let key: EventKey = event_key::event_key(&event, message_id);
        if !self.sink.is_known(key) {
            self.sink.push(key, event);
        }
    }
}
