//! Lines for the operator on stderr, where a service manager collects them. Never a token, a secret or a body.

/// Writes one line.
pub(crate) fn line(text: &str) {
    eprintln!("claude-mem team: {text}");
}
