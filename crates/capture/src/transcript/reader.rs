//! Turns transcript lines into events.
//!
//! [`TranscriptReader`] tracks the current turn: its prompt, the tool calls without a result and the
//! latest assistant message, which becomes the turn's Stop event if it is the last.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::compact;
use super::lines::has_user_role;
use super::prompts::{self, UserLine};
use super::read_rules::{EventSink, ReadPosition, ReadRules, ReaderState};
use super::record::{self, ContentBlock, RecordContent, RecordMessage, TranscriptRecord};
use crate::private_word_mask::mask_private_words;
use crate::sanitize;
use crate::truncate::ToolCallTruncator;
use claude_mem_core::agents::WARMUP_PROMPT;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::{Event, EventBody, EventKey};
use claude_mem_core::ids::ClientSessionId;
use claude_mem_core::limits::{MESSAGE_BYTES_MAX, TOOL_INPUT_BYTES_MAX, TOOL_OUTPUT_BYTES_MAX};
use claude_mem_core::source::TextSource;
use claude_mem_core::{agents, event_key};
use claude_mem_redact::{HeadTailLimit, PrivateWords};

/// Maximum private prompts that are recorded per session. Once the list is full, every subagent
/// counts as muted.
const TRANSCRIPT_PRIVATE_MAX: usize = 64;

/// Maximum tool calls of one turn that wait for their results. Further calls are skipped.
const TRANSCRIPT_CALLS_MAX: usize = 256;

/// State machine over the records of one transcript.
pub(super) struct TranscriptReader<'r> {
    rules: &'r ReadRules<'r>,
    sink: &'r mut dyn EventSink,
    state: ReaderState,
    /// Tool calls without a result, by tool use id.
    pending_calls: HashMap<String, PendingToolCall>,
    last: Option<LastMessageCandidate>,
    /// Words of private blocks, decoded from the state.
    private_words: PrivateWords,
    /// Offset to resume at: the first line that is still needed.
    resume_offset: u64,
    /// The state at that offset.
    resume_state: ReaderState,
    /// The transcript is that of a warm-up subagent.
    is_warmup: bool,
}

struct PendingToolCall {
    tool: String,
    input: Option<Box<RawValue>>,
}

