//! Rewrites the payload of another client than Claude Code, and finds the outcome of its tool calls.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::payload::{self, ClientPayload, PayloadHeader};
use crate::transcript_tail::TRANSCRIPT_TAIL_BYTES;
use claude_mem_core::agents::{CodingAgent, HookEventKind};
use claude_mem_core::paths;

/// The payload in the shape of Claude Code's. `None` if it has that shape already or cannot be decoded.
pub(crate) fn rewrite_payload(agent: &CodingAgent, payload: &str) -> Option<String> {
    let rewrite = agent.rewrite_payload?;
    // Rejects what must not be decoded, such as two fields of one name.
    payload::decode_payload(payload).ok()?;
    let text = payload.trim_start_matches('\u{feff}');
    let value = Value::deserialize(&mut serde_json::Deserializer::from_str(text)).ok()?;
    Some(rewrite(value).to_string())
}

/// The kind of the event, with the outcome of a tool call that its client reports like any other.
pub(crate) fn resolve_outcome(
    agent: &CodingAgent,
    kind: HookEventKind,
    payload: Option<&ClientPayload<'_>>,
    header: &PayloadHeader,
) -> HookEventKind {
    let Some(payload) = payload.filter(|_| agent.rewrite_payload.is_some() && kind == HookEventKind::ToolUse)
    else {
        return kind;
    };
    let is_error = payload.error.is_some_and(|raw| raw.get() != "null");
    if is_error || exit_code_in_transcript(agent, header).is_some_and(|code| code != 0) {
        HookEventKind::ToolFailure
    } else {
        kind
    }
}

/// The exit code of a command, for clients that tell it only in the transcript. A transcript that does not
/// bear the session's id is not opened: a payload may name any file.
fn exit_code_in_transcript(agent: &CodingAgent, header: &PayloadHeader) -> Option<i64> {
    let find = agent.find_exit_code?;
    header.tool.as_deref().filter(|tool| *tool == agent.shell_tool)?;
    let path = Path::new(header.transcript_path.as_deref()?);
    let name = path.file_name()?.to_str()?;
    if !name.contains(header.session.as_deref()?) {
        return None;
    }
    let id = header.tool_use_id.as_deref()?;
    // The report is usually among the last lines; one with a long output is longer.
    [REPORT_TAIL_BYTES, TRANSCRIPT_TAIL_BYTES]
        .into_iter()
        .find_map(|bytes_max| find(&read_tail(path, bytes_max).ok()?, id))
}

/// Bytes at the end of a transcript in which the report of a command is looked for first.
const REPORT_TAIL_BYTES: u64 = 16 << 10;

fn read_tail(path: &Path, bytes_max: u64) -> std::io::Result<String> {
    let mut file = paths::open_file(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(bytes_max)))?;
    let mut bytes = Vec::new();
    file.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
#[path = "agent_payload_tests.rs"]
mod tests;
