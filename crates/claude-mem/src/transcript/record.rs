//! One line of a transcript, as far as it is of use.
//!
//! Most bytes of a transcript are lines of kinds that tell nothing of what was said or done; they
//! are passed over by their first bytes. Of the others only the few fields are read that matter,
//! and their contents stay unread JSON. A field of an unexpected type is a missing one.

use std::borrow::Cow;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::lines::{Line, Lines};
use crate::clock::Millis;
use crate::hook::wire;
use crate::limits::TRANSCRIPT_HEAD_LINES_MAX;
use crate::surrogates;

pub(super) type Raw<'a> = Option<&'a RawValue>;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Record<'a> {
    #[serde(borrow, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow)]
    uuid: Raw<'a>,
    #[serde(borrow)]
    timestamp: Raw<'a>,
    #[serde(borrow)]
    prompt_id: Raw<'a>,
    #[serde(borrow)]
    session_id: Raw<'a>,
    #[serde(borrow)]
    agent_id: Raw<'a>,
    #[serde(borrow)]
    cwd: Raw<'a>,
    #[serde(borrow)]
    version: Raw<'a>,
    #[serde(borrow)]
    git_branch: Raw<'a>,
    #[serde(borrow)]
    origin: Raw<'a>,
    #[serde(borrow)]
    permission_decision: Raw<'a>,
    #[serde(borrow)]
    is_sidechain: Raw<'a>,
    #[serde(borrow)]
    is_meta: Raw<'a>,
    #[serde(borrow)]
    is_compact_summary: Raw<'a>,
    #[serde(borrow)]
    is_visible_in_transcript_only: Raw<'a>,
    #[serde(borrow)]
    is_api_error_message: Raw<'a>,
    #[serde(borrow)]
    message: Raw<'a>,
    #[serde(borrow)]
    pub tool_use_result: Raw<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    id: Raw<'a>,
    #[serde(borrow)]
    model: Raw<'a>,
    #[serde(borrow)]
    stop_reason: Raw<'a>,
    #[serde(borrow)]
    content: Raw<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow)]
    text: Raw<'a>,
    #[serde(borrow)]
    id: Raw<'a>,
    #[serde(borrow)]
    name: Raw<'a>,
    #[serde(borrow)]
    pub input: Raw<'a>,
    #[serde(borrow)]
    tool_use_id: Raw<'a>,
    #[serde(borrow)]
    pub content: Raw<'a>,
    #[serde(borrow)]
    is_error: Raw<'a>,
}

/// What stands in a message: one text, or several blocks.
#[derive(Debug)]
pub(super) enum Content<'a> {
    Text(Cow<'a, str>),
    Blocks(Vec<Block<'a>>),
}

/// True for lines that cannot be of use, told by their first bytes.
pub(super) fn is_idle(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"{\"type\":") else {
        return line.first() != Some(&b'{');
    };
    let kind = rest.trim_ascii_start();
    ![&b"\"user\""[..], b"\"assistant\""]
        .iter()
        .any(|known| kind.starts_with(known))
}

/// A line as text; one that is not UTF-8 is none of the client's.
pub(super) fn sound(line: &[u8]) -> Option<Cow<'_, str>> {
    std::str::from_utf8(line).ok().map(surrogates::paired)
}

impl<'a> Record<'a> {
    pub(super) fn read(line: &'a str) -> Option<Self> {
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

    /// Clients before 2.0 do not tell their hooks which call a result belongs to.
    pub(super) fn is_of_client_1(&self) -> bool {
        text(self.version).is_some_and(|version| version.starts_with("1."))
    }

    pub(super) fn is_sidechain(&self) -> bool {
        is_true(self.is_sidechain)
    }

    pub(super) fn is_compact_summary(&self) -> bool {
        is_true(self.is_compact_summary)
    }

    /// Not said by a person: told by the client to its model.
    pub(super) fn is_of_the_client(&self) -> bool {
        is_true(self.is_meta)
            || is_true(self.is_visible_in_transcript_only)
            || kind_of(self.origin).is_some_and(|kind| kind != "human")
    }

    /// An error of the client's API in the place of an answer.
    pub(super) fn is_error(&self, message: &Message<'_>) -> bool {
        is_true(self.is_api_error_message)
            || text(message.model).is_some_and(|model| model == "<synthetic>")
    }

    /// The person did not let the call happen.
    pub(super) fn was_denied(&self) -> bool {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Decision<'a> {
            #[serde(borrow)]
            decision: Raw<'a>,
        }
        let decision = self
            .permission_decision
            .and_then(|raw| serde_json::from_str::<Decision<'_>>(raw.get()).ok());
        decision
            .and_then(|decision| text(decision.decision))
            .is_some_and(|decision| decision != "accept" && decision != "allow")
    }

    pub(super) fn message(&self) -> Option<Message<'a>> {
        serde_json::from_str(self.message?.get()).ok()
    }
}

impl<'a> Message<'a> {
    pub(super) fn id(&self) -> Option<Cow<'a, str>> {
        text(self.id)
    }

    /// Whether the model had nothing more to say. `None`: it is not known yet.
    pub(super) fn is_last(&self) -> Option<bool> {
        text(self.stop_reason).map(|reason| reason != "tool_use" && reason != "pause_turn")
    }

    pub(super) fn content(&self) -> Option<Content<'a>> {
        let raw = self.content?;
        match text(Some(raw)) {
            Some(text) => Some(Content::Text(text)),
            None => serde_json::from_str(raw.get()).ok().map(Content::Blocks),
        }
    }
}

impl<'a> Block<'a> {
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

fn text(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    raw.and_then(wire::text).filter(|text| !text.is_empty())
}

fn is_true(raw: Raw<'_>) -> bool {
    raw.is_some_and(|raw| raw.get() == "true")
}

fn kind_of<'a>(raw: Raw<'a>) -> Option<Cow<'a, str>> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Kinded<'a> {
        #[serde(borrow)]
        kind: Raw<'a>,
    }
    let kinded: Kinded<'a> = serde_json::from_str(raw?.get()).ok()?;
    text(kinded.kind)
}

/// What the first lines of a transcript tell of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    pub session: Option<String>,
    /// Where the session began.
    pub cwd: Option<String>,
    pub branch: Option<String>,
    pub version: Option<String>,
    pub at: Option<Millis>,
    /// How the first thing that was said begins, as it stands there.
    pub message: Option<String>,
    /// Of a subagent's transcript.
    pub agent: Option<String>,
}

/// Looks at the beginning of a transcript. `Ok(None)`: it is none.
pub fn head(path: &Path) -> std::io::Result<Option<Head>> {
    let mut lines = Lines::open(path, 0)?;
    for _ in 0..TRANSCRIPT_HEAD_LINES_MAX {
        let Some(line) = lines.next()? else {
            break;
        };
        let Line::Whole(line) = line else {
            continue;
        };
        let Some(line) = (!is_idle(line)).then(|| sound(line)).flatten() else {
            continue;
        };
        let Some(record) = Record::read(&line) else {
            continue;
        };
        let owned = |raw| text(raw).map(Cow::into_owned);
        if let Some(session) = owned(record.session_id) {
            return Ok(Some(Head {
                session: Some(session),
                cwd: owned(record.cwd),
                branch: owned(record.git_branch),
                version: owned(record.version),
                at: record.at(),
                message: record
                    .message
                    .map(|raw| raw.get().chars().take(200).collect()),
                agent: owned(record.agent_id),
            }));
        }
    }
    Ok(None)
}