/// The latest assistant message, which may turn out to be the last of its turn.
struct LastMessageCandidate {
    text: String,
    uuid: Option<String>,
    message_id: Option<String>,
    at: Millis,
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
            private_words: PrivateWords::decode(&state.private_words).unwrap_or_default(),
            state,
            pending_calls: HashMap::new(),
            last: None,
            resume_offset: offset,
            is_warmup: false,
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
        let Some(at) = record.at() else {
            return self.handle_partial_record(&record);
        };
        if self.rules.since.is_some_and(|since| at < since) {
            return;
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
            (_, None) => self.handle_partial_record(&record),
            _ => {}
        }
    }

    /// Handles a record that parses only in part: if it may be a prompt, the turn is muted.
    fn handle_partial_record(&mut self, record: &TranscriptRecord<'_>) {
        let by_client = record.is_sidechain() || record.is_client_generated();
        if record.kind() == "user" && !by_client {
            self.mute_unreadable_turn();
        }
    }

    /// Mutes the turn of an unreadable record that may be a prompt: it may have been private.
    pub(super) fn mute_unreadable_turn(&mut self) {
        self.discard_last_message();
        self.pending_calls.clear();
        self.state.prompt_id = None;
        self.state.muted = true;
        self.state.had_private = true;
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
            self.pending_calls.clear();
        }
        self.line_finished(offset);
        ReadPosition { offset: self.resume_offset, state: self.resume_state }
    }

    fn belongs_to_session(&self, record: &TranscriptRecord<'_>) -> bool {
        record.session().is_none_or(|session| session == self.rules.session)
    }

    fn user_record(&mut self, record: &TranscriptRecord<'_>, message: &RecordMessage<'_>, at: Millis) {
        let Some(content) = message.content() else {
            return self.handle_partial_record(record);
        };
        if let RecordContent::Blocks(blocks) = &content
            && blocks.iter().any(|block| block.kind() == "tool_result")
        {
            self.discard_last_message();
            return self.tool_results(record, blocks, at);
        }
        let text = content_text(&content);
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
        match prompts::classify_user_line(&text) {
            UserLine::Prompt(text) => self.start_turn(record, &text, at),
            UserLine::Interruption => {
                self.last = None;
                self.pending_calls.clear();
            }
            UserLine::ClientText => {}
        }
    }

    fn start_turn(&mut self, record: &TranscriptRecord<'_>, text: &str, at: Millis) {
        self.end_turn();
        self.pending_calls.clear();
        let prompt_id = record.prompt_id().map(Cow::into_owned).and_then(sanitize::sanitize_id);
        let stripped = claude_mem_redact::private(text);
        let marked = prompt_id.as_deref().is_some_and(self.rules.is_muted);
        let muted = marked || stripped.is_fully_private();
        self.state.had_private |= muted || stripped.private;
        if stripped.private {
            self.private_words.learn(text);
            self.state.private_words = self.private_words.encode();
        }
        if let Some(id) = prompt_id.as_ref().filter(|_| muted) {
            self.note_private(id);
        }
        self.state.muted = muted;
        self.state.prompt_id = prompt_id;
        let text = if muted { String::new() } else { redact_message(text) };
        let event =
            self.build_event(at, EventBody::Prompt { text, private: muted, source: TextSource::Prompt });
        self.emit(event, None);
    }

    /// Records a private prompt. The list is bounded: once it is full, every subagent counts as muted.
    fn note_private(&mut self, id: &str) {
        let prompts = &mut self.state.private_prompts;
        if prompts.len() < TRANSCRIPT_PRIVATE_MAX && !prompts.iter().any(|known| known == id) {
            prompts.push(id.to_owned());
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

    fn assistant_record(&mut self, record: &TranscriptRecord<'_>, message: &RecordMessage<'_>, at: Millis) {
        if record.is_api_error(message) {
            return;
        }
        let Some(RecordContent::Blocks(blocks)) = message.content() else {
            return;
        };
        for block in blocks {
            match &*block.kind() {
                "tool_use" => {
                    self.discard_last_message();
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
                    self.last = Some(LastMessageCandidate {
                        text: block.text().into_owned(),
                        uuid: record.uuid().map(Cow::into_owned),
                        message_id: id,
                        at,
                        is_final: message.is_final(),
                    });
                }
                _ => {}
            }
        }
    }

    fn tool_call(&mut self, block: &ContentBlock<'_>) {
        let (Some(id), Some(tool)) = (block.id(), block.name()) else {
            return;
        };
        if self.is_muted() || self.skips_tool(&tool) || self.pending_calls.len() >= TRANSCRIPT_CALLS_MAX {
            return;
        }
        let Some(tool) = sanitize::sanitize_id(tool.into_owned()) else {
            return;
        };
        let call = PendingToolCall { tool, input: block.input.map(RawValue::to_owned) };
        self.pending_calls.insert(id.into_owned(), call);
    }

    fn skips_tool(&self, tool: &str) -> bool {
        agents::is_our_tool(tool) || self.rules.settings.skips_tool(tool)
    }

    fn tool_results(&mut self, record: &TranscriptRecord<'_>, blocks: &[ContentBlock<'_>], at: Millis) {
        let results = blocks.iter().filter(|block| block.kind() == "tool_result");
        let alone = results.clone().count() == 1;
        for block in results {
            let Some(id) = block.tool_use_id() else {
                continue;
            };
            let Some(call) = self.pending_calls.remove(&*id) else {
                continue;
            };
            if !self.is_muted() && !record.was_denied() && !is_refusal(block) {
                let structured = record.tool_use_result.filter(|_| alone);
                self.tool_result(record, block, &id, call, structured, at);
            }
        }
    }

    fn tool_result(
        &mut self,
        record: &TranscriptRecord<'_>,
        block: &ContentBlock<'_>,
        id: &str,
        call: PendingToolCall,
        structured: Option<&RawValue>,
        at: Millis,
    ) {
        // Hooks of the oldest clients do not receive the tool use id, so the key must not contain it.
        let id = if record.is_from_client_v1() { None } else { sanitize::sanitize_id(id.to_owned()) };
        let keyed = self.event_keys();
        if let Some(id) = &id
            && self.sink.is_known(keyed.tool_result(id))
        {
            return;
        }
        let failed = block.is_error();
        let input = call.input.as_deref();
        let output = match structured.filter(|_| !failed) {
            Some(raw) => Some(raw),
            None => block.content,
        };
        let (settings, cwd) = (self.rules.settings, record.cwd());
        if settings.touches_ignored_path(&[input, output], cwd.as_deref(), self.rules.home) {
            return;
        }
        let mut truncator = ToolCallTruncator::default();
        let input = input.map(|raw| truncator.input(raw, TOOL_INPUT_BYTES_MAX));
        let output = output.map(|raw| truncator.output(raw, TOOL_OUTPUT_BYTES_MAX));
        let cut = [&input, &output].into_iter().flatten().any(|kept| kept.cut);
        let mut event = self.build_event(
            at,
            EventBody::ToolUse {
                tool: call.tool,
                tool_use_id: id,
                input: input.map_or(Value::Null, |kept| kept.value),
                output: output.map_or(Value::Null, |kept| kept.value),
                failed,
                duration_ms: None,
            },
        );
        event.cut = cut;
        self.emit(event, None);
    }

    fn is_muted(&self) -> bool {
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
    fn discard_last_message(&mut self) {
        self.last = None;
    }

    /// Ends the turn if its latest message was final. Called when another message follows: something
    /// other than a prompt has started the model again.
    fn end_turn_if_final(&mut self) {
        if self.last.as_ref().and_then(|last| last.is_final) == Some(true) {
            self.end_turn();
        }
    }

    fn end_turn(&mut self) {
        let Some(last) = self.last.take() else {
            return;
        };
        if self.is_muted() || self.is_warmup || last.is_final == Some(false) {
            return;
        }
        let last_message = Some(redact_message(&last.text));
        let body = match self.rules.agent {
            Some(_) => EventBody::SubagentStop { last_message },
            None => EventBody::Stop { last_message },
        };
        let event = self.build_event(last.at, body);
        self.emit(event, last.uuid.as_deref());
    }

    fn event_keys(&self) -> event_key::SessionEventKeys<'r> {
        event_key::SessionEventKeys { client: self.rules.client, session: self.rules.session }
    }

    fn build_event(&self, at: Millis, body: EventBody) -> Event {
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

    fn emit(&mut self, mut event: Event, message_id: Option<&str>) {
        mask_private_words(&mut event.body, &self.private_words);
        let key: EventKey = event_key::event_key(&event, message_id);
        if !self.sink.is_known(key) {
            self.sink.push(key, event);
        }
    }
}

fn redact_message(text: &str) -> String {
    claude_mem_redact::text(text, HeadTailLimit::from_total(MESSAGE_BYTES_MAX)).text.into_owned()
}

fn content_text<'a>(content: &'a RecordContent<'_>) -> Cow<'a, str> {
    match content {
        RecordContent::Text(text) => Cow::Borrowed(text),
        RecordContent::Blocks(blocks) => {
            let texts = blocks.iter().filter(|block| block.kind() == "text");
            let texts: Vec<_> = texts.map(ContentBlock::text).collect();
            Cow::Owned(texts.join("\n"))
        }
    }
}

/// Whether the result is a refusal. Older clients do not record the user's decision; they only tell
/// the model.
fn is_refusal(block: &ContentBlock<'_>) -> bool {
    let told = block.content.map_or("", RawValue::get);
    block.is_error()
        && [
            "The user doesn't want to proceed with this tool use",
            "The user doesn't want to take this action right now",
            "requested permissions to use",
        ]
        .iter()
        .any(|phrase| told.contains(phrase))
}
