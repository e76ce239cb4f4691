//! Migrates a database, with a backup before the first migration.

use std::path::Path;

use rusqlite::Connection;

use super::{StoreError, backup, schema};

/// Migrates an older database after a backup; refuses a newer one.
pub(super) fn migrate_to_latest(conn: &mut Connection, path: &Path) -> Result<(), StoreError> {
    match schema::check_version(conn) {
        Err(StoreError::Older { found, .. }) => {
            backup::back_up_before_migration(conn, path, found)?;
            schema::apply_from(conn, found)
        }
        other => other,
    }
}

#[cfg(test)]
#[path = "migrate_tests.rs"]
mod tests;
