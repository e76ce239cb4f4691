//! Reads the agent's last message from the end of a transcript, for clients whose hooks omit it.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use serde::Deserialize;

use crate::sanitize;
use claude_mem_core::agents::{LineTranslator, WARMUP_PROMPT};
use claude_mem_core::paths;

/// Bytes at the beginning of a subagent's transcript that are read to recognize a warm-up.
const TRANSCRIPT_FIRST_BYTES: u64 = 4 << 10;

/// Bytes at the end of a transcript that are searched for the agent's last message.
pub(crate) const TRANSCRIPT_TAIL_BYTES: u64 = 256 << 10;

/// The agent's last message that contains text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LastMessage {
    pub text: String,
    /// The transcript's id of the record, which the transcript reader uses too.
    pub id: Option<String>,
}

#[derive(Deserialize)]
struct TailRecord {
    #[serde(rename = "type", default)]
    kind: String,
    uuid: Option<String>,
    #[serde(rename = "sessionId")]
    session: Option<String>,
    message: Option<TailMessage>,
}

#[derive(Deserialize)]
struct TailMessage {
    #[serde(default)]
    content: TailContent,
    stop_reason: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(untagged)]
enum TailContent {
    Text(String),
    Blocks(Vec<TailBlock>),
    #[default]
    Nothing,
}

#[derive(Deserialize)]
struct TailBlock {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    text: String,
}

/// Reads the last message of a session's transcript. `Ok(None)` if the current turn has none within the
/// last `TRANSCRIPT_TAIL_BYTES`, or if the transcript is another session's: a payload may name any file.
pub fn last_message(
    transcript: &Path,
    session: &str,
    translate: Option<LineTranslator>,
) -> io::Result<Option<LastMessage>> {
    // Translated records do not name their session, but the paths of such transcripts do.
    if translate.is_some() && !transcript.to_string_lossy().contains(session) {
        return Ok(None);
    }
    let mut file = paths::open_file(transcript)?;
    let length = file.metadata()?.len();
    let start = length.saturating_sub(TRANSCRIPT_TAIL_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(TRANSCRIPT_TAIL_BYTES).read_to_end(&mut bytes)?;
    // The first line is partial, unless the read started at the beginning of the file.
    let whole = match bytes.iter().position(|byte| *byte == b'\n') {
        Some(end) if start > 0 => &bytes[end + 1..],
        _ => &bytes,
    };
    Ok(last_message_in(whole, session, translate))
}

/// Whether this is the transcript of a warm-up subagent. False if it cannot be read.
pub fn is_warmup(transcript: &Path) -> bool {
    let mut bytes = Vec::new();
    let head = paths::open_file(transcript).map(|file| file.take(TRANSCRIPT_FIRST_BYTES));
    if head.and_then(|mut head| head.read_to_end(&mut bytes)).is_err() {
        return false;
    }
    let first = bytes.split(|byte| *byte == b'\n').next();
    let first = first.and_then(|line| serde_json::from_slice::<TailRecord>(line).ok());
    first.is_some_and(|line| line.kind == "user" && line.text().trim() == WARMUP_PROMPT)
}

fn last_message_in(lines: &[u8], session: &str, translate: Option<LineTranslator>) -> Option<LastMessage> {
    for line in lines.rsplit(|byte| *byte == b'\n') {
        // A cheap test first: some lines are long.
        if memchr::memmem::find(line, b"\"type\"").is_none() {
            continue;
        }
        for record in tail_records(line, translate).into_iter().rev() {
            if record.is_foreign(session) {
                return None;
            }
            match record.kind.as_str() {
                "assistant" => {}
                // Messages before a prompt belong to an earlier turn.
                "user" if record.is_prompt() => return None,
                _ => continue,
            }
            let text = record.text();
            // Such a client writes its transcript with a delay: the last message may still be missing.
            if translate.is_some() && record.is_before_tools() {
                return None;
            }
            if !text.trim().is_empty() {
                return Some(LastMessage { text, id: record.uuid });
            }
        }
    }
    None
}

/// The records of one line; none if it cannot be parsed.
fn tail_records(line: &[u8], translate: Option<LineTranslator>) -> Vec<TailRecord> {
    match translate {
        None => serde_json::from_slice(line).ok().into_iter().collect(),
        Some(translate) => {
            let records = std::str::from_utf8(line).ok().and_then(translate).unwrap_or_default();
            records.into_iter().filter_map(|record| serde_json::from_value(record).ok()).collect()
        }
    }
}

impl TailRecord {
    /// Whether the record names another session. Older clients name none in some records.
    fn is_foreign(&self, session: &str) -> bool {
        let named = self.session.as_ref();
        named.is_some_and(|named| sanitize::sanitize_session_id(named.clone()) != session)
    }

    /// Whether the message announces tool calls, so that the turn goes on.
    fn is_before_tools(&self) -> bool {
        let reason = self.message.as_ref().and_then(|message| message.stop_reason.as_deref());
        reason == Some("tool_use")
    }

    fn text(&self) -> String {
        match self.message.as_ref().map(|message| &message.content) {
            Some(TailContent::Text(text)) => text.clone(),
            Some(TailContent::Blocks(blocks)) => {
                let texts = blocks.iter().filter(|block| block.kind == "text");
                let texts: Vec<_> = texts.map(|block| block.text.as_str()).collect();
                texts.join("\n")
            }
            Some(TailContent::Nothing) | None => String::new(),
        }
    }

    /// Whether the user typed it, as opposed to a tool result or hook output.
    fn is_prompt(&self) -> bool {
        match self.message.as_ref().map(|message| &message.content) {
            Some(TailContent::Text(text)) => !text.trim_start().starts_with('<'),
            Some(TailContent::Blocks(blocks)) => blocks.iter().all(|block| block.kind == "text"),
            Some(TailContent::Nothing) | None => false,
        }
    }
}

#[cfg(test)]
#[path = "transcript_tail_tests.rs"]
mod tests;
