//! The block as text: headings, one line per memory, grouped by day.

use std::fmt::Write;

use jiff::tz::TimeZone;

use super::item_selection::IndexItem;
use super::quote;
use claude_mem_core::clock::Millis;
use claude_mem_core::memory::{ObservationType, Origin};
use claude_mem_store::{RowId, RowKind};

/// A title in the index.
pub const TITLE_CHARS_MAX: usize = 110;
/// One field of the last session's account.
pub const FIELD_CHARS_MAX: usize = 420;

/// `2026-11-15`, in the person's own days.
pub fn day(at: Millis, zone: &TimeZone) -> String {
    zoned(at, zone).strftime("%Y-%m-%d").to_string()
}

/// `2026-11-15 14:30`.
pub fn day_and_time(at: Millis, zone: &TimeZone) -> String {
    zoned(at, zone).strftime("%Y-%m-%d %H:%M").to_string()
}

fn zoned(at: Millis, zone: &TimeZone) -> jiff::Zoned {
    // Times outside what a calendar can hold come from a broken clock; they show as its edge.
    jiff::Timestamp::from_millisecond(at.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH).to_zoned(zone.clone())
}

/// Lines under their days, in the order given; what is pinned stands under that.
pub fn index(items: &[IndexItem], zone: &TimeZone) -> String {
    let mut out = String::new();
    let mut shown = String::new();
    for item in items {
        let today = if item.row.pinned { "Pinned".to_owned() } else { day(item.row.created_at, zone) };
        if today != shown {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{today}");
            shown = today;
        }
        out.push_str(&line_of(item, zone));
        out.push('\n');
        if !item.detail.is_empty() {
            let _ = writeln!(out, "  {}", item.detail);
        }
    }
    out
}

/// One line of the index. What stands under its day need not say it.
pub fn line_of(item: &IndexItem, zone: &TimeZone) -> String {
    let row = &item.row;
    let when = if row.pinned { format!(" {}", day(row.created_at, zone)) } else { String::new() };
    format!(
        "- {}{when} {} {} (~{})",
        RowId::new(row.kind, row.row_id),
        mark(row.kind, &row.observation_type, row.origin),
        quote::clause(&row.title, TITLE_CHARS_MAX),
        row.read_tokens,
    )
}

/// The type in words: a mark that every model and every terminal can read. A type that is no
/// word, as only an older store can hold, is not repeated.
/// What was read rather than said carries its source: `discovery[web]`. A prompt of the agent is a plan
/// that the client handed over.
pub fn mark(kind: RowKind, observation_type: &str, origin: Origin) -> String {
    let mark = match kind {
        RowKind::Observation if ObservationType::is_name(observation_type) => observation_type,
        RowKind::Observation => "memory",
        RowKind::Summary => "session",
        RowKind::Account => "account",
        RowKind::Prompt if matches!(origin, Origin::Agent) => "plan",
        RowKind::Prompt => "prompt",
        RowKind::Message => "message",
    };
    format!("{mark}{}", source(origin))
}

/// Where a text was read, if neither of the two who work here said it.
pub const fn source(origin: Origin) -> &'static str {
    match origin {
        Origin::Tool => "[tool]",
        Origin::Web => "[web]",
        Origin::Import => "[import]",
        Origin::User | Origin::Agent | Origin::Manual => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompt_that_is_not_the_users_is_marked() {
        for (origin, want) in
            [(Origin::User, "prompt"), (Origin::Agent, "plan"), (Origin::Tool, "prompt[tool]")]
        {
            assert_eq!(mark(RowKind::Prompt, "", origin), want);
        }
    }
}
