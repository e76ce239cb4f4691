//! Reads the client's transcript of a session as a second source of events, for backfill and import.
//!
//! [`read_transcript`] continues at a [`ReadPosition`] and passes to an [`EventSink`] the events that
//! hooks would have captured, under the same keys, so that processing both sources is harmless. It is
//! needed because old clients call no hook for failed tools, Esc triggers no Stop, a killed client
//! calls nothing, and no hook saw what happened before this program was installed.
//!
//! Invariant: the rules are those of hooks. Nothing private, skipped or ignored is emitted, and every
//! emitted event is redacted. Only complete lines are read, only one line and the pending calls of a
//! turn are held in memory, and reading again from an earlier position yields the same keys. The
//! module uses neither the store nor the queue nor a clock.

mod agents;
mod compact;
mod header;
mod lines;
mod queued_prompts;
mod read_rules;
mod reader;
mod record;
mod redaction;
mod rejection;
mod tool_results;
mod turn_texts;
mod user_records;

use std::io;
use std::path::Path;

pub use agents::{SubagentTranscript, subagent_transcript, subagent_transcripts};
pub use compact::strip_compact_wrapper as compact_summary;
pub use header::{TranscriptHeader, read_header, read_translated_header};
pub use read_rules::{EventSink, QueuedPrompt, ReadPosition, ReadRules, ReaderState, Subagent};

use lines::{LineSource, TranscriptLine};

/// Reads a transcript to its end and passes its events to `sink`. Returns the position to resume at.
///
/// A file that is shorter than `from` was replaced and is read from the start. What was known to be
/// private stays private.
pub fn read_transcript(
    path: &Path,
    from: ReadPosition,
    rules: &ReadRules<'_>,
    sink: &mut dyn EventSink,
) -> io::Result<ReadPosition> {
    read_lines(&mut lines::LineReader::open(path, from.offset)?, from, rules, sink)
}

/// Reads the lines of a session that its client does not keep in a file, as [`read_transcript`] does. A position
/// counts lines.
pub fn read_session_lines(
    lines: &[String],
    from: ReadPosition,
    rules: &ReadRules<'_>,
    sink: &mut dyn EventSink,
) -> io::Result<ReadPosition> {
    read_lines(&mut lines::MemoryLines::new(lines, from.offset), from, rules, sink)
}

fn read_lines(
    lines: &mut impl LineSource,
    from: ReadPosition,
    rules: &ReadRules<'_>,
    sink: &mut dyn EventSink,
) -> io::Result<ReadPosition> {
    let state = if lines.offset() == from.offset { from.state } else { from.state.of_replaced_file() };
    let mut reader = reader::TranscriptReader::new(rules, sink, state, lines.offset());
    loop {
        let begin = lines.offset();
        let Some(line) = lines.next()? else {
            break;
        };
        reader.line_started(begin);
        match line {
            TranscriptLine::Whole(line) => match rules.translate {
                None => reader.read_line(line),
                Some(translate) => reader.read_foreign_line(line, translate),
            },
            TranscriptLine::TooLong { of_user: true } => reader.mute_unreadable_turn(),
            TranscriptLine::TooLong { of_user: false } => {}
        }
        reader.line_finished(lines.offset());
    }
    Ok(reader.finish(lines.offset()))
}

#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
#[cfg(test)]
mod foreign_tests;
#[cfg(test)]
mod turn_texts_tests;
