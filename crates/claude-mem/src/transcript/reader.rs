//! From lines to events: what a turn is made of, and what of it may be told.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::lines::is_of_user;
use super::prompts::{self, Said};
use super::record::{self, Block, Content, Message, Record};
use super::{Position, Rules, Sink, State, compact};
use crate::clock::Millis;
use crate::hook::event::{Body, Event, EventKey};
use crate::hook::tail::WARMUP;
use crate::hook::{agents, keep, key, plain};
use crate::ids::ClientSessionId;
use crate::limits::{
    MESSAGE_BYTES_MAX, TOOL_INPUT_BYTES_MAX, TOOL_OUTPUT_BYTES_MAX, TRANSCRIPT_CALLS_MAX,
    TRANSCRIPT_PRIVATE_MAX,
};
use crate::redact::{self, Cut};

pub(super) struct Reader<'r> {
    rules: &'r Rules<'r>,
    sink: &'r mut dyn Sink,
    state: State,
    /// Calls that wait for their result.
    calls: HashMap<String, Call>,
    last: Option<LastWords>,
    /// Where to go on: before the first line that is still of use.
    safe: u64,
    /// The state at that place.
    safe_state: State,
    /// An agent that does nothing for anybody.
    is_warmup: bool,
}

struct Call {
    tool: String,
    input: Option<Box<RawValue>>,
}

/// What may turn out to be the last that was said in a turn.
struct LastWords {
    text: String,
    uuid: Option<String>,
    message: Option<String>,
    at: Millis,
    /// The model said that it is the last.
    is_last: Option<bool>,
}

impl<'r> Reader<'r> {
    pub(super) fn new(
        rules: &'r Rules<'r>,
        sink: &'r mut dyn Sink,
        state: State,
        offset: u64,
    ) -> Self {
        Self {
            rules,
            sink,
            safe_state: state.clone(),
            state,
            calls: HashMap::new(),
            last: None,
            safe: offset,
            is_warmup: false,
        }
    }

    pub(super) fn line(&mut self, line: &[u8]) {
        if record::is_idle(line) {
            return;
        }
        let sound = record::sound(line);
        let Some(record) = sound.as_deref().and_then(Record::read) else {
            if is_of_user(line) {
                self.unread();
            }
            return;
        };
        if !self.is_of_the_session(&record) {
            return;
        }
        let Some(at) = record.at() else {
            return self.half_read(&record);
        };
        if self.rules.since.is_some_and(|since| at < since) {
            return;
        }
        // A subagent's lines name the prompt of the turn that it works for.
        if self.rules.agent.is_some()
            && let Some(id) = record.prompt_id()
        {
            self.state.prompt_id = Some(id.into_owned());
        }
        match (&*record.kind(), record.message()) {
            ("user", Some(message)) => self.user(&record, &message, at),
            ("assistant", Some(message)) => self.assistant(&record, &message, at),
            (_, None) => self.half_read(&record),
            _ => {}
        }
    }

    /// Part of the line does not read. It matters where a person may have spoken.
    fn half_read(&mut self, record: &Record<'_>) {
        let by_client = record.is_sidechain() || record.is_of_the_client();
        if record.kind() == "user" && !by_client {
            self.unread();
        }
    }

    /// A person may have said something here that cannot be read, and so nobody knows whether it
    /// was private: the turn is kept as if it was.
    pub(super) fn unread(&mut self) {
        self.not_the_last();
        self.calls.clear();
        self.state.prompt_id = None;
        self.state.muted = true;
        self.state.had_private = true;
    }

    /// The line was dealt with. If nothing of it is needed any more, reading goes on behind it.
    pub(super) fn passed(&mut self, offset: u64) {
        let is_safe = self.calls.is_empty() && self.last.is_none();
        if is_safe {
            self.safe = offset;
            self.safe_state.clone_from(&self.state);
        }
        self.sink.passed(offset, &self.state, is_safe);
    }

    pub(super) fn begins(&mut self, offset: u64) {
        self.sink.begins(offset);
    }

    pub(super) fn end(mut self, offset: u64) -> Position {
        let is_last = self.last.as_ref().and_then(|last| last.is_last);
        if self.rules.ended || is_last == Some(true) {
            self.turn_is_over();
        }
        if self.rules.ended {
            self.calls.clear();
        }
        self.passed(offset);
        Position {
            offset: self.safe,
            state: self.safe_state,
        }
    }

