//! The work that a compaction or `/clear` has just cut off, so that it can go on.

use std::fmt::Write;

use super::quote;
use claude_mem_core::ids::SessionId;
use claude_mem_core::source::TextSource;
use claude_mem_store::{PageRequest, RowFilter, StoreError, StoreReader};

/// The last things asked for.
const PROMPTS: u32 = 3;

/// What the person asked for last, oldest first; empty if nothing is known of it.
pub(super) fn asked(reads: &StoreReader<'_>, session: SessionId) -> Result<Vec<String>, StoreError> {
    let of_session = RowFilter { session: Some(session), ..RowFilter::default() };
    let prompts = reads.prompts(&of_session, PageRequest::first(PROMPTS))?.items;
    let said = prompts.into_iter().rev().filter(|prompt| !prompt.private);
    // A plan is the work under way, and not the person's words.
    Ok(said
        .map(|prompt| match TextSource::of_stored_prompt(prompt.origin) {
            TextSource::Prompt => prompt.text,
            source => format!("({}) {}", source.traits().name, prompt.text),
        })
        .collect())
}

/// As lines of at most so many characters; none at all where there is no room for any.
pub(super) fn render(asked: &[String], chars_max: usize) -> String {
    let mut out = String::new();
    let asked = asked.iter().filter(|_| chars_max > 0);
    for text in asked {
        let text = quote::line(text, chars_max);
        if !text.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "- {text}");
        }
    }
    if out.is_empty() {
        return out;
    }
    format!("\n## The work under way: what was asked for last\n{out}")
}
