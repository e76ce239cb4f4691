//! The worker's HTTP server: the JSON API, the viewer page and a stream of server-sent events.
//!
//! [`bind`] takes a port on 127.0.0.1 and [`HttpServer`] answers requests on it.
//!
//! - One table lists every route. The router, the guard's tests and the OpenAPI document are
//!   generated from it.
//! - The guard checks every request, also those that match no route. `AccessTokens` holds the
//!   tokens it accepts.
//! - Handlers stand in one file per resource. They run on blocking threads, read through the
//!   `ReaderPool` and write through the worker's single writing connection.
//! - `ChangeWatcher` finds what changed in the database, and the event stream sends it to each
//!   page at the pace at which that page reads.
//!
//! Invariant: the guard approves every request before it is answered, GET changes no state, no
//! response contains a secret, and every size, count and wait has a limit. Deliberately absent:
//! cookies, CORS headers and SQL.

mod accounts;
mod agent_stats;
mod agent_stats_view;
mod api;
mod assets;
mod bulk;
mod capture;
mod context;
mod decision_conflicts;
mod dispatch;
mod duplicate_titles;
mod feed;
mod guard;
mod handler_request;
mod health;
mod health_findings;
mod import;
mod ledger;
mod list_params;
mod listener;
mod lists;
mod lookup;
mod memory;
mod missing_files;
mod observations;
mod openapi;
mod paging;
mod pause;
mod problem;
mod projects;
mod provenance;
mod queue;
mod reader_pool;
mod recall_preview;
mod review;
mod route;
mod routes;
mod rows;
mod search;
mod server;
mod sessions;
mod settings;
mod socket_owner;
mod stats;
mod stats_cache;
mod stream;
mod stream_event;
mod team;
mod timed_cache;
mod tokens;
mod turns;
mod usage;
mod view_builder;
mod watch;

pub(crate) use server::{HttpServer, bind};

#[cfg(test)]
#[path = "../../build/bundle.rs"]
mod bundle;
#[cfg(test)]
mod contract_tests;
#[cfg(test)]
mod schema_check_tests;
#[cfg(test)]
mod guard_tests;
#[cfg(test)]
mod list_tests;
#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod review_tests;
#[cfg(test)]
mod stream_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod viewer_tests;