    fn is_of_the_session(&self, record: &Record<'_>) -> bool {
        record
            .session()
            .is_none_or(|session| session == self.rules.session)
    }

    fn user(&mut self, record: &Record<'_>, message: &Message<'_>, at: Millis) {
        let Some(content) = message.content() else {
            return self.half_read(record);
        };
        if let Content::Blocks(blocks) = &content
            && blocks.iter().any(|block| block.kind() == "tool_result")
        {
            self.not_the_last();
            return self.results(record, blocks, at);
        }
        let text = text_of(&content);
        if record.is_compact_summary() {
            return self.compacted(record, &text, at);
        }
        if self.rules.agent.is_some() {
            self.is_warmup |= text.trim() == WARMUP;
            return;
        }
        if record.is_sidechain() || record.is_of_the_client() {
            return;
        }
        match prompts::said(&text) {
            Said::Prompt(text) => self.prompt(record, &text, at),
            Said::Interruption => {
                self.last = None;
                self.calls.clear();
            }
            Said::Other => {}
        }
    }

    fn prompt(&mut self, record: &Record<'_>, text: &str, at: Millis) {
        self.turn_is_over();
        self.calls.clear();
        let prompt_id = record.prompt_id().map(Cow::into_owned).and_then(plain::id);
        let stripped = redact::private(text);
        let marked = prompt_id.as_deref().is_some_and(self.rules.is_muted);
        let muted = marked || stripped.is_fully_private();
        self.state.had_private |= muted || stripped.private;
        if let Some(id) = prompt_id.as_ref().filter(|_| muted) {
            self.note_private(id);
        }
        self.state.muted = muted;
        self.state.prompt_id = prompt_id;
        let text = if muted { String::new() } else { kept(text) };
        let event = self.event(
            at,
            Body::Prompt {
                text,
                private: muted,
            },
        );
        self.tell(event, None);
    }

    /// Bounded: when there are too many to remember, no subagent is believed to be public.
    fn note_private(&mut self, id: &str) {
        let prompts = &mut self.state.private_prompts;
        if prompts.len() < TRANSCRIPT_PRIVATE_MAX && !prompts.iter().any(|known| known == id) {
            prompts.push(id.to_owned());
        }
    }

    fn compacted(&mut self, record: &Record<'_>, text: &str, at: Millis) {
        if self.state.had_private || self.state.muted || self.rules.agent.is_some() {
            return;
        }
        let summary = kept(compact::inner(text));
        if summary.trim().is_empty() {
            return;
        }
        let mut event = self.event(at, Body::PostCompact { summary });
        event.prompt_id = record.prompt_id().map(Cow::into_owned);
        self.tell(event, None);
    }

    fn assistant(&mut self, record: &Record<'_>, message: &Message<'_>, at: Millis) {
        if record.is_error(message) {
            return;
        }
        let Some(Content::Blocks(blocks)) = message.content() else {
            return;
        };
        for block in blocks {
            match &*block.kind() {
                "tool_use" => {
                    self.not_the_last();
                    self.call(&block);
                }
                "text" if !block.text().trim().is_empty() => {
                    // One of the main conversation does not tell what its agents said.
                    if record.is_sidechain() && self.rules.agent.is_none() {
                        continue;
                    }
                    let id = message.id().map(Cow::into_owned);
                    let same = |last: &LastWords| last.message == id && id.is_some();
                    if !self.last.as_ref().is_some_and(same) {
                        self.turn_may_be_over();
                    }
                    self.last = Some(LastWords {
                        text: block.text().into_owned(),
                        uuid: record.uuid().map(Cow::into_owned),
                        message: id,
                        at,
                        is_last: message.is_last(),
                    });
                }
                _ => {}
            }
        }
    }

    fn call(&mut self, block: &Block<'_>) {
        let (Some(id), Some(tool)) = (block.id(), block.name()) else {
            return;
        };
        if self.is_muted() || self.skips(&tool) || self.calls.len() >= TRANSCRIPT_CALLS_MAX {
            return;
        }
        let Some(tool) = plain::id(tool.into_owned()) else {
            return;
        };
        let call = Call {
            tool,
            input: block.input.map(RawValue::to_owned),
        };
        self.calls.insert(id.into_owned(), call);
    }

