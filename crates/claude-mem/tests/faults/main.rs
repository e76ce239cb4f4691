//! Fault tests: failing models and children, killed processes, locked or corrupt databases, full disks.
//!
//! The short form runs with all tests; `CLAUDE_MEM_FAULTS=long`, set by `cargo xtask faults`, runs the full
//! iteration counts.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "../common/mod.rs"]
mod common;

mod broken_store;
mod children;
mod claude_child;
mod full_disk;
mod held_up;
mod killed_consolidation;
mod killed_worker;
mod many;
mod real_claude;
mod support;
mod team;
mod vectors;

/// The iteration count for the selected form.
fn short_or_long(short: usize, long: usize) -> usize {
    match std::env::var("CLAUDE_MEM_FAULTS").as_deref() {
        Ok("long") => long,
        _ => short,
    }
}
