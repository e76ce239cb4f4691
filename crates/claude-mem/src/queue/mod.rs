//! The durable inbox between hooks and the compressor.
//!
//! In: one event per hook call. Out: leases taken by the worker, one session at a time.
//!
//! Invariant: an accepted event is waiting, leased, done or dead, and every change of state is
//! one transaction. Within a session events are leased in the order in which their hooks
//! started. Absent on purpose: SQL (`store::queue` applies these rules), the model, any clock.

mod machine;

pub use machine::{Entry, LeaseId, State, fail, leasable, lease, retry, settle};

#[cfg(test)]
mod simulator_tests;
