//! Closing and reopening open items by hand. The CLI, MCP and HTTP all call these functions, so that the
//! reason is redacted and cut the same way for each of them.

use crate::quote;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::OpenItemId;
use claude_mem_core::limits::{MESSAGE_BYTES_MAX, TITLE_CHARS_MAX};
use claude_mem_redact::HeadTailLimit;
use claude_mem_store::{Store, StoreError};

/// Closes an item. False if it was closed already.
pub fn close(store: &mut Store, id: OpenItemId, reason: &str, now: Millis) -> Result<bool, StoreError> {
    let kept = claude_mem_redact::text(reason, HeadTailLimit::from_total(MESSAGE_BYTES_MAX));
    let reason = if kept.fully_private { String::new() } else { quote::line(&kept.text, TITLE_CHARS_MAX) };
    store.write(|tx| tx.close_item(id, &reason, now))
}

/// Reopens an item. False if it was open already.
pub fn reopen(store: &mut Store, id: OpenItemId) -> Result<bool, StoreError> {
    store.write(|tx| tx.reopen_item(id))
}
