//! What the client itself wrote down of a session: the second witness.
//!
//! In: a transcript, from where it was last read. Out: the events that hooks would have delivered
//! for it, under the same keys, so that it does no harm to hear both. Old clients fire no hook
//! for failed tools, Esc fires no Stop, a killed client fires nothing; and what happened before
//! this program was installed is told only here.
//!
//! Invariant: the same rules as for hooks. Nothing private, skipped or ignored comes out, and
//! everything that does is redacted. Only whole lines are read, a line and the open calls of a
//! turn are all that is held in memory, and reading again from an earlier place yields the same
//! keys. Absent on purpose: the store, the queue, any clock.

mod agents;
mod compact;
mod lines;
mod prompts;
mod reader;
mod record;

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

pub use agents::{AgentFile, agent_file, agent_files};
pub use compact::inner as compact_summary;
pub use record::{Head, head};

use lines::Line;

use crate::clock::Millis;
use crate::hook::event::{Event, EventKey, ProjectHint};
use crate::hook::settings::HookSettings;

/// How far a transcript was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The first byte that is still to be read.
    pub offset: u64,
    pub state: State,
}

/// What the reader must know to go on in the middle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// The prompt that the present turn began with.
    pub prompt_id: Option<String>,
    /// Nothing of the present turn may be kept.
    pub muted: bool,
    /// Something before was private: summaries may tell of it.
    pub had_private: bool,
    /// The turns that nothing may be kept of, for the transcripts of their subagents.
    pub private_prompts: Vec<String>,
}

/// What decides about what is read.
#[derive(Clone, Copy)]
#[allow(
    missing_debug_implementations,
    reason = "one of the rules is a function"
)]
pub struct Rules<'a> {
    pub client: &'a str,
    /// The client's id of the session. Lines of another one are the history of another session.
    pub session: &'a str,
    pub settings: &'a HookSettings,
    pub home: &'a str,
    pub project: Option<&'a ProjectHint>,
    /// Where the main transcript lies, for the events.
    pub path: &'a str,
    /// Of a subagent's transcript: whose it is.
    pub agent: Option<&'a Agent>,
    /// What is older belongs to the session that this one was continued from.
    pub since: Option<Millis>,
    /// Whether a hook has marked this turn as one that nobody may record.
    pub is_muted: &'a dyn Fn(&str) -> bool,
    /// The session will not go on: its last words are its last.
    pub ended: bool,
}

/// A subagent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agent {
    pub id: String,
    pub kind: Option<String>,
}

/// Who takes the events.
pub trait Sink {
    /// Whether this event is known: then it need not be made.
    fn knows(&mut self, key: EventKey) -> bool;
    /// Takes one event, in the order of the transcript.
    fn take(&mut self, key: EventKey, event: Event);
    /// The line that begins at this byte is read next.
    fn begins(&mut self, _offset: u64) {}
    /// A line was dealt with, and the next one begins at `offset`. `is_safe`: nothing of it or
    /// before it is needed any more, so that reading can go on there.
    fn passed(&mut self, _offset: u64, _state: &State, _is_safe: bool) {}
}

/// Reads a transcript to its end and hands what happened to `sink`. Returns where to go on.
///
/// A file that is shorter than `from` was replaced, and is read from its beginning. What was known
/// to be private stays so.
pub fn read(
    path: &Path,
    from: Position,
    rules: &Rules<'_>,
    sink: &mut dyn Sink,
) -> io::Result<Position> {
    let mut lines = lines::Lines::open(path, from.offset)?;
    let state = if lines.offset() == from.offset {
        from.state
    } else {
        State {
            prompt_id: None,
            ..from.state
        }
    };
    let mut reader = reader::Reader::new(rules, sink, state, lines.offset());
    loop {
        let begin = lines.offset();
        let Some(line) = lines.next()? else {
            break;
        };
        reader.begins(begin);
        match line {
            Line::Whole(line) => reader.line(line),
            Line::TooLong { of_user: true } => reader.unread(),
            Line::TooLong { of_user: false } => {}
        }
        reader.passed(lines.offset());
    }
    Ok(reader.end(lines.offset()))
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
