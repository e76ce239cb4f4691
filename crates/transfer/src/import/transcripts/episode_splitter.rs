//! Splits the events of a transcript into episodes, each batch with the position to resume at.
//!
//! Invariant: an emitted batch and its position match. Reading from that position yields every event
//! that was not emitted and none that was. There is no such position while a tool call is pending, so
//! an episode may have to wait for the next one.

use std::collections::HashSet;

use serde_json::Value;

use claude_mem_capture::transcript::{EventSink, ReadPosition, ReaderState};
use claude_mem_core::clock::Millis;
use claude_mem_core::event::{Event, EventBody, EventKey};
use claude_mem_ingest::episodes;
use claude_mem_ingest::episodes::EpisodeCut;
use claude_mem_store::QueuedEventHead;

/// Finished episodes of a transcript after which its reader hands them on although a tool call has
/// no result yet. Usually it hands on one.
const IMPORT_EPISODES_MAX: usize = 16;

/// The events of one episode, in order.
pub(super) type EpisodeEvents = Vec<(EventKey, Event)>;

/// An event sink that splits a transcript into episodes.
pub(super) struct EpisodeSplitter<'a> {
    /// Offset of the current line.
    line_offset: u64,
    pending: Vec<PendingEvent>,
    heads: Vec<QueuedEventHead>,
    episodes: Vec<EpisodeEvents>,
    /// End of the last line that was read.
    end_offset: u64,
    /// Keys of the session's events so far: the transcript of a subagent and that of the conversation both
    /// contain its report.
    known: &'a mut HashSet<EventKey>,
    emit: &'a mut dyn FnMut(Vec<EpisodeEvents>, ReadPosition),
}

struct PendingEvent {
    key: EventKey,
    event: Event,
    line_offset: u64,
}

impl<'a> EpisodeSplitter<'a> {
    pub(super) fn new(
        known: &'a mut HashSet<EventKey>,
        emit: &'a mut dyn FnMut(Vec<EpisodeEvents>, ReadPosition),
    ) -> Self {
        Self {
            known,
            line_offset: 0,
            pending: Vec::new(),
            heads: Vec::new(),
            episodes: Vec::new(),
            end_offset: 0,
            emit,
        }
    }

    /// Emits the rest after the transcript was read. If a tool call is still pending, the rest is left
    /// for a later import.
    pub(super) fn finish(mut self, position: ReadPosition) {
        if position.offset < self.end_offset {
            return;
        }
        self.split_episodes(true);
        (self.emit)(std::mem::take(&mut self.episodes), position);
    }

    fn split_episodes(&mut self, flush: bool) {
        while let EpisodeCut::Take(count) = episodes::cut_recorded_episode(&self.heads, flush) {
            self.heads.drain(..count);
            let told = self.pending.drain(..count);
            self.episodes.push(told.map(|waiting| (waiting.key, waiting.event)).collect());
        }
    }
}

impl EventSink for EpisodeSplitter<'_> {
    fn is_known(&mut self, key: EventKey) -> bool {
        self.known.contains(&key)
    }

    fn push(&mut self, key: EventKey, event: Event) {
        self.known.insert(key);
        self.heads.push(QueuedEventHead {
            kind: event.body.kind(),
            at: event.at,
            bytes: estimated_bytes(&event.body),
            not_before: Millis(0),
        });
        let line = self.line_offset;
        self.pending.push(PendingEvent { key, event, line_offset: line });
    }

    fn line_started(&mut self, offset: u64) {
        self.line_offset = offset;
    }

    fn line_finished(&mut self, offset: u64, state: &ReaderState, is_safe: bool) {
        self.end_offset = offset;
        self.split_episodes(false);
        if self.episodes.is_empty() {
            return;
        }
        let place = match self.pending.first() {
            None if is_safe => offset,
            // A prompt ends all pending calls, so the next read can start at its line.
            Some(PendingEvent { event, line_offset: line, .. })
                if matches!(event.body, EventBody::Prompt { .. }) =>
            {
                *line
            }
            // A call without a result must not let the episodes grow without bound.
            _ if self.episodes.len() >= IMPORT_EPISODES_MAX && self.pending.is_empty() => offset,
            _ => return,
        };
        let position = ReadPosition { offset: place, state: state.clone() };
        (self.emit)(std::mem::take(&mut self.episodes), position);
    }
}

/// Estimated size of the event in the queue, in bytes.
fn estimated_bytes(body: &EventBody) -> u64 {
    const ENVELOPE_BYTES: u64 = 300;
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len) as u64;
    ENVELOPE_BYTES
        + match body {
            EventBody::Prompt { text, .. } | EventBody::Text { text, .. } => text.len() as u64,
            EventBody::ToolUse { input, output, .. } => json_bytes(input) + json_bytes(output),
            EventBody::Stop { last_message } | EventBody::SubagentStop { last_message } => text(last_message),
            EventBody::PostCompact { summary } => summary.len() as u64,
            EventBody::SessionStart { .. } | EventBody::PreCompact { .. } | EventBody::SessionEnd { .. } => 0,
        }
}

fn json_bytes(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 6,
        Value::String(text) => text.len() as u64 + 3,
        Value::Array(values) => values.iter().map(json_bytes).sum::<u64>() + 2,
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| name.len() as u64 + 4 + json_bytes(value)).sum::<u64>() + 2
        }
    }
}
