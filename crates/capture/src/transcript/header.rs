//! Reads the metadata at the beginning of a transcript.

use std::borrow::Cow;
use std::path::Path;

use super::lines::{LineReader, TranscriptLine};
use super::record::{TranscriptRecord, decode_line, is_irrelevant, text};
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

/// Reads the header of a transcript. `Ok(None)` if the file is not a transcript.
pub fn read_header(path: &Path) -> std::io::Result<Option<TranscriptHeader>> {
    let mut lines = LineReader::open(path, 0)?;
    for _ in 0..TRANSCRIPT_HEAD_LINES_MAX {
        let Some(line) = lines.next()? else {
            break;
        };
        let TranscriptLine::Whole(line) = line else {
            continue;
        };
        let Some(line) = (!is_irrelevant(line)).then(|| decode_line(line)).flatten() else {
            continue;
        };
        let Some(record) = TranscriptRecord::parse(&line) else {
            continue;
        };
        // Such records name the session, and not where it works.
        if matches!(&*record.kind(), "queue-operation" | "pr-link") {
            continue;
        }
        let owned = |raw| text(raw).map(Cow::into_owned);
        if let Some(session) = owned(record.session_id) {
            return Ok(Some(TranscriptHeader {
                session: Some(session),
                cwd: owned(record.cwd),
                branch: owned(record.git_branch),
                version: owned(record.version),
                at: record.at(),
                message: record.message.map(|raw| raw.get().chars().take(200).collect()),
                agent: owned(record.agent_id),
            }));
        }
    }
    Ok(None)
}
