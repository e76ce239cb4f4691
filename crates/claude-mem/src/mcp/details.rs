//! A memory in full, as text for a model.

use jiff::tz::TimeZone;

use crate::context::quote;
use crate::context::render::day;
use crate::ids::{FinalMessageId, ObservationId, PromptId, SummaryId};
use crate::search::Handle;
use crate::store::{Observation, Reads, RowKind, StoreError, Summary};

/// What is shown of one text.
const TEXT_CHARS_MAX: usize = 4_000;

/// One row with everything worth reading. `None`: there is no such row.
pub fn details(
    reads: &Reads<'_>,
    kind: RowKind,
    row_id: i64,
    zone: &TimeZone,
) -> Result<Option<String>, StoreError> {
    let found = match kind {
        RowKind::Observation => reads
            .observation(ObservationId(row_id))
            .map(|row| observation(&row, zone)),
        RowKind::Summary => reads
            .summary(SummaryId(row_id))
            .map(|row| summary(&row, zone)),
        RowKind::Prompt => reads.prompt(PromptId(row_id)).map(|row| {
            let text = quote::line(&row.text, TEXT_CHARS_MAX);
            format!(
                "{} {} prompt\nThe user said: {text}\n",
                Handle::from((kind, row_id)),
                day(row.created_at, zone)
            )
        }),
        RowKind::Message => reads.final_message(FinalMessageId(row_id)).map(|row| {
            let text = quote::line(&row.text, TEXT_CHARS_MAX);
            format!(
                "{} {} message\nThe agent said: {text}\n",
                Handle::from((kind, row_id)),
                day(row.created_at, zone)
            )
        }),
    };
    match found {
        Err(StoreError::NoSuchRow { .. }) => Ok(None),
        found => found.map(Some),
    }
}

fn observation(row: &Observation, zone: &TimeZone) -> String {
    let mut out = format!(
        "{} {} {} {}\n",
        Handle::from((RowKind::Observation, row.id.0)),
        day(row.created_at, zone),
        row.kind,
        quote::line(&row.title, TEXT_CHARS_MAX)
    );
    let mut field = |name: &str, text: &str| {
        let text = quote::line(text, TEXT_CHARS_MAX);
        if !text.is_empty() {
            out.push_str(&format!("{name}{text}\n"));
        }
    };
    field("", &row.subtitle);
    field("", &row.narrative);
    for fact in &row.facts {
        field("- ", fact);
    }
    field("Concepts: ", &row.concepts.join(", "));
    field("Files read: ", &row.files_read.join(", "));
    field("Files modified: ", &row.files_modified.join(", "));
    field("Branch: ", row.branch.as_deref().unwrap_or_default());
    field("Said by: ", row.origin.as_str());
    if row.wrong {
        field("", "Marked as wrong.");
    }
    if let Some(newer) = row.replaced_by {
        field(
            "Replaced by ",
            &Handle::from((RowKind::Observation, newer.0)).to_string(),
        );
    }
    out
}

fn summary(row: &Summary, zone: &TimeZone) -> String {
    let mut out = format!(
        "{} {} session\n",
        Handle::from((RowKind::Summary, row.id.0)),
        day(row.created_at, zone)
    );
    let (read, edited) = (row.files_read.join(", "), row.files_edited.join(", "));
    for (name, text) in [
        ("Asked", &row.request),
        ("Investigated", &row.investigated),
        ("Learned", &row.learned),
        ("Done", &row.completed),
        ("Next", &row.next_steps),
        ("Notes", &row.notes),
        ("Files read", &read),
        ("Files edited", &edited),
    ] {
        let text = quote::line(text, TEXT_CHARS_MAX);
        if !text.is_empty() {
            out.push_str(&format!("{name}: {text}\n"));
        }
    }
    out
}
