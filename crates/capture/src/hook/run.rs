//! Runs one hook invocation: reads the payload, handles it, writes the response.

use std::ffi::OsString;

use super::answer::{self, HookResponse};
use super::args::HookInvocation;
use super::capture::HandledCall;
use super::deadline;
use super::environment::HookEnvironment;
use super::guard;
use super::handler::HookHandler;
use super::resources::ProcessLifetime;
use super::stdin;
use claude_mem_core::agents::CodingAgent;
use claude_mem_core::paths::DataDir;

/// Pseudo-event that makes the hook panic, to test the panic hook.
const PANIC_EVENT: &str = "SelfTestPanic";

/// Some editors and shells prepend a UTF-8 byte order mark.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Result of one hook invocation.
#[derive(Debug)]
pub enum HookOutcome {
    /// A response was written.
    Answered,
    /// The neutral response was written because of a fault of ours or of this machine.
    Fault(String),
    /// Not a hook invocation: the user typed the command of the same name.
    NotAHook,
}

/// Handles one hook invocation: reads stdin, captures the event, writes the response.
pub fn run<E>(invocation: &HookInvocation, environment: &HookEnvironment<E>) -> HookOutcome
where
    E: Fn(&str) -> Option<OsString>,
{
    if let Some(agent) = invocation.agent {
        answer::set_fields(agent.response);
    }
    deadline::arm(environment.is_strict());
    let outcome = run_within_deadline(invocation, environment);
    if matches!(outcome, HookOutcome::NotAHook) {
        deadline::disarm();
    }
    outcome
}

fn run_within_deadline<E>(invocation: &HookInvocation, environment: &HookEnvironment<E>) -> HookOutcome
where
    E: Fn(&str) -> Option<OsString>,
{
    let nothing_comes = invocation.is_short_form && !stdin_may_carry_payload();
    if invocation.requires_payload && nothing_comes {
        return HookOutcome::NotAHook;
    }
    let dir = invocation.resolve_data_dir(&environment.env);
    if !invocation.requires_payload {
        guard::install_panic_hook(dir.clone(), environment.started, environment.is_strict());
    }
    assert_ne!(invocation.event, PANIC_EVENT, "panic requested by self-test");
    let input = if nothing_comes {
        stdin::HookInput::default()
    } else {
        stdin::read_stdin(rustix::stdio::stdin(), invocation.stdin_timeouts())
    };
    if invocation.requires_payload {
        let text = input.bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&input.bytes);
        if text.trim_ascii_start().first() != Some(&b'{') {
            return HookOutcome::NotAHook;
        }
        guard::install_panic_hook(dir.clone(), environment.started, environment.is_strict());
    }
    let handler = HookHandler { environment, dir: dir.as_ref(), lifetime: ProcessLifetime::EndsWithCall };
    match handler.handle(invocation, &input) {
        Ok(handled) => {
            answer::write_response(&handled.response);
            HookOutcome::Answered
        }
        Err(fault) => {
            answer::write_response(&HookResponse::Neutral);
            HookOutcome::Fault(fault)
        }
    }
}

/// Handles a payload that did not arrive on a hook's stdin, with the same redaction, capture and
/// response. `event` is the event name to use if the payload does not name one.
pub fn ingest_payload<E>(
    agent: &'static CodingAgent,
    event: &str,
    payload: &[u8],
    dir: &DataDir,
    environment: &HookEnvironment<E>,
) -> Result<HandledCall, String>
where
    E: Fn(&str) -> Option<OsString>,
{
    let invocation = HookInvocation {
        agent: Some(agent),
        event: event.to_owned(),
        is_short_form: false,
        requires_payload: false,
        data_dir: None,
    };
    let input = stdin::HookInput { bytes: payload.to_vec(), cut: false };
    let handler = HookHandler { environment, dir: Some(dir), lifetime: ProcessLifetime::Continues };
    handler.handle(&invocation, &input)
}

/// False for a terminal or `/dev/null`: neither carries a payload, and a hook must not wait for a
/// terminal.
fn stdin_may_carry_payload() -> bool {
    use rustix::fs::FileType;
    let stat = rustix::fs::fstat(rustix::stdio::stdin());
    matches!(
        stat.map(|stat| FileType::from_raw_mode(stat.st_mode)),
        Ok(FileType::Fifo | FileType::Socket | FileType::RegularFile)
    )
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
