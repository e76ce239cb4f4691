//! A JSON document: our own export, or the earlier program's.
//!
//! The file is read once per kind of row, so that rows come in the order that their references
//! need, whatever order the document has, and only one row is in memory at a time.

mod sections;

use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::earlier::Reader;
use super::{Around, ImportError, Progress, Report, Skipped, Taker};
use crate::clock::Millis;
use crate::export::{FORMAT, VERSION};
use crate::store::{EarlierRow, EarlierTable, Store};
use sections::{Sections, section};

/// How the run is listed.
pub const KIND: &str = "json";

/// Takes a document in.
pub fn run(
    store: &mut Store,
    around: Around<'_>,
    path: &Path,
    now: Millis,
    progress: &mut dyn Progress,
) -> Result<Report, ImportError> {
    run_named(
        store,
        around,
        path,
        &path.display().to_string(),
        now,
        progress,
    )
}

/// As `run`, listed under another name than the file's.
pub fn run_named(
    store: &mut Store,
    around: Around<'_>,
    path: &Path,
    source: &str,
    now: Millis,
    progress: &mut dyn Progress,
) -> Result<Report, ImportError> {
    let not = |what| ImportError::NotThat(source.to_owned(), what);
    let found = Sections::of(path)?;
    match (found.format.as_deref(), found.version) {
        (Some(FORMAT), Some(VERSION)) => {
            progress.total(found.rows);
            let taker = Taker::begin(store, around, KIND, source, now)?;
            ours(path, taker, now, progress)
        }
        (Some(FORMAT), _) => Err(not("a document of another version; update claude-mem")),
        (None, _) if found.is_earlier => {
            progress.total(found.rows);
            let taker = Taker::begin(store, around, KIND, source, now)?;
            theirs(path, taker, around.client_dir, now, progress)
        }
        _ => Err(not("no export that is known here")),
    }
}

fn ours(
    path: &Path,
    mut taker: Taker<'_>,
    now: Millis,
    progress: &mut dyn Progress,
) -> Result<Report, ImportError> {
    let mut tombstones = Vec::new();
    each(path, "tombstones", |key: Option<String>| {
        match key {
            Some(key) => tombstones.push(key),
            None => taker.skip("tombstones", Skipped::Unreadable),
        }
        Ok(())
    })?;
    taker.tombstones(&tombstones, now)?;
    each(path, "projects", |row: Option<serde_json::Value>| {
        let row = row.unwrap_or_default();
        match serde_json::from_value(row.clone()) {
            Ok(record) => taker.project(&record),
            Err(_) => {
                // Whether it is ignored cannot be told, so nothing of it is taken in.
                if let Ok(uid) = serde_json::from_value(row["uid"].clone()) {
                    taker.is_unreadable(uid);
                }
                taker.skip("projects", Skipped::Unreadable);
                Ok(())
            }
        }
    })?;
    macro_rules! take {
        ($name:literal, $act:expr) => {
            each(path, $name, |row| {
                progress.advance(1);
                match row {
                    Some(row) => $act(&mut taker, row),
                    None => Ok(taker.skip($name, Skipped::Unreadable)),
                }
            })?;
            taker.flush()?;
        };
    }
    take!("sessions", |taker: &mut Taker<'_>, row| taker
        .session("sessions", row, true));
    take!("prompts", |taker: &mut Taker<'_>, row| taker
        .prompt("prompts", row));
    take!("messages", |taker: &mut Taker<'_>, row| taker
        .message("messages", row));
    take!("observations", |taker: &mut Taker<'_>, row| taker
        .observation("observations", row));
    take!("summaries", |taker: &mut Taker<'_>, row| taker
        .summary("summaries", row));
    taker.finish(now)
}

fn theirs(
    path: &Path,
    taker: Taker<'_>,
    client_dir: &Path,
    now: Millis,
    progress: &mut dyn Progress,
) -> Result<Report, ImportError> {
    let mut reader = Reader::new(taker, client_dir, now);
    for (name, table) in [
        ("sessions", EarlierTable::Sessions),
        ("prompts", EarlierTable::Prompts),
        ("observations", EarlierTable::Observations),
        ("summaries", EarlierTable::Summaries),
    ] {
        each(
            path,
            name,
            |row: Option<serde_json::Map<String, serde_json::Value>>| {
                progress.advance(1);
                match row {
                    Some(row) => reader.row(table, &EarlierRow::from_json(table, &row)),
                    None => {
                        reader.taker.skip(table.name(), Skipped::Unreadable);
                        Ok(())
                    }
                }
            },
        )?;
        reader.taker.flush()?;
    }
    reader.finish(path, now)
}

/// Every row of one list; `None` for one that does not read.
fn each<T: DeserializeOwned>(
    path: &Path,
    name: &str,
    mut act: impl FnMut(Option<T>) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    section(path, name, &mut |raw: &RawValue| {
        act(serde_json::from_str(raw.get()).ok())
    })
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
