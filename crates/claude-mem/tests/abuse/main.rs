//! What must never reach the disk, sought there byte by byte; and what must never break a search.

#![allow(
    clippy::expect_used,
    reason = "what a test cannot do without, it stops for"
)]

#[path = "../common/mod.rs"]
mod common;

mod hostile;
mod private;
mod queries;
mod secrets;
