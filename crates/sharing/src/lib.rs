//! Shares memory with a team and with one's other machines.
//!
//! [`share_verdict`] says whether a row may leave this machine, [`record_body`] makes the text that leaves and
//! takes apart what comes, and [`SyncEngine`] brings this machine and the server in step: it marks what is to
//! be sent, pushes it, pulls what is new, compares digests and reconciles. [`TeamServer`] is the server as the
//! engine sees it; [`TeamHttpClient`] speaks to a real one.
//!
//! Invariant: rows are the only truth. Nothing is sent that [`share_verdict`] does not allow at the moment of
//! sending; nothing is stored that did not pass the cleaning of an import; a text that was taken back is erased
//! here. No answer of a server can make a client loop, grow without bound or touch own rows that it did not
//! share. Hooks never come here.

mod apply;
mod gzip_body;
mod instruction_shape;
mod leaving;
mod member_names;
mod pull;
mod push;
mod reconcile;
pub mod record_body;
mod mark_outgoing;
mod server;
mod share_marks;
mod share_rules;
mod sharing_error;
mod store_access;
mod sync_engine;
mod sync_status;
mod team_file;
mod team_http_client;

pub use instruction_shape::reads_like_instruction;
pub use leaving::{
    erase_others, forget_space, forget_team, has_own_records, purge_team, remove_record, take_back_spaces,
};
pub use reconcile::count_differences;
pub use server::{RecordsQuery, TeamServer};
pub use share_marks::KEEP_BACK;
pub use share_rules::{KeepReason, ShareRules, ShareVerdict, share_verdict};
pub use sharing_error::SharingError;
pub use store_access::StoreAccess;
pub use sync_engine::{SyncEngine, SyncOptions, SyncReport};
pub use sync_status::{health_after_error, health_after_round};
pub use team_file::{TEAM_VARIABLE, TeamFile, load_team, remove_team, save_team, team_from_link};
pub use team_http_client::{TeamHttpClient, join_team};

#[cfg(any(test, feature = "testing"))]
#[path = "tests/reference_server.rs"]
pub mod reference_server;
#[cfg(test)]
#[path = "tests/faulty_connection.rs"]
mod faulty_connection;
#[cfg(test)]
mod service_tests;
#[cfg(test)]
mod simulator_tests;
#[cfg(test)]
mod sync_refusal_tests;
#[cfg(test)]
mod sync_tests;
