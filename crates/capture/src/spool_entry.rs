//! [`SpoolEntry`]: the content of one spool file, and its JSON form.

use std::borrow::Cow;
use std::io;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use claude_mem_core::clock::Micros;
use claude_mem_core::event::{Event, EventBody, EventKey};
use claude_mem_core::event_key;
use claude_mem_core::ids::ClientSessionId;

/// The content of one spool file.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "one at a time, and nearly always the large one")]
pub enum SpoolEntry<'a> {
    /// An event with its key. The key is stored because a later version may compute another one.
    Event(EventKey, Cow<'a, Event>),
    /// A session to ignore: client and session id.
    Ignore(String, ClientSessionId),
}

/// The JSON form of a [`SpoolEntry`]. Later versions read it: fields are only ever added.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "as above")]
enum SpoolEntryJson<'a> {
    Event { key: String, event: Cow<'a, Event> },
    Ignore { client: String, session: ClientSessionId },
}

impl SpoolEntry<'_> {
    /// A copy whose tool input and output are removed.
    pub(crate) fn without_contents(&self) -> SpoolEntry<'static> {
        match self {
            Self::Ignore(client, session) => SpoolEntry::Ignore(client.clone(), session.clone()),
            Self::Event(key, event) => {
                let mut event = event.as_ref().clone();
                if let EventBody::ToolUse { input, output, .. } = &mut event.body {
                    (*input, *output) = (Value::Null, Value::Null);
                    event.cut = true;
                }
                SpoolEntry::Event(*key, Cow::Owned(event))
            }
        }
    }

    /// The file name. Names sort by time, and the same event written twice is one file.
    pub(crate) fn file_name(&self, at: Micros) -> String {
        let name = match self {
            Self::Event(key, _) => key.0,
            Self::Ignore(client, session) => event_key::session_key(client, &session.0),
        };
        format!("{:020}-{}.json", at.0.max(0), event_key::hex(&name))
    }

    pub(crate) fn to_json(&self) -> io::Result<Vec<u8>> {
        let written = match self {
            Self::Event(key, event) => {
                SpoolEntryJson::Event { key: event_key::hex(&key.0), event: Cow::Borrowed(event.as_ref()) }
            }
            Self::Ignore(client, session) => {
                SpoolEntryJson::Ignore { client: client.clone(), session: session.clone() }
            }
        };
        Ok(serde_json::to_vec(&written)?)
    }
}

impl SpoolEntry<'static> {
    pub(crate) fn from_json(bytes: &[u8]) -> io::Result<Self> {
        let read = serde_json::from_slice(bytes);
        match read.map_err(|e| io::Error::other(describe_json_error(&e)))? {
            SpoolEntryJson::Event { key, event } => {
                let key = event_key::from_hex(&key).ok_or(io::ErrorKind::InvalidData)?;
                Ok(Self::Event(EventKey(key), Cow::Owned(event.into_owned())))
            }
            SpoolEntryJson::Ignore { client, session } => Ok(Self::Ignore(client, session)),
        }
    }
}

/// Describes the position of a JSON error without quoting the contents.
pub(crate) fn describe_json_error(error: &serde_json::Error) -> String {
    let (kind, line, column) = (error.classify(), error.line(), error.column());
    format!("invalid JSON ({kind:?} at {line}:{column})")
}
