//! Capture over HTTP, for clients that cannot run our hooks.
//!
//! A payload takes the same path as in a hook: the same decoding, redaction and spool.

use std::ffi::OsString;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::api::ApiState;
use super::handler_request::PathParams;
use super::problem::Problem;
use claude_mem_capture::hook::{self, HookEnvironment, HookResponse, SkipReason};
use claude_mem_capture::payload;
use claude_mem_capture::payload::PayloadHeader;
use claude_mem_core::agents;
use claude_mem_core::agents::{CodingAgent, HookEventKind};
use claude_mem_core::clock;

/// The unparsed JSON of a hook, bare or in an envelope that names the client.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct HookPayload(Box<RawValue>);

impl JsonSchema for HookPayload {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "HookPayload".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "A hook's payload, bare or wrapped as {client, payload}",
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

/// A payload with the name of its client.
#[derive(Deserialize)]
struct HookEnvelope<'a> {
    client: Option<String>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

/// The outcome of capturing one payload.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Taken")]
pub(super) struct CaptureResponse {
    /// Whether an event was captured.
    accepted: bool,
    /// Why nothing was captured.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// Context for the agent, if there is any.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
    /// One line for the user, if there is any.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// Handles `POST /api/sessions/init`.
pub(super) fn init(api: &ApiState, _: &PathParams, payload: HookPayload) -> Result<CaptureResponse, Problem> {
    capture_event(api, &payload, &[HookEventKind::Prompt, HookEventKind::SessionStart])
}

/// Handles `POST /api/sessions/observations`.
pub(super) fn observation(
    api: &ApiState,
    _: &PathParams,
    payload: HookPayload,
) -> Result<CaptureResponse, Problem> {
    capture_event(api, &payload, &[HookEventKind::ToolUse, HookEventKind::ToolFailure])
}

/// Handles `POST /api/sessions/summarize`.
pub(super) fn summarize(
    api: &ApiState,
    _: &PathParams,
    payload: HookPayload,
) -> Result<CaptureResponse, Problem> {
    let ends = [
        HookEventKind::Stop,
        HookEventKind::SubagentStop,
        HookEventKind::PreCompact,
        HookEventKind::PostCompact,
    ];
    capture_event(api, &payload, &ends)
}

/// Handles `POST /api/sessions/complete`.
pub(super) fn complete(
    api: &ApiState,
    _: &PathParams,
    payload: HookPayload,
) -> Result<CaptureResponse, Problem> {
    capture_event(api, &payload, &[HookEventKind::SessionEnd])
}

/// Captures a payload. `kinds` are the accepted events; the first is assumed if none is named.
fn capture_event(
    api: &ApiState,
    sent: &HookPayload,
    kinds: &[HookEventKind],
) -> Result<CaptureResponse, Problem> {
    let hint = "Send the JSON that the client's hook gets on stdin, bare or as {client, payload}.";
    let unfit = |what: &str| Problem::unprocessable(what, hint);
    let envelope: HookEnvelope<'_> =
        serde_json::from_str(sent.0.get()).map_err(|_| unfit("not a hook payload"))?;
    let agent = match &envelope.client {
        None => &agents::CLAUDE_CODE,
        Some(name) => CodingAgent::by_name(name).ok_or_else(|| unfit("unknown client"))?,
    };
    let payload = envelope.payload.map_or(sent.0.get(), RawValue::get);
    let wire = payload::decode_payload(payload).map_err(|_| unfit("not a hook payload"))?;
    let head = PayloadHeader::from_payload(&wire);
    if head.session.is_none() {
        return Err(unfit("the payload has no session_id"));
    }
    let kind = match &head.event {
        Some(event) => agent.event_kind(event).ok_or_else(|| unfit("unknown hook event"))?,
        // Without a prompt, the session is only starting.
        None if kinds[0] == HookEventKind::Prompt && wire.prompt.is_none() => HookEventKind::SessionStart,
        None => kinds[0],
    };
    if !kinds.contains(&kind) {
        return Err(unfit("this route does not accept this event"));
    }
    let event = head.event.as_deref().unwrap_or(agent.event_name(kind));
    let around = HookEnvironment {
        started: clock::now(),
        env: |name: &str| owner_env(api.env, name),
        notices: claude_mem_setup::notices::session_start_notices,
    };
    let taken = hook::ingest_payload(agent, event, payload.as_bytes(), api.dir(), &around)
        .map_err(Problem::internal)?;
    api.worker.scheduler.notify();
    api.notify_change();
    let (context, message) = match taken.response {
        HookResponse::Context { text, .. } => (text, String::new()),
        HookResponse::Message { text, message, .. } => (text, message),
        HookResponse::Neutral => Default::default(),
    };
    let said = |text: String| Some(text).filter(|text| !text.is_empty());
    Ok(CaptureResponse {
        accepted: taken.skip_reason.is_none(),
        reason: taken.skip_reason.map(SkipReason::text),
        context: said(context),
        message: said(message),
    })
}

/// The worker's environment without the variables of one session: a hook may have started the
/// worker, and that session's variables do not apply to others.
fn owner_env(env: fn(&str) -> Option<String>, name: &str) -> Option<OsString> {
    let is_of_one_session = name.starts_with("CLAUDE_")
        && (!name.starts_with("CLAUDE_MEM_")
            || matches!(name, "CLAUDE_MEM_DISABLED" | "CLAUDE_MEM_COMPRESSOR"));
    if is_of_one_session {
        return None;
    }
    env(name).map(OsString::from)
}
