//! Formats one row in full, as text for a model.

use super::lines::RowFormatter;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{AccountId, FinalMessageId, ObservationId, ProjectId, PromptId, SummaryId};
use claude_mem_core::memory::Origin;
use claude_mem_core::source::TextSource;
use claude_mem_recall::quote;
use claude_mem_recall::render::{day, mark};
use claude_mem_store::{
    AccountRow, MemoryLevel, Observation, RowId, RowKind, StoreError, StoreReader, SummaryRow,
};

/// Maximum characters shown per field.
const TEXT_CHARS_MAX: usize = 4_000;

/// One row with all fields, each on a line behind its label, so that no text can imitate another
/// field or row. `None` if the row does not exist.
pub(super) fn details(
    reads: &StoreReader<'_>,
    handle: RowId,
    lines: &RowFormatter<'_>,
) -> Result<Option<String>, StoreError> {
    let id = handle.row_id;
    let found = match handle.kind {
        RowKind::Observation => reads.observation(ObservationId(id)).map(|row| RowDetails {
            kind: row.text.kind.as_str().to_owned(),
            title: quote::line(&row.text.title, TEXT_CHARS_MAX),
            origin: row.origin,
            project: row.project,
            user_level: row.level == MemoryLevel::User,
            created_at: row.created_at,
            parts: observation_lines(&row),
        }),
        RowKind::Summary => reads.summary(SummaryId(id)).map(|row| RowDetails {
            origin: row.origin,
            project: row.project,
            created_at: row.created_at,
            parts: summary_lines(&row),
            ..RowDetails::default()
        }),
        RowKind::Account => reads.account(AccountId(id)).map(|row| RowDetails {
            origin: row.origin,
            project: row.project,
            created_at: row.created_at,
            parts: account_lines(&row),
            ..RowDetails::default()
        }),
        RowKind::Prompt => reads.prompt(PromptId(id)).map(|row| RowDetails {
            origin: row.origin,
            project: row.project,
            created_at: row.created_at,
            parts: labelled_line(prompt_label(row.origin), &row.text),
            ..RowDetails::default()
        }),
        RowKind::Message => reads.final_message(FinalMessageId(id)).map(|row| RowDetails {
            origin: row.origin,
            project: row.project,
            created_at: row.created_at,
            parts: labelled_line("The agent said: ", &row.text),
            ..RowDetails::default()
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
    let who = match reads.member_of_row(handle)? {
        Some(member) => reads.member(member)?.map(|member| quote::line(member.label(), 60)),
        None => None,
    };
    let who = who
        .map(|who| format!(" (recorded by {who}, not by this user; not verified here)"))
        .unwrap_or_default();
    Ok(Some(format!(
        "{handle} {} {}{}{}{}{who}\n{}",
        day(full.created_at, lines.zone),
        mark(handle.kind, &full.kind, full.origin),
        if full.title.is_empty() { "" } else { " " },
        full.title,
        lines.owner_suffix(full.project, name.as_deref(), full.user_level),
        full.parts
    )))
}

/// A row of any kind: the contents of its first line, and the lines below.
struct RowDetails {
    kind: String,
    title: String,
    origin: Origin,
    project: Option<ProjectId>,
    user_level: bool,
    created_at: Millis,
    parts: String,
}

impl Default for RowDetails {
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

/// The label of a prompt's origin.
fn prompt_label(origin: Origin) -> &'static str {
    match TextSource::of_stored_prompt(origin) {
        TextSource::Plan => "Plan, not the user's words: ",
        source if source.is_user() => "The user said: ",
        _ => "Submitted by the client, not the user: ",
    }
}

/// One field as a labelled line; empty if the field is.
fn labelled_line(name: &str, text: &str) -> String {
    let text = quote::line(text, TEXT_CHARS_MAX);
    if text.is_empty() { text } else { format!("{name}{text}\n") }
}

fn observation_lines(row: &Observation) -> String {
    let newer = row.replaced_by.map(|newer| RowId::new(RowKind::Observation, newer.0).to_string());
    // Another member's user is not the user of this machine.
    let said_by = match row.member {
        Some(_) => format!("{} of another member", row.origin.as_str()),
        None => row.origin.as_str().to_owned(),
    };
    let mut out = labelled_line("Said by: ", &said_by);
    out.push_str(&labelled_line("In short: ", &row.text.subtitle));
    out.push_str(&labelled_line("Text: ", &row.text.narrative));
    for fact in &row.text.facts {
        out.push_str(&labelled_line("- ", fact));
    }
    for (name, text) in [
        ("Concepts: ", row.text.concepts.join(", ")),
        ("Files read: ", row.text.files_read.join(", ")),
        ("Files modified: ", row.text.files_modified.join(", ")),
        ("Branch: ", row.branch.clone().unwrap_or_default()),
        ("Replaced by: ", newer.unwrap_or_default()),
    ] {
        out.push_str(&labelled_line(name, &text));
    }
    if row.source_count > 1 {
        out.push_str(&format!("Said in {} sessions.\n", row.source_count));
    }
    if row.wrong {
        out.push_str("Marked as wrong.\n");
    }
    out
}

fn summary_lines(row: &SummaryRow) -> String {
    let (read, edited) = (row.text.files_read.join(", "), row.text.files_edited.join(", "));
    let parts = [
        ("Asked: ", &row.text.request),
        ("Investigated: ", &row.text.investigated),
        ("Learned: ", &row.text.learned),
        ("Done: ", &row.text.completed),
        ("Next: ", &row.text.next_steps),
        ("Notes: ", &row.text.notes),
        ("Files read: ", &read),
        ("Files edited: ", &edited),
    ];
    parts.map(|(name, text)| labelled_line(name, text)).concat()
}

fn account_lines(row: &AccountRow) -> String {
    let mut out = labelled_line("The session was for: ", &row.text.purpose);
    for (name, lines) in [
        ("Done: ", &row.text.done),
        ("Learned: ", &row.text.learned),
        ("Decided: ", &row.text.decided),
        ("Checked: ", &row.text.checked),
        ("Open: ", &row.text.open),
    ] {
        for line in lines {
            out.push_str(&labelled_line(name, line));
        }
    }
    out.push_str(&labelled_line("Files edited: ", &row.text.files_edited.join(", ")));
    out.push_str(&labelled_line("Branch: ", row.branch.as_deref().unwrap_or_default()));
    out
}
