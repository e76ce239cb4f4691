//! Takes from imported rows what only the user may say.
//!
//! Invariant: no row of a foreign file is presented as the user's or the agent's word, holds in every
//! project, is pinned, is work that was left open, or continues a session with a state or a transcript that the file
//! names.

use claude_mem_core::memory::Origin;
use claude_mem_store::{
    AccountRecord, MemoryLevel, MessageRecord, ObservationRecord, PromptRecord, SessionRecord, SummaryRecord,
};

use super::report::ImportSkipReason;

/// The origin of a foreign row: `import`, unless it claims even less.
const fn foreign_origin(claimed: Option<Origin>) -> Origin {
    match claimed {
        Some(origin @ (Origin::Tool | Origin::Web)) => origin,
        _ => Origin::Import,
    }
}

pub(super) fn distrust_session(record: &mut SessionRecord) {
    record.origin = Some(foreign_origin(record.origin));
    // The state is what the compressor believes the user said; the transcript would be read as theirs.
    record.carry = None;
    record.rolling_summary = None;
    record.transcript_path = None;
    record.transcript_closed = false;
}

pub(super) fn distrust_prompt(record: &mut PromptRecord) {
    record.origin = Some(foreign_origin(record.origin));
}

pub(super) fn distrust_message(record: &mut MessageRecord) {
    record.origin = Some(foreign_origin(record.origin));
}

/// Fails with `Untrusted` for a preference that belongs to no project.
pub(super) fn distrust_observation(record: &mut ObservationRecord) -> Result<(), ImportSkipReason> {
    record.origin = Some(foreign_origin(record.origin));
    record.pinned = false;
    if record.level != MemoryLevel::Project {
        record.level = MemoryLevel::Project;
        if record.project.is_none() {
            return Err(ImportSkipReason::Untrusted);
        }
    }
    Ok(())
}

pub(super) fn distrust_summary(record: &mut SummaryRecord) {
    record.origin = Some(foreign_origin(record.origin));
}

pub(super) fn distrust_account(record: &mut AccountRecord) {
    record.origin = Some(foreign_origin(record.origin));
}
