//! [`HookHandler`]: turns the bytes of one invocation into a [`DecodedHookCall`] and has it captured.

use std::cell::OnceCell;
use std::ffi::OsString;

use super::args::HookInvocation;
use super::capture::{self, HandledCall};
use super::environment::HookEnvironment;
use super::resources::{HookResources, ProcessLifetime};
use super::skip_reason::SkipReason;
use super::stdin::HookInput;
use crate::hook_database::HookDatabase;
use crate::ipc::worker_link::WorkerLink;
use crate::normalize::DecodedHookCall;
use crate::payload::PayloadHeader;
use crate::{agent_payload, hook_log, payload, sanitize};
use claude_mem_core::lone_surrogates;
use claude_mem_core::paths;
use claude_mem_core::paths::DataDir;

/// Handles the calls of one process.
pub(super) struct HookHandler<'a, E> {
    pub(super) environment: &'a HookEnvironment<E>,
    pub(super) dir: Option<&'a DataDir>,
    pub(super) lifetime: ProcessLifetime,
}

impl<E: Fn(&str) -> Option<OsString>> HookHandler<'_, E> {
    /// Returns the response, or a description of our own fault. Problems with the client's input are
    /// only logged.
    pub(super) fn handle(
        &self,
        invocation: &HookInvocation,
        input: &HookInput,
    ) -> Result<HandledCall, String> {
        let nothing = Ok(HandledCall::skipped(SkipReason::NothingToCapture));
        // Sessions that the compressor itself runs must not be captured.
        if self.environment.is_enabled("CLAUDE_MEM_COMPRESSOR") {
            return Ok(HandledCall::skipped(SkipReason::CompressorSession));
        }
        let Some(agent) = invocation.agent else {
            self.log("unknown or missing client name");
            return nothing;
        };
        let text = String::from_utf8_lossy(&input.bytes);
        let payload = lone_surrogates::replace_lone_surrogates(&text);
        let rewritten = if input.cut { None } else { agent_payload::rewrite_payload(agent, &payload) };
        let payload = rewritten.as_deref().unwrap_or(&payload);
        let decoded = if input.cut {
            self.log(&format!("{}: payload truncated", invocation.event));
            None
        } else {
            payload::decode_payload(payload)
                .inspect_err(|e| self.log(&format!("{}: {e}", invocation.event)))
                .ok()
        };
        let header = match &decoded {
            Some(wire) => PayloadHeader::from_payload(wire),
            None => PayloadHeader::scan(payload.as_bytes()),
        };
        // The payload's event name takes precedence over the command line's.
        let event = header.event.as_deref().unwrap_or(&invocation.event);
        let Some(kind) = agent.event_kind(event) else {
            return nothing;
        };
        let kind = agent_payload::resolve_outcome(agent, kind, decoded.as_ref(), &header);
        // A truncated payload may lack the session id; newer clients also set it in the environment.
        let in_env = || {
            let session = self.environment.text_var(agent.session_variable);
            session.map(sanitize::sanitize_session_id)
        };
        let Some(session) = header.session.clone().or_else(in_env) else {
            if decoded.is_some() {
                self.log(&format!("{event}: missing session id"));
            }
            return nothing;
        };
        let Some(dir) = self.dir else {
            return Err("neither HOME nor CLAUDE_MEM_DATA_DIR is set".to_owned());
        };
        // Never create a missing home directory, nor anything in it.
        if self.environment.is_home_missing(dir) {
            return nothing;
        }
        self.capture(
            dir,
            &DecodedHookCall {
                agent,
                kind,
                session: &session,
                header: &header,
                payload: decoded.as_ref(),
                at: self.environment.started,
                prompt: OnceCell::new(),
            },
        )
    }

    fn capture(&self, dir: &DataDir, call: &DecodedHookCall<'_>) -> Result<HandledCall, String> {
        let mut resources = HookResources {
            dir,
            started: self.environment.started,
            database: HookDatabase::new(dir),
            worker: WorkerLink::new(dir.worker_sock(&paths::runtime_dir(&self.environment.env))),
        };
        // Before anything is written: a directory that another program left open.
        if let Err(e) = dir.restrict() {
            resources.log(&format!("failed to restrict the data directory to its owner: {e}"));
        }
        let handled = capture::capture_call(call, self.environment, &mut resources);
        resources.close(self.lifetime);
        handled
    }

    fn log(&self, text: &str) {
        if let Some(dir) = self.dir {
            hook_log::log_warning(dir, self.environment.started, text);
        }
    }
}
