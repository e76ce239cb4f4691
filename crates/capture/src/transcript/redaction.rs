//! Redacts and bounds the texts of a transcript.

use claude_mem_core::limits::MESSAGE_BYTES_MAX;
use claude_mem_redact::HeadTailLimit;

/// Maximum bytes kept of one text of a turn that is neither its prompt nor its final message.
pub(super) const TEXT_BYTES_MAX: usize = 32 << 10;

const _: () = assert!(TEXT_BYTES_MAX < MESSAGE_BYTES_MAX);

/// Redacts and bounds a prompt or a final message.
pub(super) fn redact_message(text: &str) -> String {
    claude_mem_redact::text(text, HeadTailLimit::from_total(MESSAGE_BYTES_MAX)).text.into_owned()
}

/// Redacts and bounds another text of a turn.
pub(super) fn redact_text(text: &str) -> String {
    claude_mem_redact::text(text, HeadTailLimit::from_total(TEXT_BYTES_MAX)).text.into_owned()
}
