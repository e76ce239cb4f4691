//! Parses one transcript line into a [`TranscriptRecord`].
//!
//! Most bytes of a transcript are in record types that carry no conversation; [`is_irrelevant`] skips
//! them by their first bytes. Of the others only the needed fields are parsed, and their contents stay
//! raw JSON. A field of an unexpected type counts as missing.

use std::borrow::Cow;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::lines::{LineReader, TranscriptLine};
use crate::payload;
use claude_mem_core::clock::Millis;
use claude_mem_core::lone_surrogates;

/// Lines within which a transcript must name its session.
const TRANSCRIPT_HEAD_LINES_MAX: usize = 64;

pub(super) type RecordField<'a> = Option<&'a RawValue>;

/// One record of a transcript.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct TranscriptRecord<'a> {
    #[serde(borrow, rename = "type")]
    kind: RecordField<'a>,
    #[serde(borrow)]
    uuid: RecordField<'a>,
    #[serde(borrow)]
    timestamp: RecordField<'a>,
    #[serde(borrow)]
    prompt_id: RecordField<'a>,
    #[serde(borrow)]
    session_id: RecordField<'a>,
    #[serde(borrow)]
    agent_id: RecordField<'a>,
    #[serde(borrow)]
    cwd: RecordField<'a>,
    #[serde(borrow)]
    version: RecordField<'a>,
    #[serde(borrow)]
    git_branch: RecordField<'a>,
    #[serde(borrow)]
    origin: RecordField<'a>,
    #[serde(borrow)]
    permission_decision: RecordField<'a>,
    #[serde(borrow)]
    is_sidechain: RecordField<'a>,
    #[serde(borrow)]
    is_meta: RecordField<'a>,
    #[serde(borrow)]
    is_compact_summary: RecordField<'a>,
    #[serde(borrow)]
    is_visible_in_transcript_only: RecordField<'a>,
    #[serde(borrow)]
    is_api_error_message: RecordField<'a>,
    #[serde(borrow)]
    message: RecordField<'a>,
    #[serde(borrow)]
    pub tool_use_result: RecordField<'a>,
}

/// The message of a user or assistant record.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RecordMessage<'a> {
    #[serde(borrow)]
    id: RecordField<'a>,
    #[serde(borrow)]
    model: RecordField<'a>,
    #[serde(borrow)]
    stop_reason: RecordField<'a>,
    #[serde(borrow)]
    content: RecordField<'a>,
}

/// One content block of a message: text, tool call or tool result.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ContentBlock<'a> {
    #[serde(borrow, rename = "type")]
    kind: RecordField<'a>,
    #[serde(borrow)]
    text: RecordField<'a>,
    #[serde(borrow)]
    id: RecordField<'a>,
    #[serde(borrow)]
    name: RecordField<'a>,
    #[serde(borrow)]
    pub input: RecordField<'a>,
    #[serde(borrow)]
    tool_use_id: RecordField<'a>,
    #[serde(borrow)]
    pub content: RecordField<'a>,
    #[serde(borrow)]
    is_error: RecordField<'a>,
}

/// The content of a message: one text, or several blocks.
#[derive(Debug)]
pub(super) enum RecordContent<'a> {
    Text(Cow<'a, str>),
    Blocks(Vec<ContentBlock<'a>>),
}

/// True for lines whose first bytes show that they are neither user nor assistant records.
pub(super) fn is_irrelevant(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"{\"type\":") else {
        return line.first() != Some(&b'{');
    };
    let kind = rest.trim_ascii_start();
    ![&b"\"user\""[..], b"\"assistant\""].iter().any(|known| kind.starts_with(known))
}

/// Decodes a line, or returns `None` if it is not UTF-8: clients write only UTF-8.
pub(super) fn decode_line(line: &[u8]) -> Option<Cow<'_, str>> {
    std::str::from_utf8(line).ok().map(lone_surrogates::replace_lone_surrogates)
}

