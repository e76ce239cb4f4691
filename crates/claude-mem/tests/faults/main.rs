//! What goes wrong around us: models, children, processes that die.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

mod children;
mod claude_child;
mod real_claude;
mod support;
