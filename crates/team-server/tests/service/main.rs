//! The service over HTTP, on real PostgreSQL clusters.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops where its setup fails")]

mod faults;
mod figures;
mod isolation;
mod members;
mod program;
mod records;
mod start;
mod support;
mod tls;