impl<'a> TranscriptRecord<'a> {
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }

    pub(super) fn kind(&self) -> Cow<'a, str> {
        text(self.kind).unwrap_or_default()
    }

    pub(super) fn uuid(&self) -> Option<Cow<'a, str>> {
        text(self.uuid)
    }

    pub(super) fn at(&self) -> Option<Millis> {
        let at: jiff::Timestamp = text(self.timestamp)?.parse().ok()?;
        Some(Millis(at.as_millisecond()))
    }

    pub(super) fn prompt_id(&self) -> Option<Cow<'a, str>> {
        text(self.prompt_id)
    }

    pub(super) fn session(&self) -> Option<Cow<'a, str>> {
        text(self.session_id)
    }

    pub(super) fn cwd(&self) -> Option<Cow<'a, str>> {
        text(self.cwd)
    }

    /// Whether a client before 2.0 wrote it. Those do not pass tool use ids to their hooks.
    pub(super) fn is_from_client_v1(&self) -> bool {
        text(self.version).is_some_and(|version| version.starts_with("1."))
    }

    pub(super) fn is_sidechain(&self) -> bool {
        is_true(self.is_sidechain)
    }

    pub(super) fn is_compact_summary(&self) -> bool {
        is_true(self.is_compact_summary)
    }

    /// Whether the client generated the record for its model; the user did not type it.
    pub(super) fn is_client_generated(&self) -> bool {
        is_true(self.is_meta)
            || is_true(self.is_visible_in_transcript_only)
            || origin_kind(self.origin).is_some_and(|kind| kind != "human")
    }

    /// Whether the record is an API error in place of a model's answer.
    pub(super) fn is_api_error(&self, message: &RecordMessage<'_>) -> bool {
        is_true(self.is_api_error_message) || text(message.model).is_some_and(|model| model == "<synthetic>")
    }

    /// Whether the user denied permission for the call.
    pub(super) fn was_denied(&self) -> bool {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct PermissionDecision<'a> {
            #[serde(borrow)]
            decision: RecordField<'a>,
        }
        let decision = self
            .permission_decision
            .and_then(|raw| serde_json::from_str::<PermissionDecision<'_>>(raw.get()).ok());
        decision
            .and_then(|decision| text(decision.decision))
            .is_some_and(|decision| decision != "accept" && decision != "allow")
    }

    pub(super) fn message(&self) -> Option<RecordMessage<'a>> {
        serde_json::from_str(self.message?.get()).ok()
    }
}

impl<'a> RecordMessage<'a> {
    pub(super) fn id(&self) -> Option<Cow<'a, str>> {
        text(self.id)
    }

    /// Whether the model ended its turn here. `None` if that is not known yet.
    pub(super) fn is_final(&self) -> Option<bool> {
        text(self.stop_reason).map(|reason| reason != "tool_use" && reason != "pause_turn")
    }

    pub(super) fn content(&self) -> Option<RecordContent<'a>> {
        let raw = self.content?;
        match text(Some(raw)) {
            Some(text) => Some(RecordContent::Text(text)),
            None => serde_json::from_str(raw.get()).ok().map(RecordContent::Blocks),
        }
    }
}

impl<'a> ContentBlock<'a> {
    pub(super) fn kind(&self) -> Cow<'a, str> {
        text(self.kind).unwrap_or_default()
    }

    pub(super) fn text(&self) -> Cow<'a, str> {
        text(self.text).unwrap_or_default()
    }

    pub(super) fn id(&self) -> Option<Cow<'a, str>> {
        text(self.id)
    }

    pub(super) fn name(&self) -> Option<Cow<'a, str>> {
        text(self.name)
    }

    pub(super) fn tool_use_id(&self) -> Option<Cow<'a, str>> {
        text(self.tool_use_id)
    }

    pub(super) fn is_error(&self) -> bool {
        is_true(self.is_error)
    }
}

fn text(raw: RecordField<'_>) -> Option<Cow<'_, str>> {
    raw.and_then(payload::decode_string).filter(|text| !text.is_empty())
}

fn is_true(raw: RecordField<'_>) -> bool {
    raw.is_some_and(|raw| raw.get() == "true")
}

fn origin_kind<'a>(raw: RecordField<'a>) -> Option<Cow<'a, str>> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct RecordOrigin<'a> {
        #[serde(borrow)]
        kind: RecordField<'a>,
    }
    let kinded: RecordOrigin<'a> = serde_json::from_str(raw?.get()).ok()?;
    text(kinded.kind)
}

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
