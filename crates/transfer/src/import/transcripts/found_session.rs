//! [`FoundSession`]: a past session as a scan finds it.

use std::path::PathBuf;

use claude_mem_capture::transcript::{SubagentTranscript, TranscriptHeader};
use claude_mem_core::clock::Millis;

/// Seconds since its last record within which a transcript may still be written to.
pub(super) const IMPORT_LIVE_SECONDS: i64 = 600;

/// The transcripts of one session.
#[derive(Clone, Debug)]
pub(super) struct FoundSession {
    pub path: PathBuf,
    pub session: String,
    pub header: TranscriptHeader,
    pub agents: Vec<SubagentTranscript>,
    /// Time of the last record.
    pub last_at: Millis,
    /// Older records are a copy of the session that this one continues.
    pub since: Option<Millis>,
    /// The last record is older than `IMPORT_LIVE_SECONDS`.
    pub ended: bool,
    /// The file is empty or holds no record with a session id.
    pub is_empty: bool,
    /// The session is a memory program's conversation with its compressor.
    pub is_compressor: bool,
    /// Why the file could not be read.
    pub unreadable: Option<String>,
    pub(super) bytes: u64,
}

impl FoundSession {
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Result of a scan for transcripts.
#[derive(Debug)]
pub(super) struct TranscriptScan {
    /// Sessions, oldest first.
    pub sessions: Vec<FoundSession>,
    /// Files and folders that could not be read, with the reason.
    pub unreadable: Vec<String>,
}
