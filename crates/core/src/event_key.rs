//! Computes an event's [`EventKey`], which is the same whether a hook or a transcript reports it.
//!
//! Both sources must arrive at the same key, so a key contains nothing that only one of them knows.
//! Text enters a key as it is stored: redacted, truncated, trimmed. Hence private text does not even
//! leave a hash.
//!
//! Invariant: these functions are pure, and the same parts give the same bytes in every future
//! version.

use sha2::{Digest, Sha256};

use super::event::{Event, EventBody, EventKey};
use super::source::TextSource;

/// The first 16 bytes of SHA-256 over the parts. Each part is preceded by its length, so that
/// different lists of parts never hash the same bytes.
pub fn digest(parts: &[&[u8]]) -> [u8; 16] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let mut short = [0; 16];
    short.copy_from_slice(&hash.finalize()[..16]);
    short
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

/// The inverse of [`hex`] for 16 bytes.
pub fn from_hex(text: &str) -> Option<[u8; 16]> {
    let mut bytes = [0; 16];
    if text.len() != 32 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).ok()?;
    }
    Some(bytes)
}

/// Digest that identifies a client's session.
pub fn session_key(client: &str, session: &str) -> [u8; 16] {
    digest(&[client.as_bytes(), session.as_bytes()])
}

/// The key of an event as it will be stored. `message_id` is the transcript's id of the last message,
/// for clients whose hooks do not name the prompt that a stop belongs to.
pub fn event_key(event: &Event, message_id: Option<&str>) -> EventKey {
    let at = event.at.0.to_le_bytes();
    let prompt_id = event.prompt_id.as_deref();
    let of_session = SessionEventKeys { client: &event.client, session: &event.session.0 };
    match &event.body {
        EventBody::Prompt { text, .. } => of_session.prompt(prompt_id, text),
        EventBody::Text { source, text, id, .. } => of_session.text(*source, id.as_deref(), text),
        EventBody::ToolUse { tool, tool_use_id, input, output, .. } => match tool_use_id {
            Some(id) => of_session.tool_result(id),
            None => of_session.tool_content(tool, input, output),
        },
        EventBody::Stop { last_message } => {
            of_session.stop(prompt_id.or(message_id), last_message.as_deref())
        }
        EventBody::SubagentStop { last_message } => {
            of_session.subagent_stop(event.agent_id.as_deref(), last_message.as_deref())
        }
        EventBody::PostCompact { summary } => of_session.compact_summary(summary),
        // Transcripts do not record these, and a session may have several: the hook's start time
        // tells them apart.
        EventBody::SessionStart { .. } | EventBody::PreCompact { .. } | EventBody::SessionEnd { .. } => {
            of_session.key(&[event.body.kind_name().as_bytes(), &at])
        }
    }
}

/// Builds the keys of one session's events, for hooks and for the transcript reader.
#[derive(Clone, Copy, Debug)]
pub struct SessionEventKeys<'a> {
    pub client: &'a str,
    pub session: &'a str,
}

impl SessionEventKeys<'_> {
    /// The result of a tool call, successful or failed: a call has exactly one.
    pub fn tool_result(&self, tool_use_id: &str) -> EventKey {
        self.key(&[tool_use_id.as_bytes(), b"result"])
    }

    /// The result of a tool call of a client that assigns no tool use ids.
    pub fn tool_content(
        &self,
        tool: &str,
        input: &serde_json::Value,
        output: &serde_json::Value,
    ) -> EventKey {
        let (input, output) = (input.to_string(), output.to_string());
        self.key(&[b"tool", tool.as_bytes(), input.as_bytes(), output.as_bytes()])
    }

    pub fn prompt(&self, prompt_id: Option<&str>, text: &str) -> EventKey {
        match prompt_id {
            Some(id) => self.key(&[b"prompt", id.as_bytes()]),
            None => self.key(&[b"prompt-text", text.trim().as_bytes()]),
        }
    }

    /// A text that is neither a prompt nor a final message: by the id of its message or tool call, else
    /// by its words.
    pub fn text(&self, source: TextSource, id: Option<&str>, text: &str) -> EventKey {
        let name = source.traits().name.as_bytes();
        match id {
            Some(id) => self.key(&[b"text", name, id.as_bytes()]),
            None => self.key(&[b"text-words", name, text.trim().as_bytes()]),
        }
    }

    /// The end of a turn. `turn` is the prompt's id, else the id of the last message.
    pub fn stop(&self, turn: Option<&str>, last_message: Option<&str>) -> EventKey {
        let message = last_message.unwrap_or_default().trim().as_bytes();
        match turn {
            Some(turn) => self.key(&[b"stop", turn.as_bytes(), message]),
            None => self.key(&[b"stop-text", message]),
        }
    }

    pub fn subagent_stop(&self, agent: Option<&str>, last_message: Option<&str>) -> EventKey {
        let message = last_message.unwrap_or_default().trim().as_bytes();
        self.key(&[b"subagent-stop", agent.unwrap_or_default().as_bytes(), message])
    }

    pub fn compact_summary(&self, summary: &str) -> EventKey {
        self.key(&[b"compact", summary.trim().as_bytes()])
    }

    fn key(&self, parts: &[&[u8]]) -> EventKey {
        let mut all = Vec::with_capacity(parts.len() + 2);
        all.extend([self.client.as_bytes(), self.session.as_bytes()]);
        all.extend_from_slice(parts);
        EventKey(digest(&all))
    }
}

#[cfg(test)]
#[path = "event_key_tests.rs"]
mod tests;
