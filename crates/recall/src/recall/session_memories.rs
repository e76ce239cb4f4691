//! The memories that were made of one session.

use claude_mem_core::ids::SessionId;
use claude_mem_store::{Observation, PageRequest, RowFilter, StoreError, StoreReader};

/// Memories of one session that are looked through.
const SESSION_MEMORIES: u32 = 20;

/// The memories of a session, the newest first.
pub(super) fn memories_of(
    reads: &StoreReader<'_>,
    session: SessionId,
) -> Result<Vec<Observation>, StoreError> {
    let of_session = RowFilter { session: Some(session), ..RowFilter::default() };
    Ok(reads.observations(&of_session, PageRequest::first(SESSION_MEMORIES))?.items)
}

/// Whether one of the user's own memories holds still and is about a file that is asked for.
pub(super) fn tells_of_file(row: &Observation, is_asked: impl Fn(&String) -> bool) -> bool {
    let is_valid = !row.wrong && !row.held_back && row.replaced_by.is_none() && row.member.is_none();
    is_valid && row.text.files_modified.iter().any(is_asked)
}
