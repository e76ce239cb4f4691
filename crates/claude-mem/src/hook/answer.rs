//! What goes back to the client: one JSON object, written whole, or the neutral one.

use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::limits::{CONTEXT_CHARS_MAX, STDOUT_MS};

/// "Go on, and show nothing." What every hook says that has nothing to add.
pub const NEUTRAL: &str = r#"{"continue":true,"suppressOutput":true}"#;

/// What a hook has to say to the client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Answer {
    #[default]
    Neutral,
    /// Text for the agent. Clients discard an answer whose event is not the one they asked
    /// about, so it is named here, as the client names it.
    Context { event: &'static str, text: String },
    /// The same, and one line that the person sees.
    Message {
        event: &'static str,
        text: String,
        message: String,
    },
}

impl Answer {
    /// The bytes to write. Text beyond what clients take is cut here as the last resort;
    /// `context` keeps its own budget.
    pub fn to_json(&self) -> String {
        let (event, text, message) = match self {
            Self::Neutral => return NEUTRAL.to_owned(),
            Self::Context { event, text } => (event, text, ""),
            Self::Message {
                event,
                text,
                message,
            } => (event, text, message.as_str()),
        };
        if text.is_empty() && message.is_empty() {
            return NEUTRAL.to_owned();
        }
        let text = match text.char_indices().nth(CONTEXT_CHARS_MAX) {
            Some((end, _)) => &text[..end],
            None => text,
        };
        let mut answer = serde_json::json!({ "continue": true, "suppressOutput": true });
        if !text.is_empty() {
            answer["hookSpecificOutput"] =
                serde_json::json!({ "hookEventName": event, "additionalContext": text });
        }
        if !message.is_empty() {
            answer["systemMessage"] = message.into();
        }
        answer.to_string()
    }
}

/// Set by the first answer: a panic after it must not add a second.
static ANSWERED: AtomicBool = AtomicBool::new(false);

/// Writes the answer to stdout, once per process. A client that has gone is no concern of ours.
pub fn write(answer: &Answer) {
    if !ANSWERED.swap(true, Ordering::SeqCst) {
        // There is nobody left to tell.
        let _ = write_all(rustix::stdio::stdout(), answer.to_json().as_bytes());
    }
}

fn write_all(to: impl AsFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(&to, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait_for_room(&to)?,
            Err(e) => return Err(e.into()),
        }
    }
    Ok(())
}

/// Some clients hand us a pipe that does not block.
fn wait_for_room(to: &impl AsFd) -> io::Result<()> {
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
