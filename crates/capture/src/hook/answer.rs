//! The response to the client: one complete JSON object on stdout.
//!
//! Invariant: a process writes at most one [`HookResponse`], also when it panics.

use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use claude_mem_core::agents::ResponseFields;
use claude_mem_core::limits::CONTEXT_CHARS_MAX;

/// Milliseconds that a hook waits for room in its stdout pipe when the client does not read the
/// answer.
const STDOUT_MS: u64 = 1_000;

/// The response of a hook to the client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum HookResponse {
    #[default]
    Neutral,
    /// Text for the agent. Clients discard a response that names another event, so `event` is the
    /// client's own name for the current one.
    Context { event: &'static str, text: String },
    /// Text for the agent and one line for the user.
    Message { event: &'static str, text: String, message: String },
}

impl HookResponse {
    /// Serialises the response. Text that exceeds the clients' limit is truncated here as a last
    /// resort; `context` keeps its own budget.
    pub fn to_json(&self, fields: ResponseFields) -> String {
        let (event, text, message) = match self {
            Self::Neutral => return fields.neutral().to_owned(),
            Self::Context { event, text } => (event, text, ""),
            Self::Message { event, text, message } => (event, text, message.as_str()),
        };
        if text.is_empty() && message.is_empty() {
            return fields.neutral().to_owned();
        }
        let text = match text.char_indices().nth(CONTEXT_CHARS_MAX) {
            Some((end, _)) => &text[..end],
            None => text,
        };
        let mut answer = match fields {
            ResponseFields::WithFlow => serde_json::json!({ "continue": true, "suppressOutput": true }),
            ResponseFields::ContextOnly | ResponseFields::PlainContext => serde_json::json!({}),
        };
        if !text.is_empty() && fields == ResponseFields::PlainContext {
            answer["additionalContext"] = text.into();
        } else if !text.is_empty() {
            answer["hookSpecificOutput"] =
                serde_json::json!({ "hookEventName": event, "additionalContext": text });
        }
        if !message.is_empty() {
            answer["systemMessage"] = message.into();
        }
        answer.to_string()
    }
}

/// Set by the first response: a panic after it must not write a second one.
static ANSWERED: AtomicBool = AtomicBool::new(false);

/// The fields of the answers of this process, as an index of [`ALL_FIELDS`].
static FIELDS: AtomicU8 = AtomicU8::new(0);

const ALL_FIELDS: [ResponseFields; 3] =
    [ResponseFields::WithFlow, ResponseFields::ContextOnly, ResponseFields::PlainContext];

/// Sets the fields of every answer of this process, also of one that a signal or a panic writes.
pub(super) fn set_fields(fields: ResponseFields) {
    let at = (0_u8..).zip(ALL_FIELDS).find(|(_, known)| *known == fields);
    FIELDS.store(at.map_or(0, |(at, _)| at), Ordering::SeqCst);
}

fn fields() -> ResponseFields {
    ALL_FIELDS[usize::from(FIELDS.load(Ordering::SeqCst)) % ALL_FIELDS.len()]
}

/// Writes the response to stdout, once per process. Write errors are ignored: the client is gone.
pub(super) fn write_response(answer: &HookResponse) {
    if !ANSWERED.swap(true, Ordering::SeqCst) {
        let _ = write_all(rustix::stdio::stdout(), answer.to_json(fields()).as_bytes());
    }
}

/// Writes the neutral response unless a response has begun or stdout has no room. Async-signal-safe:
/// only atomics and system calls.
pub(super) fn write_neutral_without_waiting() {
    if ANSWERED.swap(true, Ordering::SeqCst) {
        return;
    }
    let out = rustix::stdio::stdout();
    let mut fds = [PollFd::new(&out, PollFlags::OUT)];
    // A pipe that is ready has room for more than this, so the write neither waits nor is partial.
    if matches!(poll(&mut fds, Some(&Timespec::default())), Ok(1..)) {
        let _ = rustix::io::write(out, fields().neutral().as_bytes());
    }
}

fn write_all(to: impl AsFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(&to, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait_until_writable(&to)?,
            Err(e) => return Err(e.into()),
        }
    }
    Ok(())
}

/// Waits until a non-blocking pipe accepts more bytes; some clients pass us one.
fn wait_until_writable(to: &impl AsFd) -> io::Result<()> {
    let mut fds = [PollFd::new(to, PollFlags::OUT)];
    let wait = Timespec::try_from(Duration::from_millis(STDOUT_MS)).map_err(io::Error::other)?;
    match poll(&mut fds, Some(&wait))? {
        0 => Err(io::ErrorKind::TimedOut.into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
