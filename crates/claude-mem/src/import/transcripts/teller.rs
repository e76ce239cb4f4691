//! Cuts what a transcript tells into episodes, and says from where to go on behind each.
//!
//! Invariant: what is handed on and the place that goes with it fit together: whoever reads from
//! that place is told everything that was not handed on, and nothing that was. An open call has
//! no such place, so an episode may have to wait for the next.

use serde_json::Value;

use crate::clock::Millis;
use crate::hook::event::{Body, Event, EventKey};
use crate::limits::IMPORT_EPISODES_MAX;
use crate::serve::episodes::{self, Cut};
use crate::store::Head;
use crate::transcript::{Position, Sink, State};

/// Events of one episode, in order.
pub(super) type Told = Vec<(EventKey, Event)>;

pub(super) struct Teller<'a> {
    /// Where the line begins that is being read.
    line: u64,
    waiting: Vec<Waiting>,
    heads: Vec<Head>,
    cut: Vec<Told>,
    /// Behind the last line that was read.
    end: u64,
    hand_on: &'a mut dyn FnMut(Vec<Told>, Position),
}

struct Waiting {
    key: EventKey,
    event: Event,
    line: u64,
}

impl<'a> Teller<'a> {
    pub(super) fn new(hand_on: &'a mut dyn FnMut(Vec<Told>, Position)) -> Self {
        Self {
            line: 0,
            waiting: Vec::new(),
            heads: Vec::new(),
            cut: Vec::new(),
            end: 0,
            hand_on,
        }
    }

    /// The transcript is read. What is not over in it is told another time.
    pub(super) fn finish(mut self, position: Position) {
        if position.offset < self.end {
            return;
        }
        self.cut(true);
        (self.hand_on)(std::mem::take(&mut self.cut), position);
    }

    fn cut(&mut self, flush: bool) {
        while let Cut::Take(count) = episodes::cut_told(&self.heads, flush) {
            self.heads.drain(..count);
            let told = self.waiting.drain(..count);
            self.cut
                .push(told.map(|waiting| (waiting.key, waiting.event)).collect());
        }
    }
}

impl Sink for Teller<'_> {
    /// A transcript tells everything once.
    fn knows(&mut self, _key: EventKey) -> bool {
        false
    }

    fn take(&mut self, key: EventKey, event: Event) {
        self.heads.push(Head {
            kind: event.body.name().to_owned(),
            at: event.at,
            bytes: weight(&event.body),
            not_before: Millis(0),
        });
        let line = self.line;
        self.waiting.push(Waiting { key, event, line });
    }

    fn begins(&mut self, offset: u64) {
        self.line = offset;
    }

    fn passed(&mut self, offset: u64, state: &State, is_safe: bool) {
        self.end = offset;
        self.cut(false);
        if self.cut.is_empty() {
            return;
        }
        let place = match self.waiting.first() {
            None if is_safe => offset,
            // A prompt ends whatever was open: it is where the next reading begins.
            Some(Waiting { event, line, .. }) if matches!(event.body, Body::Prompt { .. }) => *line,
            // A call without an end must not fill the memory.
            _ if self.cut.len() >= IMPORT_EPISODES_MAX && self.waiting.is_empty() => offset,
            _ => return,
        };
        let position = Position {
            offset: place,
            state: state.clone(),
        };
        (self.hand_on)(std::mem::take(&mut self.cut), position);
    }
}

/// About what it would take in the queue.
fn weight(body: &Body) -> u64 {
    const AROUND: u64 = 300;
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len) as u64;
    AROUND
        + match body {
            Body::Prompt { text, .. } => text.len() as u64,
            Body::ToolUse { input, output, .. } => weight_of(input) + weight_of(output),
            Body::Stop { last_message } | Body::SubagentStop { last_message } => text(last_message),
            Body::PostCompact { summary } => summary.len() as u64,
            Body::SessionStart { .. } | Body::PreCompact { .. } | Body::SessionEnd { .. } => 0,
        }
}

fn weight_of(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 6,
        Value::String(text) => text.len() as u64 + 3,
        Value::Array(values) => values.iter().map(weight_of).sum::<u64>() + 2,
        Value::Object(fields) => {
            fields
                .iter()
                .map(|(name, value)| name.len() as u64 + 4 + weight_of(value))
                .sum::<u64>()
                + 2
        }
    }
}
