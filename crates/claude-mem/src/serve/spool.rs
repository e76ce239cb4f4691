//! Events that no database could take when they happened.

use crate::clock::Millis;
use crate::hook::{deliver, spool};
use crate::limits::SPOOL_LIST_MAX;
use crate::paths::DataDir;
use crate::store::{Inbox, StoreError};

/// Takes in everything that waits in the spool. Returns how much that was.
pub fn take_in(dir: &DataDir, now: Millis) -> Result<usize, StoreError> {
    let io = |error| StoreError::Io("the spool".to_owned(), error);
    if spool::is_empty(dir).map_err(io)? {
        return Ok(0);
    }
    let mut inbox = Inbox::open(&dir.db())?;
    let mut stored = 0;
    loop {
        let take = |spooled: &spool::Spooled<'_>| deliver::take(&mut inbox, spooled, now);
        let round = spool::take_in(dir, SPOOL_LIST_MAX, || true, take).map_err(io)?;
        stored += round.stored;
        if round.stored + round.set_aside < SPOOL_LIST_MAX {
            break;
        }
    }
    inbox.close()?;
    Ok(stored)
}
