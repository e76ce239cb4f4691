//! The rules of the durable queue between hooks and the compressor.
//!
//! A hook call adds one event; the worker leases the events of one session at a time, then settles
//! or fails them. The functions here map a [`QueueEntry`] to its next state; `store::queue` applies
//! them to rows.
//!
//! Invariant: an accepted event is waiting, leased, done or dead, and every change of state is one
//! transaction. Within a session, events are leased in the order in which their hooks started.
//! There is no SQL, no model call and no clock in here.

mod machine;

pub use machine::{LeaseId, QueueEntry, QueueState, fail, leasable_count, lease, retry, settle};

#[cfg(test)]
mod simulator_tests;
