//! A memory in full, as text for a model.

use super::lines::Lines;
use crate::clock::Millis;
use crate::context::quote;
use crate::context::render::{day, mark};
use crate::ids::{FinalMessageId, ObservationId, ProjectId, PromptId, SummaryId};
use crate::memory::Origin;
use crate::search::Handle;
use crate::store::{Level, Observation, Reads, RowKind, StoreError, Summary};

/// What is shown of one text.
const TEXT_CHARS_MAX: usize = 4_000;

/// One row with everything worth reading, each part behind its own name: no text can pass for
/// another part or another row. `None`: there is no such row.
pub(super) fn details(
    reads: &Reads<'_>,
    handle: Handle,
    lines: &Lines<'_>,
) -> Result<Option<String>, StoreError> {
    let id = handle.row_id;
    let found = match handle.kind {
        RowKind::Observation => reads.observation(ObservationId(id)).map(|row| Full {
            kind: row.kind.as_str().to_owned(),
            title: quote::line(&row.title, TEXT_CHARS_MAX),
            origin: row.origin,
            project: row.project,
            user_level: row.level == Level::User,
            created_at: row.created_at,
            parts: observation(&row),
        }),
        RowKind::Summary => reads.summary(SummaryId(id)).map(|row| Full {
            origin: row.origin,
            project: row.project,
            created_at: row.created_at,
            parts: summary(&row),
            ..Full::default()
        }),
        RowKind::Prompt => reads.prompt(PromptId(id)).map(|row| Full {
            origin: row.origin,
            project: row.project,
            created_at: row.created_at,
            parts: part("The user said: ", &row.text),
            ..Full::default()
        }),
        RowKind::Message => reads.final_message(FinalMessageId(id)).map(|row| Full {
            origin: row.origin,
            project: row.project,
            created_at: row.created_at,
            parts: part("The agent said: ", &row.text),
            ..Full::default()
        }),
    };
    let full = match found {
        Err(StoreError::NoSuchRow { .. }) => return Ok(None),
        found => found?,
    };
    let name = match full.project {
        Some(project) => reads.project_name(project)?,
        None => None,
    };
    Ok(Some(format!(
        "{handle} {} {}{}{}{}\n{}",
        day(full.created_at, lines.zone),
        mark(handle.kind, &full.kind, full.origin),
        if full.title.is_empty() { "" } else { " " },
        full.title,
        lines.owner(full.project, name.as_deref(), full.user_level),
        full.parts
    )))
}

/// A row of any kind: what its first line says, and the lines below.
struct Full {
    kind: String,
    title: String,
    origin: Origin,
    project: Option<ProjectId>,
    user_level: bool,
    created_at: Millis,
    parts: String,
}

impl Default for Full {
    fn default() -> Self {
        Self {
            kind: String::new(),
            title: String::new(),
            origin: Origin::Agent,
            project: None,
            user_level: false,
            created_at: Millis(0),
            parts: String::new(),
        }
    }
}

/// One named part on a line of its own; nothing if there is nothing in it.
fn part(name: &str, text: &str) -> String {
    let text = quote::line(text, TEXT_CHARS_MAX);
    if text.is_empty() {
        text
    } else {
        format!("{name}{text}\n")
    }
}

fn observation(row: &Observation) -> String {
    let newer = row
        .replaced_by
        .map(|newer| Handle::from((RowKind::Observation, newer.0)).to_string());
    let mut out = part("Said by: ", row.origin.as_str());
    out.push_str(&part("In short: ", &row.subtitle));
    out.push_str(&part("Text: ", &row.narrative));
    for fact in &row.facts {
        out.push_str(&part("- ", fact));
    }
    for (name, text) in [
        ("Concepts: ", row.concepts.join(", ")),
        ("Files read: ", row.files_read.join(", ")),
        ("Files modified: ", row.files_modified.join(", ")),
        ("Branch: ", row.branch.clone().unwrap_or_default()),
        ("Replaced by: ", newer.unwrap_or_default()),
    ] {
        out.push_str(&part(name, &text));
    }
    if row.wrong {
        out.push_str("Marked as wrong.\n");
    }
    out
}

fn summary(row: &Summary) -> String {
    let (read, edited) = (row.files_read.join(", "), row.files_edited.join(", "));
    let parts = [
        ("Asked: ", &row.request),
        ("Investigated: ", &row.investigated),
        ("Learned: ", &row.learned),
        ("Done: ", &row.completed),
        ("Next: ", &row.next_steps),
        ("Notes: ", &row.notes),
        ("Files read: ", &read),
        ("Files edited: ", &edited),
    ];
    parts.map(|(name, text)| part(name, text)).concat()
}
