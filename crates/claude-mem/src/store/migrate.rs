//! Numbered migrations, one transaction each, with a backup before the first.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::{StoreError, backup};

/// What this program writes. `user_version` of every database of ours.
pub const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_foundation.sql"),
    include_str!("migrations/0002_texts_by_project.sql"),
    include_str!("migrations/0003_row_changes.sql"),
];

/// Builds the newest schema in an empty file.
pub(super) fn create(conn: &mut Connection) -> Result<(), StoreError> {
    apply_from(conn, 0)
}

/// Brings an older database up to date; refuses a newer one.
pub(super) fn up(conn: &mut Connection, path: &Path) -> Result<(), StoreError> {
    match check(conn) {
        Err(StoreError::Older { found, .. }) => {
            backup::before_migration(conn, path, found)?;
            apply_from(conn, found)
        }
        other => other,
    }
}

/// Says whether this program and this database understand each other.
pub(super) fn check(conn: &Connection) -> Result<(), StoreError> {
    let known = SCHEMA_VERSION;
    match version(conn)? {
        found if found > known => Err(StoreError::Newer { found, known }),
        found if found < known => Err(StoreError::Older { found, known }),
        _ => Ok(()),
    }
}

fn apply_from(conn: &mut Connection, found: u32) -> Result<(), StoreError> {
    for (at, sql) in MIGRATIONS.iter().enumerate().skip(found as usize) {
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have been faster while we waited for the lock.
        if version(&tx)? as usize == at {
            tx.execute_batch(sql)?;
            tx.pragma_update(None, "user_version", at as u32 + 1)?;
            tx.commit()?;
        }
    }
    Ok(())
}

fn version(conn: &Connection) -> Result<u32, StoreError> {
    Ok(conn.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

#[cfg(test)]
#[path = "migrate_tests.rs"]
mod tests;
