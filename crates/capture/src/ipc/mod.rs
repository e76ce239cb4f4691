//! The connection between hooks, commands and the worker.
//!
//! Hooks use a [`worker_link::WorkerLink`], whose waits are bounded; commands use
//! [`client::send_request`]. [`pidfile::WorkerFile`] and [`lock`] say which worker runs, and [`spawn`]
//! starts one.
//!
//! Invariant: requests go only to, and replies come only from, processes of the same user.

pub mod client;
pub mod lock;
pub mod peer;
pub mod pidfile;
pub mod recall_reply;
pub mod spawn;
pub mod worker_link;
