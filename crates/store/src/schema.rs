//! The schema as numbered migrations, one transaction each.

use rusqlite::{Connection, TransactionBehavior};

use super::StoreError;

/// The schema version of this program, stored as `user_version`.
pub const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_foundation.sql"),
    include_str!("migrations/0002_texts_by_project.sql"),
    include_str!("migrations/0003_row_changes.sql"),
    include_str!("migrations/0004_session_memories.sql"),
    include_str!("migrations/0005_session_files.sql"),
    include_str!("migrations/0006_team.sql"),
    include_str!("migrations/0007_edit_history.sql"),
    include_str!("migrations/0008_review.sql"),
    include_str!("migrations/0009_voice_of_transcripts.sql"),
];

/// Creates the newest schema in an empty file.
pub(super) fn create_schema(conn: &mut Connection) -> Result<(), StoreError> {
    apply_from(conn, 0)
}

/// Checks that the database has the schema version of this program.
pub(super) fn check_version(conn: &Connection) -> Result<(), StoreError> {
    let known = SCHEMA_VERSION;
    match schema_version(conn)? {
        found if found > known => Err(StoreError::Newer { found, known }),
        found if found < known => Err(StoreError::Older { found, known }),
        _ => Ok(()),
    }
}

/// Applies the migrations from version `found` on.
pub(super) fn apply_from(conn: &mut Connection, found: u32) -> Result<(), StoreError> {
    for (at, sql) in MIGRATIONS.iter().enumerate().skip(found as usize) {
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have migrated while we waited for the lock.
        if schema_version(&tx)? as usize == at {
            tx.execute_batch(sql)?;
            tx.pragma_update(None, "user_version", at as u32 + 1)?;
            tx.commit()?;
        }
    }
    Ok(())
}

fn schema_version(conn: &Connection) -> Result<u32, StoreError> {
    Ok(conn.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}
