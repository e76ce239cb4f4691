//! The database of the earlier program of this name, whichever of its versions wrote it.
//!
//! In: its tables, as `store` reads them. Out: our rows, under public ids that are derived from
//! what they say, so that a second run, a copy of the database or its JSON export bring nothing
//! twice. It repeats itself a lot: what a session says again is counted as such.

mod fields;
mod lists;
mod places;
mod read;
mod whose;

use std::path::Path;

use super::{Around, ImportError, Progress, Report, Skipped, Taker};
use crate::clock::Millis;
use crate::limits::PAGE_ROWS_MAX;
use crate::store::{Earlier, EarlierTable, Store};

pub use read::Reader;

/// How the run is listed.
pub const KIND: &str = "claude-mem-db";

/// Takes a database in. `scratch` is a directory that may be filled and is removed.
pub fn run(
    store: &mut Store,
    around: Around<'_>,
    path: &Path,
    scratch: &Path,
    now: Millis,
    progress: &mut dyn Progress,
) -> Result<Report, ImportError> {
    let earlier = open(path, scratch)?;
    let source = path.display().to_string();
    let mut total = 0;
    for table in EarlierTable::ALL {
        total += earlier.count(table)?;
    }
    progress.total(total);
    let taker = Taker::begin(store, around, KIND, &source, now)?;
    let mut reader = Reader::new(taker, around.client_dir, now);
    for table in EarlierTable::ALL {
        if is_raw(table) {
            let rows = earlier.count(table)?;
            reader.taker.skip_many(table.name(), Skipped::Raw, rows);
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
                reader.row(table, row)?;
            }
            progress.advance(page.len() as u64);
        }
        reader.taker.flush()?;
    }
    reader.finish(path, now)
}

fn open(path: &Path, scratch: &Path) -> Result<Earlier, ImportError> {
    let not = |what| ImportError::NotThat(path.display().to_string(), what);
    match Earlier::open(path, scratch) {
        Ok(Some(earlier)) => Ok(earlier),
        Ok(None) => Err(not("not a database of the earlier claude-mem")),
        Err(crate::store::StoreError::Damaged) => Err(not(
            "not a database, or damaged; is that program still writing to it?",
        )),
        Err(crate::store::StoreError::Missing) => Err(not("not there")),
        Err(e) => Err(e.into()),
    }
}

/// Input and output of tools, as they were: what was made of them is what counts.
const fn is_raw(table: EarlierTable) -> bool {
    matches!(
        table,
        EarlierTable::Queue | EarlierTable::OldQueue | EarlierTable::ToolUses
    )
}

#[cfg(test)]
#[path = "earlier_tests.rs"]
mod tests;
