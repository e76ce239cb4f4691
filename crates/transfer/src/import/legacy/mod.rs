//! Imports the database of the legacy program of this name, written by any of its versions.
//!
//! `store` reads the legacy tables; [`LegacyImporter`] converts each row to one of ours. Public ids are
//! derived from the row's contents, so that a second run, a copy of the database or its JSON export
//! imports nothing twice. Legacy sessions repeat themselves a lot; such rows count as duplicates.

mod fields;
mod lists;
mod places;
mod read;
mod ownership;

use std::path::Path;

use super::{ImportContext, ImportError, ImportProgress, ImportReport, ImportSkipReason, ImportWriter};
use claude_mem_core::clock::Millis;
use claude_mem_core::limits::PAGE_ROWS_MAX;
use claude_mem_store::{LegacyDatabase, LegacyTable, Store};

pub use read::LegacyImporter;

/// Kind of the run in the list of imports.
pub const KIND: &str = "claude-mem-db";

/// Imports a database. `scratch` is a directory for temporary files, which is removed afterwards.
pub fn run(
    store: &mut Store,
    around: ImportContext<'_>,
    path: &Path,
    scratch: &Path,
    now: Millis,
    progress: &mut dyn ImportProgress,
) -> Result<ImportReport, ImportError> {
    let earlier = open_legacy(path, scratch)?;
    let source = path.display().to_string();
    let mut total = 0;
    for table in LegacyTable::ALL {
        total += earlier.count(table)?;
    }
    progress.total(total);
    let writer = ImportWriter::resume_or_begin(store, around, KIND, &source, now)?;
    let mut reader = LegacyImporter::new(writer, around.client_dir, now);
    for table in LegacyTable::ALL {
        if holds_raw_tool_data(table) {
            let rows = earlier.count(table)?;
            reader.writer.skip_many(table.name(), ImportSkipReason::Raw, rows);
            progress.advance(rows);
            continue;
        }
        let mut after = 0;
        loop {
            let page = earlier.page(table, after, PAGE_ROWS_MAX)?;
            let Some(last) = page.last() else {
                break;
            };
            after = last.id;
            for row in &page {
                reader.import_row(table, row)?;
            }
            progress.advance(page.len() as u64);
        }
        reader.writer.flush()?;
    }
    reader.finish(path, now)
}

fn open_legacy(path: &Path, scratch: &Path) -> Result<LegacyDatabase, ImportError> {
    let not = |what| ImportError::UnexpectedSource(path.display().to_string(), what);
    match LegacyDatabase::open(path, scratch) {
        Ok(Some(earlier)) => Ok(earlier),
        Ok(None) => Err(not("not a legacy claude-mem database")),
        Err(claude_mem_store::StoreError::Corrupt) => {
            Err(not("not a database, or corrupt; is the legacy program still writing to it?"))
        }
        Err(claude_mem_store::StoreError::Missing) => Err(not("missing")),
        Err(e) => Err(e.into()),
    }
}

/// Tables with raw tool input and output, which are not imported: their observations are.
const fn holds_raw_tool_data(table: LegacyTable) -> bool {
    matches!(table, LegacyTable::Queue | LegacyTable::OldQueue | LegacyTable::ToolUses)
}

#[cfg(test)]
#[path = "earlier_tests.rs"]
mod tests;
