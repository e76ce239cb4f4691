//! Writes one JSON document with all data that cannot be rebuilt, one row per line.

use std::io::{self, Write};

use serde::Serialize;

use super::{ExportError, ExportScope, FORMAT, VERSION};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ProjectId, PublicId};
use claude_mem_core::limits::PAGE_ROWS_MAX;
use claude_mem_store::{MemberTrust, StoreError, StoreReader};

/// Number of exported rows by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExportCounts {
    pub projects: u64,
    pub sessions: u64,
    pub prompts: u64,
    pub messages: u64,
    pub observations: u64,
    pub summaries: u64,
    pub accounts: u64,
    pub open_items: u64,
    /// Observations and accounts of other members.
    pub of_others: u64,
}

/// A member whose rows are exported.
#[derive(Serialize)]
struct MemberRecord<'a> {
    uid: PublicId,
    handle: &'a str,
    name: &'a str,
    role: &'a str,
    gone: bool,
}

/// Writes the whole store or one project. `reads` must be a consistent snapshot.
pub fn write_document(
    reads: &StoreReader<'_>,
    scope: ExportScope,
    now: Millis,
    out: &mut dyn Write,
) -> Result<ExportCounts, ExportError> {
    let only = scope.project;
    let mut document = JsonDocumentWriter { out, first: true };
    document.field("format", &FORMAT)?;
    document.field("version", &VERSION)?;
    let at = jiff::Timestamp::from_millisecond(now.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    document.field("exported_at", &at.to_string())?;
    let projects = reads.project_records(only)?;
    document.begin_list("projects")?;
    let mut written = ExportCounts { projects: projects.len() as u64, ..ExportCounts::default() };
    for project in &projects {
        document.row(project)?;
    }
    document.end_list()?;
    written.sessions =
        document.pages("sessions", |after| reads.session_records(only, after, PAGE_ROWS_MAX))?;
    written.prompts = document.pages("prompts", |after| reads.prompt_records(only, after, PAGE_ROWS_MAX))?;
    written.messages =
        document.pages("messages", |after| reads.message_records(only, after, PAGE_ROWS_MAX))?;
    written.observations =
        document.pages("observations", |after| reads.observation_records(only, after, PAGE_ROWS_MAX))?;
    written.summaries =
        document.pages("summaries", |after| reads.summary_records(only, after, PAGE_ROWS_MAX))?;
    written.accounts =
        document.pages("accounts", |after| reads.account_records(only, after, PAGE_ROWS_MAX))?;
    written.open_items =
        document.pages("open_items", |after| reads.open_item_records(only, after, PAGE_ROWS_MAX))?;
    document.begin_list("successors")?;
    for record in reads.successor_records(only)? {
        document.row(&record)?;
    }
    document.end_list()?;
    // Tombstones hold no text and no project, so all of them are exported.
    document.begin_list("tombstones")?;
    for key in reads.tombstones()? {
        document.row(&key)?;
    }
    document.end_list()?;
    if scope.with_team {
        written.of_others = write_team(&mut document, reads, only)?;
    }
    document.close()?;
    Ok(written)
}

/// Writes the rows of other members into lists of their own: a reader that does not know them takes none of them for the
/// user's. Returns how many there are.
fn write_team(
    document: &mut JsonDocumentWriter<'_>,
    reads: &StoreReader<'_>,
    only: Option<ProjectId>,
) -> Result<u64, ExportError> {
    document.begin_list("team_members")?;
    for member in reads.members()?.iter().filter(|member| member.trust != MemberTrust::Own) {
        let (uid, role, gone) = (member.uid, member.role.as_str(), member.gone);
        document.row(&MemberRecord { uid, handle: &member.handle, name: &member.name, role, gone })?;
    }
    document.end_list()?;
    let observations = document
        .pages("team_observations", |after| reads.team_observation_records(only, after, PAGE_ROWS_MAX))?;
    let accounts =
        document.pages("team_accounts", |after| reads.team_account_records(only, after, PAGE_ROWS_MAX))?;
    Ok(observations + accounts)
}

/// Writes the document piece by piece.
struct JsonDocumentWriter<'w> {
    out: &'w mut dyn Write,
    /// The current object or list has no entry yet.
    first: bool,
}

impl JsonDocumentWriter<'_> {
    fn field(&mut self, name: &str, value: &impl Serialize) -> Result<(), ExportError> {
        let value = serde_json::to_string(value).map_err(StoreError::from)?;
        let opening = if self.first { "{\n" } else { ",\n" };
        self.first = false;
        self.put(&format!("{opening}\"{name}\": {value}"))
    }

    fn begin_list(&mut self, name: &str) -> Result<(), ExportError> {
        self.first = true;
        self.put(&format!(",\n\"{name}\": ["))
    }

    fn row(&mut self, row: &impl Serialize) -> Result<(), ExportError> {
        let row = serde_json::to_string(row).map_err(StoreError::from)?;
        let before = if self.first { "\n" } else { ",\n" };
        self.first = false;
        self.put(before)?;
        self.put(&row)
    }

    fn end_list(&mut self) -> Result<(), ExportError> {
        let before = if self.first { "" } else { "\n" };
        self.first = false;
        self.put(&format!("{before}]"))
    }

    fn close(&mut self) -> Result<(), ExportError> {
        self.put("\n}\n")?;
        self.out.flush().map_err(write_error)
    }

    fn pages<T: Serialize>(
        &mut self,
        name: &str,
        page: impl Fn(i64) -> Result<Vec<(i64, T)>, StoreError>,
    ) -> Result<u64, ExportError> {
        self.begin_list(name)?;
        let (mut after, mut rows) = (0, 0);
        loop {
            let some = page(after)?;
            let Some((last, _)) = some.last() else {
                break;
            };
            after = *last;
            rows += some.len() as u64;
            for (_, row) in &some {
                self.row(row)?;
            }
        }
        self.end_list()?;
        Ok(rows)
    }

    fn put(&mut self, text: &str) -> Result<(), ExportError> {
        self.out.write_all(text.as_bytes()).map_err(write_error)
    }
}

fn write_error(error: io::Error) -> ExportError {
    ExportError::Write("the export".to_owned(), error)
}
