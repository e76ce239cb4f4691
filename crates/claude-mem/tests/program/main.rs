//! Program tests: run the real executable in a sandboxed HOME and check its whole output.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a failed setup should stop the test")]

#[path = "../common/mod.rs"]
mod common;

mod agent_hooks;
mod agent_import;
mod agent_install;
mod agents;
mod answers;
mod broken_input;
mod client;
mod config;
mod edit;
mod export;
mod doctor;
mod first_names;
mod health;
mod help;
mod hooks;
mod import;
mod install;
mod json_shapes;
mod marks;
mod models;
mod off;
mod one_memory;
mod pause;
mod plugin;
mod project;
mod projects;
mod queue;
mod recall;
mod redo;
mod search;
mod sessions;
mod status;
mod team;
mod team_admin;
mod team_client;
mod team_serve;
mod three_days;
mod update;
mod viewer;
mod worker;
mod wording;
mod worker_settings;
