//! Registers claude-mem with clients, removes it again, and checks the installation.
//!
//! [`install`] plans and writes the entries in a client's files and records them in an
//! [`InstallManifest`](install::manifest::InstallManifest). [`doctor`] examines an installation and returns
//! [`DoctorFinding`](doctor::DoctorFinding)s. [`notices`] words what needs the user's attention, for every
//! place that shows it.
//!
//! Invariant: a client's file is understood before it is changed, copied before it is written, and restored
//! byte for byte when it is still as install left it.

pub mod doctor;
mod fixes;
pub mod install;
mod limits;
mod model_notice;
pub mod notices;
mod team_notice;
mod user_notice;
