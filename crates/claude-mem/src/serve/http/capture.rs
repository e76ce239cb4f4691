//! What hooks send, for clients without our hooks: the same way, from the same decoding through
//! the same redaction into the same spool.

use std::ffi::OsString;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::api::Api;
use super::call::Params;
use super::problem::Problem;
use crate::clock;
use crate::hook::agents::{self, Agent, Kind};
use crate::hook::answer::Answer;
use crate::hook::wire::{self, Head};
use crate::hook::{self, Surroundings};

/// A hook's JSON, unread, alone or in an envelope that names the client.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct Payload(Box<RawValue>);

impl JsonSchema for Payload {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "HookPayload".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "What a hook sends, or {client, payload} around it",
            "properties": {
                "client": { "type": "string" },
                "payload": { "type": "object" },
                "session_id": { "type": "string" },
                "hook_event_name": { "type": "string" },
                "cwd": { "type": "string" },
                "prompt": { "type": "string" },
                "source": { "type": "string" },
                "reason": { "type": "string" },
                "trigger": { "type": "string" },
                "transcript_path": { "type": "string" },
                "tool_name": { "type": "string" },
                "tool_use_id": { "type": "string" },
                "tool_input": {},
                "tool_response": {},
                "last_assistant_message": { "type": "string" },
            },
        })
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    client: Option<String>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Taken {
    /// Whether something of it is kept.
    accepted: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// What the agent is to be told, where there is something.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
    /// One line for the person, where there is something.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

pub(super) fn init(api: &Api, _: &Params, payload: Payload) -> Result<Taken, Problem> {
    take(api, &payload, &[Kind::Prompt, Kind::SessionStart])
}

pub(super) fn observation(api: &Api, _: &Params, payload: Payload) -> Result<Taken, Problem> {
    take(api, &payload, &[Kind::ToolUse, Kind::ToolFailure])
}

pub(super) fn summarize(api: &Api, _: &Params, payload: Payload) -> Result<Taken, Problem> {
    let ends = [
        Kind::Stop,
        Kind::SubagentStop,
        Kind::PreCompact,
        Kind::PostCompact,
    ];
    take(api, &payload, &ends)
}

pub(super) fn complete(api: &Api, _: &Params, payload: Payload) -> Result<Taken, Problem> {
    take(api, &payload, &[Kind::SessionEnd])
}

/// `kinds`: what may be sent here; the first is what a payload means that does not say.
fn take(api: &Api, sent: &Payload, kinds: &[Kind]) -> Result<Taken, Problem> {
    let hint = "Send what the client's hook gets on stdin, or {client, payload} around it.";
    let unfit = |what: &str| Problem::unfit(what, hint);
    let envelope: Envelope<'_> =
        serde_json::from_str(sent.0.get()).map_err(|_| unfit("this is no payload of a hook"))?;
    let agent = match &envelope.client {
        None => &agents::CLAUDE_CODE,
        Some(name) => Agent::named(name).ok_or_else(|| unfit("this client is not known"))?,
    };
    let payload = envelope.payload.map_or(sent.0.get(), RawValue::get);
    let wire = wire::decode(payload).map_err(|_| unfit("this is no payload of a hook"))?;
    let head = Head::of(&wire);
    if head.session.is_none() {
        return Err(unfit("the payload names no session_id"));
    }
    let kind = match &head.event {
        Some(event) => agent
            .kind_of(event)
            .ok_or_else(|| unfit("this event is not known"))?,
        // A session without a prompt is only beginning.
        None if kinds[0] == Kind::Prompt && wire.prompt.is_none() => Kind::SessionStart,
        None => kinds[0],
    };
    if !kinds.contains(&kind) {
        return Err(unfit("this event is not taken here"));
    }
    let event = head.event.as_deref().unwrap_or(agent.event_name(kind));
    let around = Surroundings {
        started: clock::now(),
        env: |name: &str| of_the_owner(api.env, name),
    };
    let taken = hook::take_in(agent, event, payload.as_bytes(), api.dir(), &around);
    let taken = taken.map_err(Problem::ours)?;
    api.worker.drain.ring();
    api.stir();
    let (context, message) = match taken.answer {
        Answer::Context { text, .. } => (text, String::new()),
        Answer::Message { text, message, .. } => (text, message),
        Answer::Neutral => Default::default(),
    };
    let said = |text: String| Some(text).filter(|text| !text.is_empty());
    Ok(Taken {
        accepted: taken.left_out.is_none(),
        reason: taken.left_out,
        context: said(context),
        message: said(message),
    })
}

/// The worker may have been started by a hook of some session: what that session's environment
/// says of itself does not hold for others.
fn of_the_owner(env: fn(&str) -> Option<String>, name: &str) -> Option<OsString> {
    let is_of_one_session = name.starts_with("CLAUDE_")
        && (!name.starts_with("CLAUDE_MEM_")
            || matches!(name, "CLAUDE_MEM_DISABLED" | "CLAUDE_MEM_COMPRESSOR"));
    if is_of_one_session {
        return None;
    }
    env(name).map(OsString::from)
}
