//! The agent's last words, from the end of a transcript: for clients whose hooks do not say them.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use serde::Deserialize;

use crate::limits::{TRANSCRIPT_FIRST_BYTES, TRANSCRIPT_TAIL_BYTES};
use crate::paths;

/// The last message of an agent that says something.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LastMessage {
    pub text: String,
    /// The transcript's own id of the line, which its reader knows too.
    pub id: Option<String>,
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type", default)]
    kind: String,
    uuid: Option<String>,
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Content,
}

#[derive(Default, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Blocks(Vec<Block>),
    #[default]
    Nothing,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    text: String,
}

/// Reads the last message of a transcript. `Ok(None)`: there is none, or only long ago.
pub fn last_message(transcript: &Path) -> io::Result<Option<LastMessage>> {
    let mut file = paths::open_file(transcript)?;
    let length = file.metadata()?.len();
    let start = length.saturating_sub(TRANSCRIPT_TAIL_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(TRANSCRIPT_TAIL_BYTES).read_to_end(&mut bytes)?;
    // The first line is half a line, unless it is the transcript's first.
    let whole = match bytes.iter().position(|byte| *byte == b'\n') {
        Some(end) if start > 0 => &bytes[end + 1..],
        _ => &bytes,
    };
    Ok(last_message_of(whole))
}

/// What an agent is asked that the client starts to be quick later.
pub const WARMUP: &str = "Warmup";

/// Whether the agent of this transcript was asked for nothing. One that cannot be read was asked
/// for something.
pub fn is_warmup(transcript: &Path) -> bool {
    let mut bytes = Vec::new();
    let head = paths::open_file(transcript).map(|file| file.take(TRANSCRIPT_FIRST_BYTES));
    if head
        .and_then(|mut head| head.read_to_end(&mut bytes))
        .is_err()
    {
        return false;
    }
    let first = bytes.split(|byte| *byte == b'\n').next();
    let first = first.and_then(|line| serde_json::from_slice::<Line>(line).ok());
    first.is_some_and(|line| line.kind == "user" && line.text().trim() == WARMUP)
}

fn last_message_of(lines: &[u8]) -> Option<LastMessage> {
    for line in lines.rsplit(|byte| *byte == b'\n') {
        // Most lines are something else, and some are long.
        if memchr::memmem::find(line, b"\"type\"").is_none() {
            continue;
        }
        let Ok(line) = serde_json::from_slice::<Line>(line) else {
            continue;
        };
        match line.kind.as_str() {
            "assistant" => {}
            // The words before a prompt belong to an earlier turn.
            "user" if line.is_prompt() => return None,
            _ => continue,
        }
        let text = line.text();
        if !text.trim().is_empty() {
            return Some(LastMessage {
                text,
                id: line.uuid,
            });
        }
    }
    None
}

impl Line {
    fn text(&self) -> String {
        match self.message.as_ref().map(|message| &message.content) {
            Some(Content::Text(text)) => text.clone(),
            Some(Content::Blocks(blocks)) => {
                let texts = blocks.iter().filter(|block| block.kind == "text");
                let texts: Vec<_> = texts.map(|block| block.text.as_str()).collect();
                texts.join("\n")
            }
            Some(Content::Nothing) | None => String::new(),
        }
    }

    /// A person's words, not the result of a tool or what a hook said.
    fn is_prompt(&self) -> bool {
        match self.message.as_ref().map(|message| &message.content) {
            Some(Content::Text(text)) => !text.trim_start().starts_with('<'),
            Some(Content::Blocks(blocks)) => blocks.iter().all(|block| block.kind == "text"),
            Some(Content::Nothing) | None => false,
        }
    }
}

#[cfg(test)]
#[path = "tail_tests.rs"]
mod tests;
