//! Estimated tokens of reading a row in full.

use claude_mem_core::memory::{NewObservation, NewSummary, SessionAccount};
use claude_mem_core::tokens;

/// Estimated tokens of reading the whole observation.
pub fn observation_tokens(observation: &NewObservation) -> u32 {
    let lists = observation
        .facts
        .iter()
        .chain(&observation.concepts)
        .chain(&observation.files_read)
        .chain(&observation.files_modified);
    let texts = [&observation.title, &observation.subtitle, &observation.narrative];
    texts.into_iter().chain(lists).map(|text| line_tokens(text)).sum()
}

/// Estimated tokens of reading the whole summary.
pub fn summary_tokens(summary: &NewSummary) -> u32 {
    let texts = [
        &summary.request,
        &summary.investigated,
        &summary.learned,
        &summary.completed,
        &summary.next_steps,
        &summary.notes,
    ];
    let lists = summary.files_read.iter().chain(&summary.files_edited);
    texts.into_iter().chain(lists).map(|text| line_tokens(text)).sum()
}

/// Estimated tokens of reading the whole account.
pub(crate) fn account_tokens(account: &SessionAccount) -> u32 {
    let lists = [&account.done, &account.learned, &account.decided, &account.checked, &account.open];
    let lines = lists.into_iter().flatten().chain(&account.files_edited);
    std::iter::once(&account.purpose).chain(lines).map(|text| line_tokens(text)).sum()
}

/// Estimated tokens of a text on its own line.
fn line_tokens(text: &str) -> u32 {
    if text.is_empty() { 0 } else { tokens::estimate(text) + 1 }
}
