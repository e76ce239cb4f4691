//! The work that a compaction or `/clear` has just cut off, so that it can go on.

use std::fmt::Write;

use super::quote;
use crate::ids::SessionId;
use crate::store::{Filter, Page, Reads, StoreError};

/// The last things asked for, oldest first.
const PROMPTS: u32 = 3;
const PROMPT_CHARS_MAX: usize = 240;

/// What the person asked for last; empty if nothing is known of it.
pub(super) fn asked(reads: &Reads<'_>, session: SessionId) -> Result<String, StoreError> {
    let of_session = Filter {
        session: Some(session),
        ..Filter::default()
    };
    let prompts = reads.prompts(&of_session, Page::first(PROMPTS))?.items;
    let mut out = String::new();
    for prompt in prompts.iter().rev().filter(|prompt| !prompt.private) {
        let text = quote::line(&prompt.text, PROMPT_CHARS_MAX);
        if !text.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "- {text}");
        }
    }
    if out.is_empty() {
        return Ok(out);
    }
    Ok(format!(
        "\n## The work under way: what was asked for last\n{out}"
    ))
}
