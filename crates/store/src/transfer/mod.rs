//! Transfer of rows to and from other stores.
//!
//! Export reads our rows as records, with public ids in place of row ids; import stores records
//! that another store wrote. Invariant: a public id is imported once. Forgotten rows stay
//! forgotten, sessions that must not be remembered stay ignored, and an import never changes an
//! existing row.

mod import;
mod rows;
mod session_rows;
mod export;
mod team_record;

pub use import::{ImportTarget, RowImportOutcome};
pub use rows::{MessageRecord, ObservationRecord, ProjectRecord, PromptRecord, SessionRecord, SummaryRecord};
pub use session_rows::{AccountRecord, OpenItemRecord, SuccessorRecord};
pub use team_record::TeamRecord;
