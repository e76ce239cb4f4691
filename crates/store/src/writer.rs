//! [`StoreWriter`]: the handle that all changes are methods of, inside one transaction.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::error::StoreError;
use crate::fts_batch::DeferredFtsWrites;
use crate::reader::StoreReader;

/// All changes, inside one transaction. Dereferences to [`StoreReader`].
#[derive(Debug)]
pub struct StoreWriter<'c> {
    reads: StoreReader<'c>,
    pub(crate) tx: &'c Transaction<'c>,
    pub(crate) deferred: DeferredFtsWrites,
}

impl<'c> std::ops::Deref for StoreWriter<'c> {
    type Target = StoreReader<'c>;

    fn deref(&self) -> &StoreReader<'c> {
        &self.reads
    }
}

/// Runs `change` as one transaction that starts as a writer.
pub(crate) fn write<T>(
    conn: &mut Connection,
    change: impl FnOnce(&StoreWriter<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    write_with(conn, DeferredFtsWrites::immediate(), change)
}

/// Like [`write`], with documents inserted as `late` says.
pub(crate) fn write_with<T>(
    conn: &mut Connection,
    late: DeferredFtsWrites,
    change: impl FnOnce(&StoreWriter<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let writes = StoreWriter { reads: StoreReader(&tx), tx: &tx, deferred: late };
    let value = change(&writes)?;
    writes.deferred.flush(&tx)?;
    tx.commit()?;
    Ok(value)
}
