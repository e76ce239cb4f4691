//! What goes wrong around us: models, children, processes that die, machines that misbehave.
//!
//! The short form runs with all tests; `CLAUDE_MEM_FAULTS=long`, as `cargo xtask faults` sets it,
//! runs the full numbers.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot be set up has failed"
)]

#[path = "../common/mod.rs"]
mod common;

mod broken_store;
mod children;
mod claude_child;
mod full_disk;
mod killed_worker;
mod many;
mod real_claude;
mod support;
mod vectors;

/// The number for the form that was asked for.
fn short_or_long(short: usize, long: usize) -> usize {
    match std::env::var("CLAUDE_MEM_FAULTS").as_deref() {
        Ok("long") => long,
        _ => short,
    }
}
