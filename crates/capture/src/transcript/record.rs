//! Parses one transcript line into a [`TranscriptRecord`].
//!
//! Most bytes of a transcript are in record types that carry no conversation; [`is_irrelevant`] skips
//! them by their first bytes. Of the others only the needed fields are parsed, and their contents stay
//! raw JSON. A field of an unexpected type counts as missing.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::payload;
use claude_mem_core::clock::Millis;
use claude_mem_core::lone_surrogates;

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
    pub(super) session_id: RecordField<'a>,
    #[serde(borrow)]
    pub(super) agent_id: RecordField<'a>,
    #[serde(borrow)]
    pub(super) cwd: RecordField<'a>,
    #[serde(borrow)]
    pub(super) version: RecordField<'a>,
    #[serde(borrow)]
    pub(super) git_branch: RecordField<'a>,
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
    pub(super) message: RecordField<'a>,
    #[serde(borrow)]
    pub tool_use_result: RecordField<'a>,
    #[serde(borrow)]
    plan_content: RecordField<'a>,
    /// The operation on the queue of prompts, in a `queue-operation`.
    #[serde(borrow)]
    operation: RecordField<'a>,
    /// The kind of a `system` record.
    #[serde(borrow)]
    subtype: RecordField<'a>,
    /// The text of a `system` record or a `queue-operation`.
    #[serde(borrow)]
    content: RecordField<'a>,
    #[serde(borrow)]
    attachment: RecordField<'a>,
    #[serde(borrow)]
    pr_number: RecordField<'a>,
    #[serde(borrow)]
    pr_url: RecordField<'a>,
}

/// An attachment: something that the client hands to the model during a turn.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RecordAttachment<'a> {
    #[serde(borrow, rename = "type")]
    kind: RecordField<'a>,
    #[serde(borrow)]
    prompt: RecordField<'a>,
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
    /// Stands for the output of a call that has no id in hooks.
    #[serde(borrow)]
    result_digest: RecordField<'a>,
}

/// The content of a message: one text, or several blocks.
#[derive(Debug)]
pub(super) enum RecordContent<'a> {
    Text(Cow<'a, str>),
    Blocks(Vec<ContentBlock<'a>>),
}

/// Bytes within which a record names its type, if a larger one does not come first.
const TYPE_BYTES_MAX: usize = 2048;

/// True for lines whose first bytes show that they hold no text of the conversation.
pub(super) fn is_irrelevant(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"{\"type\":") else {
        return line.first() != Some(&b'{') || is_progress(line);
    };
    let kind = rest.trim_ascii_start();
    let known = [&b"\"user\""[..], b"\"assistant\"", b"\"queue-operation\"", b"\"pr-link\"", b"\"system\""];
    !known.iter().any(|known| kind.starts_with(known))
}

/// Whether the first type that the line names is that of a progress report. Quotation marks inside a
/// string are escaped, so this is a field's name.
fn is_progress(line: &[u8]) -> bool {
    let head = &line[..line.len().min(TYPE_BYTES_MAX)];
    let first = memchr::memmem::find(head, b"\"type\":\"");
    first.is_some_and(|at| head[at..].starts_with(b"\"type\":\"progress\""))
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
        is_true(self.is_meta) || is_true(self.is_visible_in_transcript_only)
    }

    /// Whether the record names an origin other than a person.
    pub(super) fn is_of_other_origin(&self) -> bool {
        origin_kind(self.origin).is_some_and(|kind| kind != "human")
    }

    /// The plan that the client hands over, if the record is such a hand-over.
    pub(super) fn plan_content(&self) -> Option<Cow<'a, str>> {
        text(self.plan_content)
    }

    pub(super) fn operation(&self) -> Cow<'a, str> {
        text(self.operation).unwrap_or_default()
    }

    pub(super) fn subtype(&self) -> Cow<'a, str> {
        text(self.subtype).unwrap_or_default()
    }

    /// The text of a record that is no message.
    pub(super) fn content(&self) -> Option<Cow<'a, str>> {
        text(self.content)
    }

    /// The prompt that the client took from the queue and handed to the model during the turn.
    pub(super) fn queued_command(&self) -> Option<Cow<'a, str>> {
        let attachment: RecordAttachment<'a> = serde_json::from_str(self.attachment?.get()).ok()?;
        text(attachment.kind).filter(|kind| kind == "queued_command")?;
        text(attachment.prompt).or_else(|| {
            let blocks: Vec<ContentBlock<'a>> = serde_json::from_str(attachment.prompt?.get()).ok()?;
            let texts: Vec<_> = blocks.iter().map(ContentBlock::text).collect();
            Some(Cow::Owned(texts.join("\n")))
        })
    }

    /// The number and address of a pull request, in a `pr-link`.
    pub(super) fn pull_request(&self) -> Option<(u64, Cow<'a, str>)> {
        let number = self.pr_number?.get().trim_matches('"').parse().ok()?;
        Some((number, text(self.pr_url)?))
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
        RecordContent::parse(self.content?)
    }
}

impl<'a> RecordContent<'a> {
    pub(super) fn parse(raw: &'a RawValue) -> Option<Self> {
        match text(Some(raw)) {
            Some(text) => Some(Self::Text(text)),
            None => serde_json::from_str(raw.get()).ok().map(Self::Blocks),
        }
    }

    /// Its texts, one per line.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Blocks(blocks) => {
                let texts = blocks.iter().filter(|block| block.kind() == "text");
                let texts: Vec<_> = texts.map(ContentBlock::text).collect();
                Cow::Owned(texts.join("\n"))
            }
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

    pub(super) fn result_digest(&self) -> Option<Cow<'a, str>> {
        text(self.result_digest)
    }

    pub(super) fn is_error(&self) -> bool {
        is_true(self.is_error)
    }
}

pub(super) fn text(raw: RecordField<'_>) -> Option<Cow<'_, str>> {
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
