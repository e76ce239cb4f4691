//! The checks behind `claude-mem doctor`: what is wrong, and the command that fixes it.
//!
//! [`run_checks`] runs every check on a [`DoctorContext`], which the caller gathers, and returns
//! one or more [`DoctorFinding`]s per check. A check examines one thing and changes nothing. A
//! problem that needs no decision by the user names its [`AutoFix`], which `cli` carries out.
//!
//! Invariant: a check that cannot examine its subject reports that as a finding; no check fails or
//! blocks for long.

mod agents;
mod checks;
mod client;
mod context;
mod directory;
mod finding;
mod flow;
mod program;
mod provider;
mod store;
mod team;
mod worker;

pub use checks::{DOCTOR_ONLY_CHECKS, run_checks, run_local_checks, run_update_checks};
pub use client::settings_without_hooks;
pub(crate) use context::manifest_paths;
pub use context::{DoctorContext, WorkerProbe};
pub use directory::private_paths;
pub use finding::{AutoFix, DoctorFinding, FindingLevel};
