//! Decodes the payload that a client sends to a hook.
//!
//! [`decode_payload`] yields a [`ClientPayload`], whose contents stay raw JSON so that a long tool
//! output is neither copied nor parsed before truncation. A [`PayloadHeader`] holds the short fields;
//! it can also be scanned from a payload that does not decode. Unknown fields are ignored, and a field
//! of an unexpected type counts as missing.

use crate::limits::FIELD_BYTES_MAX;
use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::scan;
use crate::sanitize;

/// A payload that is one valid JSON object. A duplicate field name makes it invalid: we cannot know
/// which of the two values the client used.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ClientPayload<'a> {
    #[serde(borrow)]
    session_id: PayloadField<'a>,
    #[serde(borrow)]
    hook_event_name: PayloadField<'a>,
    #[serde(borrow)]
    transcript_path: PayloadField<'a>,
    #[serde(borrow)]
    agent_transcript_path: PayloadField<'a>,
    #[serde(borrow)]
    cwd: PayloadField<'a>,
    #[serde(borrow)]
    prompt_id: PayloadField<'a>,
    #[serde(borrow)]
    agent_id: PayloadField<'a>,
    #[serde(borrow)]
    agent_type: PayloadField<'a>,
    #[serde(borrow)]
    tool_name: PayloadField<'a>,
    #[serde(borrow)]
    tool_use_id: PayloadField<'a>,
    #[serde(borrow)]
    source: PayloadField<'a>,
    #[serde(borrow)]
    reason: PayloadField<'a>,
    #[serde(borrow)]
    trigger: PayloadField<'a>,
    #[serde(borrow)]
    duration_ms: PayloadField<'a>,
    #[serde(borrow)]
    pub prompt: PayloadField<'a>,
    #[serde(borrow)]
    pub tool_input: PayloadField<'a>,
    #[serde(borrow)]
    pub tool_response: PayloadField<'a>,
    #[serde(borrow)]
    pub error: PayloadField<'a>,
    #[serde(borrow)]
    pub last_assistant_message: PayloadField<'a>,
    #[serde(borrow)]
    pub compact_summary: PayloadField<'a>,
}

type PayloadField<'a> = Option<&'a RawValue>;

/// The position at which a payload is invalid. Never contains payload text.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid JSON payload at line {line}, column {column}")]
pub struct InvalidPayload {
    line: usize,
    column: usize,
}

/// Decodes a payload. Bytes after the first value are ignored.
pub fn decode_payload(payload: &str) -> Result<ClientPayload<'_>, InvalidPayload> {
    let payload = payload.trim_start_matches('\u{feff}').trim_ascii_start();
    if !payload.starts_with('{') {
        return Err(InvalidPayload { line: 1, column: 1 });
    }
    let mut from = serde_json::Deserializer::from_str(payload);
    ClientPayload::deserialize(&mut from).map_err(|e| InvalidPayload { line: e.line(), column: e.column() })
}

/// The short fields of a payload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PayloadHeader {
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

impl PayloadHeader {
    pub fn from_payload(wire: &ClientPayload<'_>) -> Self {
        Self {
            session: header_field(wire.session_id),
            event: header_field(wire.hook_event_name),
            transcript_path: header_field(wire.transcript_path),
            agent_transcript_path: header_field(wire.agent_transcript_path),
            cwd: header_field(wire.cwd),
            prompt_id: header_field(wire.prompt_id),
            agent_id: header_field(wire.agent_id),
            agent_type: header_field(wire.agent_type),
            tool: header_field(wire.tool_name),
            tool_use_id: header_field(wire.tool_use_id),
            source: header_field(wire.source),
            reason: header_field(wire.reason),
            trigger: header_field(wire.trigger),
            duration_ms: wire.duration_ms.and_then(parse_milliseconds),
        }
        .sanitized()
    }

    /// Scans the fields out of bytes that [`decode_payload`] rejects. The first of two fields with the
    /// same name counts.
    pub fn scan(payload: &[u8]) -> Self {
        let mut head = Self::default();
        scan::scan_fields(payload, |name, text| {
            if let Some(place) = head.slot(name) {
                place.get_or_insert_with(|| text.into_owned());
            }
        });
        head.sanitized()
    }

    /// Ids and names are stored verbatim, so invalid ones are dropped here.
    fn sanitized(self) -> Self {
        Self {
            session: self.session.map(sanitize::sanitize_session_id),
            prompt_id: self.prompt_id.and_then(sanitize::sanitize_id),
            agent_id: self.agent_id.and_then(sanitize::sanitize_id),
            agent_type: self.agent_type.and_then(sanitize::sanitize_id),
            tool: self.tool.and_then(sanitize::sanitize_id),
            tool_use_id: self.tool_use_id.and_then(sanitize::sanitize_id),
            ..self
        }
    }

    fn slot(&mut self, name: &[u8]) -> Option<&mut Option<String>> {
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

/// Decodes a JSON string, borrowed from the payload unless it contains an escape.
pub fn decode_string<'a>(raw: &'a RawValue) -> Option<Cow<'a, str>> {
    #[derive(Deserialize)]
    struct JsonString<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str::<JsonString<'a>>(raw.get()).ok().map(|text| text.0)
}

fn header_field(raw: PayloadField<'_>) -> Option<String> {
    let raw = raw.filter(|raw| raw.get().len() <= FIELD_BYTES_MAX)?;
    let text = decode_string(raw)?;
    // No id, name or path contains control characters, and a log line or key must not.
    let plain = !text.is_empty() && !text.contains(char::is_control);
    plain.then(|| text.into_owned())
}

fn parse_milliseconds(raw: &RawValue) -> Option<u64> {
    let number: serde_json::Number = serde_json::from_str(raw.get()).ok()?;
    number.as_u64().or_else(|| number.as_f64().map(|n| n as u64))
}

#[cfg(test)]
#[path = "payload_tests.rs"]
mod tests;
