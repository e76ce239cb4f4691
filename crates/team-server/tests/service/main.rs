//! The service over HTTP, on real PostgreSQL clusters.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops where its setup fails")]

mod faults;
mod full_disk;
mod isolation;
mod isolation_routes;
mod isolation_tables;
mod members;
mod program;
mod proxy;
mod records;
mod start;
mod support;
mod tls;