    fn skips(&self, tool: &str) -> bool {
        agents::is_our_tool(tool) || self.rules.settings.skips(tool)
    }

    fn results(&mut self, record: &Record<'_>, blocks: &[Block<'_>], at: Millis) {
        let results = blocks.iter().filter(|block| block.kind() == "tool_result");
        let alone = results.clone().count() == 1;
        for block in results {
            let Some(id) = block.tool_use_id() else {
                continue;
            };
            let Some(call) = self.calls.remove(&*id) else {
                continue;
            };
            if !self.is_muted() && !record.was_denied() && !was_refused(block) {
                let structured = record.tool_use_result.filter(|_| alone);
                self.result(record, block, &id, call, structured, at);
            }
        }
    }

    fn result(
        &mut self,
        record: &Record<'_>,
        block: &Block<'_>,
        id: &str,
        call: Call,
        structured: Option<&RawValue>,
        at: Millis,
    ) {
        // Hooks of the oldest clients do not know the number, and so the key cannot hold it.
        let id = (!record.is_of_client_1()).then(|| plain::id(id.to_owned()));
        let id = id.flatten();
        let keyed = self.keyed();
        if let Some(id) = &id
            && self.sink.knows(keyed.tool_result(id))
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
        let input = input.map(|raw| keep::json(raw, TOOL_INPUT_BYTES_MAX));
        let output = output.map(|raw| keep::json(raw, TOOL_OUTPUT_BYTES_MAX));
        let cut = [&input, &output].into_iter().flatten().any(|kept| kept.cut);
        let mut event = self.event(
            at,
            Body::ToolUse {
                tool: call.tool,
                tool_use_id: id,
                input: input.map_or(Value::Null, |kept| kept.value),
                output: output.map_or(Value::Null, |kept| kept.value),
                failed,
                duration_ms: None,
            },
        );
        event.cut = cut;
        self.tell(event, None);
    }

    fn is_muted(&self) -> bool {
        if self.rules.agent.is_none() {
            return self.state.muted;
        }
        match &self.state.prompt_id {
            Some(id) => {
                let known = &self.state.private_prompts;
                known.contains(id)
                    || known.len() >= TRANSCRIPT_PRIVATE_MAX
                    || (self.rules.is_muted)(id)
            }
            // Whose turn it was is not known: it may have been a private one.
            None => self.state.had_private,
        }
    }

    /// The turn goes on: what was said was not the last.
    fn not_the_last(&mut self) {
        self.last = None;
    }

    /// Another message follows. What its model called the last one was the end of a turn, which
    /// something else than a prompt has taken up again.
    fn turn_may_be_over(&mut self) {
        if self.last.as_ref().and_then(|last| last.is_last) == Some(true) {
            self.turn_is_over();
        }
    }

    fn turn_is_over(&mut self) {
        let Some(last) = self.last.take() else {
            return;
        };
        if self.is_muted() || self.is_warmup || last.is_last == Some(false) {
            return;
        }
        let last_message = Some(kept(&last.text));
        let body = match self.rules.agent {
            Some(_) => Body::SubagentStop { last_message },
            None => Body::Stop { last_message },
        };
        let event = self.event(last.at, body);
        self.tell(event, last.uuid.as_deref());
    }

    fn keyed(&self) -> key::Keyed<'r> {
        key::Keyed {
            client: self.rules.client,
            session: self.rules.session,
        }
    }

    fn event(&self, at: Millis, body: Body) -> Event {
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

    fn tell(&mut self, event: Event, message_id: Option<&str>) {
        let key: EventKey = key::of(&event, message_id);
        if !self.sink.knows(key) {
            self.sink.take(key, event);
        }
    }
}

fn kept(text: &str) -> String {
    redact::text(text, Cut::of(MESSAGE_BYTES_MAX))
        .text
        .into_owned()
}

fn text_of<'a>(content: &'a Content<'_>) -> Cow<'a, str> {
    match content {
        Content::Text(text) => Cow::Borrowed(text),
        Content::Blocks(blocks) => {
            let texts = blocks.iter().filter(|block| block.kind() == "text");
            let texts: Vec<_> = texts.map(Block::text).collect();
            Cow::Owned(texts.join("\n"))
        }
    }
}

/// Older clients do not record the decision; they tell the model.
fn was_refused(block: &Block<'_>) -> bool {
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
