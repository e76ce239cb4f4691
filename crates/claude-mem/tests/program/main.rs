//! The real executable in a sandboxed HOME, its whole output as the client or a person sees it.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot set its stage stops and says where"
)]

#[path = "../common/mod.rs"]
mod common;

mod answers;
mod broken_input;
mod client;
mod config;
mod edit;
mod export;
mod doctor;
mod first_names;
mod help;
mod hooks;
mod import;
mod install;
mod marks;
mod models;
mod off;
mod pause;
mod plugin;
mod project;
mod projects;
mod queue;
mod recall;
mod search;
mod status;
mod viewer;
mod worker;
