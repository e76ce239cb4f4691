//! The SQLite database: the only crate that contains SQL.
//!
//! [`Store`] opens the database for the worker and the commands, [`Inbox`] is the narrow, fast variant
//! for hooks, and [`VectorStore`] holds the embeddings, which can be rebuilt. Queries are methods of
//! [`StoreReader`], changes are methods of [`StoreWriter`], with one file per noun; [`RowFilter`] selects
//! rows and [`StoreError`] says what a caller can do about a failure.
//!
//! Invariant: every change is one transaction that starts as a writer (`BEGIN IMMEDIATE`) and whose
//! inputs were computed before it began. A file that is not ours, or has a newer schema than this
//! program, is never written. This crate reads no clock, ranks nothing and renders nothing.

pub mod backups;
pub mod recovery;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

mod accept;
mod accounts;
mod activity;
mod backup;
mod backup_outcome;
mod change_feed;
mod columns;
mod consolidated_rows;
mod counts;
mod current_session;
mod doc_id;
mod documents;
mod edit_history;
mod embedding_backlog;
mod error;
mod feed;
mod feedback;
mod files;
mod filter;
mod filtered_rows;
mod forget;
mod forgotten_sources;
mod fts;
mod fts_batch;
mod fts_query;
mod health;
mod imports;
mod inbox;
mod index_merge;
mod index_repair;
#[cfg(test)]
mod bound_text_tests;
mod index_rows;
mod json_column;
mod leases;
mod legacy;
mod list_by_time;
mod memory_level;
mod messages;
mod meta;
mod migrate;
mod new_row_context;
mod observations;
mod open;
mod open_items;
mod projects;
mod prompts;
mod queue;
mod reader;
mod replace_lock;
mod retention;
mod review;
mod row_id;
mod row_kind;
mod row_values;
mod salvage;
mod salvage_rows;
mod schema;
mod session_claims;
mod session_database;
mod session_files;
mod session_snapshot;
mod session_status;
mod sessions;
mod spend;
mod split;
mod store;
mod successors;
mod summaries;
mod swap;
mod team;
mod text_selection;
mod transcripts;
mod transfer;
mod trash;
mod turns;
mod usage;
mod vectors;
mod whole_row;
mod writer;

#[cfg(test)]
mod query_plan_tests;
#[cfg(test)]
mod redacted_columns_tests;
#[cfg(test)]
mod store_tests;

pub use accept::AcceptOutcome;
pub use accounts::AccountRow;
pub use activity::{ActivityBucket, TokenEconomics};
pub use backup::BackupReport;
pub use backup_outcome::FailedBackup;
pub use change_feed::{ChangeCursor, RowChange};
pub use counts::{ProjectCounts, QueueCounts, RecentCounts, StoreCounts};
pub use doc_id::{Corpus, DocId, DocIdRange, NO_PROJECT};
pub use documents::passages;
pub use edit_history::ObservationVersion;
pub use embedding_backlog::{EmbeddableText, IndexCoverage, PendingEmbedding};
pub use error::StoreError;
pub use feed::{FeedCursor, FeedScope};
pub use feedback::{ExposureLevel, FeedbackQuery, FeedbackRow, FeedbackSignal, NewFeedback};
pub use files::{FileRef, WideFolder};
pub use filter::{PageRequest, RowFilter, RowOwner, RowPage};
pub use filtered_rows::ObservationStanding;
pub use forget::{tombstone_for, tombstone_for_message, tombstone_for_summary};
pub use fts::{DocHeader, IndexedDocument, Postings};
pub use fts_query::{FtsColumn, FtsQuery};
pub use imports::{ImportRun, UndoProgress};
pub use inbox::Inbox;
pub use index_rows::IndexRow;
pub use legacy::{LegacyDatabase, LegacyRow, LegacyTable};
pub use memory_level::MemoryLevel;
pub use messages::{FinalMessageRow, NewFinalMessage};
pub use new_row_context::NewRowContext;
pub use observations::{MANUAL, Observation, ObservationEdit};
pub use open::{APPLICATION_ID, create_private_file, sqlite_version};
pub use open_items::{ClosableItem, ItemCloser, OpenItemFilter, OpenItemRow};
pub use projects::{ProjectRow, name_key};
pub use prompts::{NewPrompt, PromptRow};
pub use queue::{EventLease, LeasedEvent, QueueRow, QueuedEventHead, QueuedSessionInfo, ReadySession};
pub use reader::StoreReader;
pub use replace_lock::ExclusiveLock;
pub use retention::TrackedSession;
pub use review::{KeptPair, ReviewReason, TitleEntry};
pub use row_id::{ParseRowIdError, RowId, TimedRowId};
pub use row_kind::RowKind;
pub use salvage::{SalvagedData, SalvagedEvent};
pub use schema::SCHEMA_VERSION;
pub use session_claims::StoredClaims;
pub use session_database::{DatabaseSession, SessionDatabase};
pub use session_files::SessionFile;
pub use session_status::SessionStatus;
pub use sessions::{NewSession, SessionRow};
pub use spend::{SpendReport, SpendRow};
pub use split::{identifier_parts as parts_of, split_identifiers, split_unspaced};
pub use store::Store;
pub use successors::RowResolution;
pub use summaries::SummaryRow;
pub use team::{
    MemberRow, MemberTrust, NewMember, NewSpace, ShareCounts, ShareState, SharedRow, SpaceHealth, SpaceMode,
    SpaceRow, TeamHealth, TeamPlace,
};
pub use text_selection::TextSelection;
pub use transcripts::TranscriptPosition;
pub use transfer::{
    AccountRecord, ImportTarget, MessageRecord, ObservationRecord, OpenItemRecord, ProjectRecord,
    PromptRecord, RowImportOutcome, SessionRecord, SuccessorRecord, SummaryRecord, TeamRecord,
};
pub use trash::ForgottenRow;
pub use turns::RunningTurn;
pub use usage::{FileUsage, UsageEntry};
pub use vectors::{RowVectors, StoredSignature, VectorSource, VectorStore};
pub use writer::StoreWriter;
