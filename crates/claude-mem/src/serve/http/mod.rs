//! The HTTP API and the viewer, for their owner alone.
//!
//! In: requests to 127.0.0.1. Out: JSON, the page, and a stream of what happens.
//!
//! - `table` lists every route once; the router, the guard's tests and the OpenAPI document are
//!   made from it.
//! - `guard` turns away whoever is not the owner: every request passes it, also those to routes
//!   that do not exist. `keys` holds the tokens.
//! - one file per noun of routes; they read through `readers` and write through the worker's one
//!   writing connection, on threads where waiting is allowed.
//! - `stream` tells pages what happens, at the pace of each; `watch` finds out what that is.
//!
//! Invariant: no answer without the guard's consent, no state change by GET, no secret in an
//! answer, a limit on every size, number and wait. Absent on purpose: cookies, CORS, SQL.

mod api;
mod bundle;
mod call;
mod capture;
mod context;
mod door;
mod feed;
mod figures;
mod guard;
mod health;
mod import;
pub mod keys;
mod ledger;
mod lists;
mod memory;
mod observations;
mod openapi;
mod page;
mod pause;
mod pipe;
mod problem;
mod projects;
mod queue;
mod readers;
mod route;
mod rows;
mod search;
mod server;
mod sessions;
mod settings;
mod stats;
mod stream;
mod table;
mod tokens;
mod watch;

pub use keys::Keys;
pub use server::{Server, bind};

#[cfg(test)]
mod contract_tests;
#[cfg(test)]
mod fits;
#[cfg(test)]
mod guard_tests;
#[cfg(test)]
mod list_tests;
#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod stream_tests;
#[cfg(test)]
mod testing;
