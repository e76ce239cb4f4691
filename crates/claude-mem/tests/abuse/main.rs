//! Abuse tests: private text and secrets must not reach the disk (checked byte by byte), and hostile
//! queries must not break search.

#![allow(clippy::expect_used, reason = "what a test cannot do without, it stops for")]

#[path = "../common/mod.rs"]
mod common;

mod canary_walk;
mod hostile;
mod private;
mod queries;
mod secrets;
mod short_fields;
mod team;
