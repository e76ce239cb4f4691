//! Bytes as the client sends them.
//!
//! In: a payload. Out: its short fields (`Head`) and, where the payload is sound, its contents as
//! unread JSON (`Wire`), so that a long tool output is neither copied nor taken apart before it
//! is cut. What a client adds later is ignored; a field of an unexpected type is a missing one.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{plain, scan};
use crate::limits::FIELD_BYTES_MAX;

/// A payload that is one sound JSON object. A name that occurs twice is not sound: it is not
/// known which of the two the client acted on.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Wire<'a> {
    #[serde(borrow)]
    session_id: Raw<'a>,
    #[serde(borrow)]
    hook_event_name: Raw<'a>,
    #[serde(borrow)]
    transcript_path: Raw<'a>,
    #[serde(borrow)]
    agent_transcript_path: Raw<'a>,
    #[serde(borrow)]
    cwd: Raw<'a>,
    #[serde(borrow)]
    prompt_id: Raw<'a>,
    #[serde(borrow)]
    agent_id: Raw<'a>,
    #[serde(borrow)]
    agent_type: Raw<'a>,
    #[serde(borrow)]
    tool_name: Raw<'a>,
    #[serde(borrow)]
    tool_use_id: Raw<'a>,
    #[serde(borrow)]
    source: Raw<'a>,
    #[serde(borrow)]
    reason: Raw<'a>,
    #[serde(borrow)]
    trigger: Raw<'a>,
    #[serde(borrow)]
    duration_ms: Raw<'a>,
    #[serde(borrow)]
    pub prompt: Raw<'a>,
    #[serde(borrow)]
    pub tool_input: Raw<'a>,
    #[serde(borrow)]
    pub tool_response: Raw<'a>,
    #[serde(borrow)]
    pub error: Raw<'a>,
    #[serde(borrow)]
    pub last_assistant_message: Raw<'a>,
    #[serde(borrow)]
    pub compact_summary: Raw<'a>,
}

type Raw<'a> = Option<&'a RawValue>;

/// Why a payload could not be read. Never what was in it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not JSON we can read, at line {line}, column {column}")]
pub struct NotJson {
    line: usize,
    column: usize,
}

/// Reads a payload. What follows the first value is not looked at.
pub fn decode(payload: &str) -> Result<Wire<'_>, NotJson> {
    let payload = payload.trim_start_matches('\u{feff}').trim_ascii_start();
    if !payload.starts_with('{') {
        return Err(NotJson { line: 1, column: 1 });
    }
    let mut from = serde_json::Deserializer::from_str(payload);
    Wire::deserialize(&mut from).map_err(|e| NotJson {
        line: e.line(),
        column: e.column(),
    })
}

/// The short fields of a payload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    pub session: Option<String>,
    pub event: Option<String>,
    pub transcript_path: Option<String>,
    pub agent_transcript_path: Option<String>,
    pub cwd: Option<String>,
    pub prompt_id: Option<String>,
    pub agent_id: Option<String>,
    pub agent_type: Option<String>,
    pub tool: Option<String>,
    pub tool_use_id: Option<String>,
    pub source: Option<String>,
    pub reason: Option<String>,
    pub trigger: Option<String>,
    pub duration_ms: Option<u64>,
}

impl Head {
    pub fn of(wire: &Wire<'_>) -> Self {
        Self {
            session: field(wire.session_id),
            event: field(wire.hook_event_name),
            transcript_path: field(wire.transcript_path),
            agent_transcript_path: field(wire.agent_transcript_path),
            cwd: field(wire.cwd),
            prompt_id: field(wire.prompt_id),
            agent_id: field(wire.agent_id),
            agent_type: field(wire.agent_type),
            tool: field(wire.tool_name),
            tool_use_id: field(wire.tool_use_id),
            source: field(wire.source),
            reason: field(wire.reason),
            trigger: field(wire.trigger),
            duration_ms: wire.duration_ms.and_then(milliseconds),
        }
        .plain()
    }

    /// What a prefix scan finds in bytes that `decode` refuses. Of a name that occurs twice the
    /// first counts.
    pub fn scanned(payload: &[u8]) -> Self {
        let mut head = Self::default();
        scan::fields(payload, |name, text| {
            if let Some(place) = head.place(name) {
                place.get_or_insert_with(|| text.into_owned());
            }
        });
        head.plain()
    }

    /// Ids and names are stored as they come: what is none is missing.
    fn plain(self) -> Self {
        Self {
            session: self.session.map(plain::session),
            prompt_id: self.prompt_id.and_then(plain::id),
            agent_id: self.agent_id.and_then(plain::id),
            agent_type: self.agent_type.and_then(plain::id),
            tool: self.tool.and_then(plain::id),
            tool_use_id: self.tool_use_id.and_then(plain::id),
            ..self
        }
    }

    fn place(&mut self, name: &[u8]) -> Option<&mut Option<String>> {
        Some(match name {
            b"session_id" => &mut self.session,
            b"hook_event_name" => &mut self.event,
            b"transcript_path" => &mut self.transcript_path,
            b"agent_transcript_path" => &mut self.agent_transcript_path,
            b"cwd" => &mut self.cwd,
            b"prompt_id" => &mut self.prompt_id,
            b"agent_id" => &mut self.agent_id,
            b"agent_type" => &mut self.agent_type,
            b"tool_name" => &mut self.tool,
            b"tool_use_id" => &mut self.tool_use_id,
            b"source" => &mut self.source,
            b"reason" => &mut self.reason,
            b"trigger" => &mut self.trigger,
            _ => return None,
        })
    }
}

/// A text, borrowed from the payload where no escape stands in the way.
pub fn text<'a>(raw: &'a RawValue) -> Option<Cow<'a, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str::<Text<'a>>(raw.get())
        .ok()
        .map(|text| text.0)
}

fn field(raw: Raw<'_>) -> Option<String> {
    let raw = raw.filter(|raw| raw.get().len() <= FIELD_BYTES_MAX)?;
    let text = text(raw)?;
    // No id, name or path has them, and a log line or a key must not.
    let plain = !text.is_empty() && !text.contains(char::is_control);
    plain.then(|| text.into_owned())
}

fn milliseconds(raw: &RawValue) -> Option<u64> {
    let number: serde_json::Number = serde_json::from_str(raw.get()).ok()?;
    number
        .as_u64()
        .or_else(|| number.as_f64().map(|n| n as u64))
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
