//! The database: the only module that names PostgreSQL's tables.
//!
//! [`Database`] is the pool. Every request of a member is one transaction, [`Database::for_caller`]: it takes the
//! role that owns nothing, finds the device of the token and sets the caller for the rest of the transaction; then
//! row-level security decides what exists. The other modules hold one subject each.
//!
//! Invariants: SQL is constant text, so nothing of a request can become SQL. Statements are unnamed and
//! settings are local to the transaction, so a pooler between us and the database changes nothing.

mod audit;
mod caller;
mod connect;
mod for_caller;
mod invites;
mod members;
mod migrate;
mod operator;
mod proof;
mod pull;
mod push;
mod retract;
mod role;
mod spaces;
mod tables;
mod usage;
mod watch;
mod write;

pub(crate) use audit::audit_page;
pub(crate) use caller::{Caller, begin_snapshot};
pub(crate) use connect::{Database, POOL_SIZE};
pub(crate) use for_caller::TransactionKind;
pub(crate) use invites::{create_invite, join};
pub(crate) use members::{mark_seen, me, patch_member, revoke_device};
pub(crate) use migrate::{MigrationReport, migrate};
pub(crate) use operator::{ensure_team, new_admin_invite, new_generation};
pub(crate) use proof::prove_isolation;
pub(crate) use pull::{PageCursor, names_page, records_page};
pub(crate) use push::push;
pub(crate) use retract::retract_batch;
pub(crate) use spaces::{find_or_make_space, space_states};
pub(crate) use watch::read_heads;

#[cfg(test)]
#[path = "source_tests.rs"]
mod source_tests;
