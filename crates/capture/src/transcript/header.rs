//! Reads the metadata at the beginning of a transcript.

use std::borrow::Cow;
use std::path::Path;

use super::lines::{LineReader, LineSource as _, TranscriptLine};
use super::record::{TranscriptRecord, decode_line, is_irrelevant, text};
use claude_mem_core::agents::LineTranslator;
use claude_mem_core::clock::Millis;

/// Lines within which a transcript must name its session.
const TRANSCRIPT_HEAD_LINES_MAX: usize = 64;

/// Metadata from the first records of a transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TranscriptHeader {
    pub session: Option<String>,
    /// Working directory at the start of the session.
    pub cwd: Option<String>,
    pub branch: Option<String>,
    pub version: Option<String>,
    pub at: Option<Millis>,
    /// The first 200 characters of the first message, as raw JSON.
    pub message: Option<String>,
    /// Id of the subagent, in a subagent's transcript.
    pub agent: Option<String>,
}

/// Reads the header of a transcript of Claude Code. `Ok(None)` if the file is not a transcript.
pub fn read_header(path: &Path) -> std::io::Result<Option<TranscriptHeader>> {
    read_translated_header(path, None)
}

/// Reads the header of any client's transcript. `Ok(None)` if the file is not a transcript.
pub fn read_translated_header(
    path: &Path,
    translate: Option<LineTranslator>,
) -> std::io::Result<Option<TranscriptHeader>> {
    let mut lines = LineReader::open(path, 0)?;
    for _ in 0..TRANSCRIPT_HEAD_LINES_MAX {
        let Some(line) = lines.next()? else {
            break;
        };
        let TranscriptLine::Whole(line) = line else {
            continue;
        };
        let header = match translate {
            None => header_of_line(line),
            Some(translate) => {
                let records = decode_line(line).and_then(|line| translate(&line)).unwrap_or_default();
                records.iter().find_map(|record| header_of_line(record.to_string().as_bytes()))
            }
        };
        if header.is_some() {
            return Ok(header);
        }
    }
    Ok(None)
}

/// The header, if the line is a record that names its session.
fn header_of_line(line: &[u8]) -> Option<TranscriptHeader> {
    let line = (!is_irrelevant(line)).then(|| decode_line(line)).flatten()?;
    let record = TranscriptRecord::parse(&line)?;
    // Such records name the session, and not where it works.
    if matches!(&*record.kind(), "queue-operation" | "pr-link") {
        return None;
    }
    let owned = |raw| text(raw).map(Cow::into_owned);
    let session = owned(record.session_id)?;
    Some(TranscriptHeader {
        session: Some(session),
        cwd: owned(record.cwd),
        branch: owned(record.git_branch),
        version: owned(record.version),
        at: record.at(),
        message: record.message.map(|raw| raw.get().chars().take(200).collect()),
        agent: owned(record.agent_id),
    })
}
