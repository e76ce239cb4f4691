//! The worker: one process per data directory that turns queued events into memories and serves
//! the viewer.
//!
//! In: a wake-up over the Unix socket, a slow poll. Out: settled events, rows, backups.
//!
//! - `lifecycle` starts and ends it: `lock` (exactly one), `pidfile` (which one), `socket` (how
//!   to reach it), `spawn` (how others start it).
//! - `drain` works: it takes episodes off the queue (`episodes`, `work`), lets a compressor make
//!   memories of them, leaves out what was said already (`similar`) and marks what no longer
//!   holds (`replace`).
//! - `warm` answers those who look something up, again and again.
//! - `http` serves the API and the viewer.
//! - `witness` fills in what no hook delivered, from the client's transcripts (`testimony`).
//! - `upkeep` looks after the store: backups, sweeps; `recover` puts a damaged one right.
//!
//! Invariant: killed at any point it loses nothing and stores nothing twice, and nothing of it
//! outlives it. Everything here can be missing: hooks write and commands read without it.

pub mod backups;
mod cite;
pub mod client;
pub mod compressor;
pub mod drain;
pub mod episodes;
pub mod executable;
pub mod http;
pub mod index;
pub mod lifecycle;
pub mod local;
pub mod lock;
pub mod modelled;
pub mod peer;
pub mod pidfile;
pub mod presence;
pub mod recover;
pub mod replace;
pub mod rows;
pub mod shared;
pub mod similar;
pub mod socket;
pub mod spawn;
pub mod sweep;
mod testimony;
pub mod told;
pub mod upkeep;
pub mod warm;
pub mod witness;
pub mod work;
pub mod worker;

#[cfg(test)]
pub(crate) mod testing;
