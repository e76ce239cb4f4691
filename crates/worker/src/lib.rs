//! The worker: one process per data directory that turns queued events into memories and serves
//! the HTTP API and the viewer. A hook wakes it over a Unix socket; a slow poll covers missed
//! wake-ups.
//!
//! [`run`] takes [`WorkerOptions`], holds the worker lock (at most one worker), starts the
//! scheduler, the indexer, maintenance, the socket and the HTTP server, and shuts them down
//! gracefully for a [`ShutdownReason`]. `worker::WorkerContext` is the state they share,
//! `http::HttpServer` the API and the viewer.
//!
//! Invariant: a worker killed at any point loses no event and stores none twice, and none of its
//! child processes outlives it. The worker is optional: hooks write and commands read without it.

mod access_tokens;
mod embedding_backfill;
mod engine_pool;
mod executable;
mod http;
mod idle;
mod index_signal;
mod indexer_thread;
mod lifecycle;
mod limits;
mod maintenance;
mod page_token_file;
mod recall_handler;
mod retention;
mod shutdown_reason;
mod shutdown_timer;
mod socket;
mod team_pause;
mod team_signal;
mod team_thread;
mod team_waiter;
mod worker;
mod worker_settings;

pub use access_tokens::{read_or_create_token, rotate_token_file};
pub use lifecycle::{WorkerError, WorkerOptions, run};
pub use shutdown_reason::ShutdownReason;
pub use worker::WorkerStatus;
pub use worker_settings::conservative_retention;
