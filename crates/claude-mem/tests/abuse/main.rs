//! What must never reach the disk, sought there byte by byte.

#![allow(
    clippy::expect_used,
    reason = "what a test cannot do without, it stops for"
)]

#[path = "../common/mod.rs"]
mod common;

mod private;
mod secrets;
