//! Imports a JSON document: our own export or the legacy program's.
//!
//! The file is read once per kind of row, so that rows arrive in the order that their references need,
//! whatever the order of the document. Only one row is in memory at a time.

mod sections;

use std::path::Path;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::value::RawValue;

use super::{ImportContext, ImportError, ImportProgress, ImportReport, ImportSkipReason, ImportWriter};
use crate::export::{FORMAT, VERSION};
use crate::import::legacy::LegacyImporter;
use claude_mem_core::clock::Millis;
use claude_mem_store::{LegacyRow, LegacyTable, Store};
use sections::{DocumentOverview, read_section};

/// Kind of the run in the list of imports.
pub const KIND: &str = "json";

/// Imports a document.
pub fn run(
    store: &mut Store,
    around: ImportContext<'_>,
    path: &Path,
    now: Millis,
    progress: &mut dyn ImportProgress,
) -> Result<ImportReport, ImportError> {
    run_named(store, around, path, &path.display().to_string(), now, progress)
}

/// Like [`run`], but lists the run under `source` instead of the path.
pub fn run_named(
    store: &mut Store,
    around: ImportContext<'_>,
    path: &Path,
    source: &str,
    now: Millis,
    progress: &mut dyn ImportProgress,
) -> Result<ImportReport, ImportError> {
    let not = |what| ImportError::UnexpectedSource(source.to_owned(), what);
    let found = DocumentOverview::scan(path)?;
    match (found.format.as_deref(), found.version) {
        (Some(FORMAT), Some(VERSION)) => {
            progress.total(found.rows);
            let writer = ImportWriter::resume_or_begin(store, around, KIND, source, now)?;
            import_own(path, writer, now, progress)
        }
        (Some(FORMAT), _) => Err(not("a document of another version; update claude-mem")),
        (None, _) if found.is_legacy => {
            progress.total(found.rows);
            let writer = ImportWriter::resume_or_begin(store, around, KIND, source, now)?;
            import_legacy(path, writer, around.client_dir, now, progress)
        }
        _ => Err(not("not a known export format")),
    }
}

fn import_own(
    path: &Path,
    mut writer: ImportWriter<'_>,
    now: Millis,
    progress: &mut dyn ImportProgress,
) -> Result<ImportReport, ImportError> {
    let mut tombstones = Vec::new();
    for_each_row(path, "tombstones", |key: Option<String>| {
        match key {
            Some(key) => tombstones.push(key),
            None => writer.skip("tombstones", ImportSkipReason::Unreadable),
        }
        Ok(())
    })?;
    writer.tombstones(&tombstones, now)?;
    for_each_row(path, "projects", |row: Option<serde_json::Value>| {
        let row = row.unwrap_or_default();
        match serde_json::from_value(row.clone()) {
            Ok(record) => writer.project(&record),
            Err(_) => {
                // We cannot tell whether the project is ignored, so none of its rows are imported.
                if let Ok(uid) = serde_json::from_value(row["uid"].clone()) {
                    writer.mark_project_unreadable(uid);
                }
                writer.skip("projects", ImportSkipReason::Unreadable);
                Ok(())
            }
        }
    })?;
    macro_rules! take {
        ($name:literal, $act:expr) => {
            for_each_row(path, $name, |row| {
                progress.advance(1);
                match row {
                    Some(row) => $act(&mut writer, row),
                    None => Ok(writer.skip($name, ImportSkipReason::Unreadable)),
                }
            })?;
            writer.flush()?;
        };
    }
    take!("sessions", |writer: &mut ImportWriter<'_>, row| writer.session("sessions", row, true));
    take!("prompts", |writer: &mut ImportWriter<'_>, row| writer.prompt("prompts", row));
    take!("messages", |writer: &mut ImportWriter<'_>, row| writer.message("messages", row));
    take!("observations", |writer: &mut ImportWriter<'_>, row| writer.observation("observations", row));
    take!("summaries", |writer: &mut ImportWriter<'_>, row| writer.summary("summaries", row));
    take!("accounts", |writer: &mut ImportWriter<'_>, row| writer.account("accounts", row));
    take!("open_items", |writer: &mut ImportWriter<'_>, row| writer.open_item("open_items", row));
    for name in TEAM_SECTIONS {
        for_each_row(path, name, |_: Option<IgnoredAny>| {
            writer.skip(name, ImportSkipReason::WrittenByOthers);
            Ok(())
        })?;
    }
    writer.finish(now)
}

/// What other members shared. Only their team's server vouches for their names.
const TEAM_SECTIONS: [&str; 2] = ["team_observations", "team_accounts"];

fn import_legacy(
    path: &Path,
    writer: ImportWriter<'_>,
    client_dir: &Path,
    now: Millis,
    progress: &mut dyn ImportProgress,
) -> Result<ImportReport, ImportError> {
    let mut reader = LegacyImporter::new(writer, client_dir, now);
    for (name, table) in [
        ("sessions", LegacyTable::Sessions),
        ("prompts", LegacyTable::Prompts),
        ("observations", LegacyTable::Observations),
        ("summaries", LegacyTable::Summaries),
    ] {
        for_each_row(path, name, |row: Option<serde_json::Map<String, serde_json::Value>>| {
            progress.advance(1);
            match row {
                Some(row) => reader.import_row(table, &LegacyRow::from_json(table, &row)),
                None => {
                    reader.writer.skip(table.name(), ImportSkipReason::Unreadable);
                    Ok(())
                }
            }
        })?;
        reader.writer.flush()?;
    }
    reader.finish(path, now)
}

/// Calls `act` for every row of one list, with `None` for an unreadable row.
fn for_each_row<T: DeserializeOwned>(
    path: &Path,
    name: &str,
    mut act: impl FnMut(Option<T>) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    read_section(path, name, &mut |raw: &RawValue| act(serde_json::from_str(raw.get()).ok()))
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
