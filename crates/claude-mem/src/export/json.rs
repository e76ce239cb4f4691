//! One document with everything that cannot be made again, one row to a line.

use std::io::{self, Write};

use serde::Serialize;

use super::{ExportError, FORMAT, VERSION};
use crate::clock::Millis;
use crate::ids::ProjectId;
use crate::limits::PAGE_ROWS_MAX;
use crate::store::{Reads, StoreError};

/// How many rows of each kind were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Written {
    pub projects: u64,
    pub sessions: u64,
    pub prompts: u64,
    pub messages: u64,
    pub observations: u64,
    pub summaries: u64,
}

/// Writes all of it, or one project's. `reads` is to be of one moment.
pub fn write(
    reads: &Reads<'_>,
    only: Option<ProjectId>,
    now: Millis,
    out: &mut dyn Write,
) -> Result<Written, ExportError> {
    let mut document = Document { out, first: true };
    document.field("format", &FORMAT)?;
    document.field("version", &VERSION)?;
    let at = jiff::Timestamp::from_millisecond(now.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    document.field("exported_at", &at.to_string())?;
    let projects = reads.project_records(only)?;
    document.begin("projects")?;
    let mut written = Written {
        projects: projects.len() as u64,
        ..Written::default()
    };
    for project in &projects {
        document.row(project)?;
    }
    document.end()?;
    written.sessions = document.pages("sessions", |after| {
        reads.session_records(only, after, PAGE_ROWS_MAX)
    })?;
    written.prompts = document.pages("prompts", |after| {
        reads.prompt_records(only, after, PAGE_ROWS_MAX)
    })?;
    written.messages = document.pages("messages", |after| {
        reads.message_records(only, after, PAGE_ROWS_MAX)
    })?;
    written.observations = document.pages("observations", |after| {
        reads.observation_records(only, after, PAGE_ROWS_MAX)
    })?;
    written.summaries = document.pages("summaries", |after| {
        reads.summary_records(only, after, PAGE_ROWS_MAX)
    })?;
    // They hold no text, and do not say which project they were of.
    document.begin("tombstones")?;
    for key in reads.tombstones()? {
        document.row(&key)?;
    }
    document.end()?;
    document.close()?;
    Ok(written)
}

struct Document<'w> {
    out: &'w mut dyn Write,
    /// Nothing stands yet in the object or list that is being written.
    first: bool,
}

impl Document<'_> {
    fn field(&mut self, name: &str, value: &impl Serialize) -> Result<(), ExportError> {
        let value = serde_json::to_string(value).map_err(StoreError::from)?;
        let opening = if self.first { "{\n" } else { ",\n" };
        self.first = false;
        self.put(&format!("{opening}\"{name}\": {value}"))
    }

    fn begin(&mut self, name: &str) -> Result<(), ExportError> {
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

    fn end(&mut self) -> Result<(), ExportError> {
        let before = if self.first { "" } else { "\n" };
        self.first = false;
        self.put(&format!("{before}]"))
    }

    fn close(&mut self) -> Result<(), ExportError> {
        self.put("\n}\n")?;
        self.out.flush().map_err(unwritable)
    }

    fn pages<T: Serialize>(
        &mut self,
        name: &str,
        page: impl Fn(i64) -> Result<Vec<(i64, T)>, StoreError>,
    ) -> Result<u64, ExportError> {
        self.begin(name)?;
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
        self.end()?;
        Ok(rows)
    }

    fn put(&mut self, text: &str) -> Result<(), ExportError> {
        self.out.write_all(text.as_bytes()).map_err(unwritable)
    }
}

fn unwritable(error: io::Error) -> ExportError {
    ExportError::Write("the export".to_owned(), error)
}
