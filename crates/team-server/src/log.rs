//! Lines for the operator on stderr, where a service manager collects them. Never a token, a secret or a body.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use claude_mem_core::sync::lock;

/// While every request fails, one of them is logged in this time.
const FAILURE_SECONDS: u64 = 5;

/// Writes one line.
pub(crate) fn line(text: &str) {
    eprintln!("claude-mem team: {text}");
}

/// Writes a line about a failed request, unless there was one a moment ago.
pub(crate) fn failure(text: &str) {
    static LAST: Mutex<Option<Instant>> = Mutex::new(None);
    let now = Instant::now();
    let mut last = lock(&LAST);
    if last.is_none_or(|last| now.duration_since(last) >= Duration::from_secs(FAILURE_SECONDS)) {
        *last = Some(now);
        line(text);
    }
}
