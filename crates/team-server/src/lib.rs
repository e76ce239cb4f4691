//! The team server: a stateless HTTP service in front of PostgreSQL, through which members' machines share
//! memory.
//!
//! [`serve`] runs it with [`ServeOptions`]; [`RunningServer`] is the same without signals. Any number of replicas
//! run beside each other on one database. The server stores records as its clients send them and does not
//! understand them; the protocol is in [`claude_mem_wire`].
//!
//! Invariant: tenants are isolated twice. The service checks every request, and the database shows a
//! transaction only the rows of the member that it was begun for; the service proves this at its start and
//! does not run otherwise.

mod db;
mod error;
mod http;
mod log;
mod options;
mod random;
mod rate;
mod server;
mod trial;
mod wait;

pub use error::StartError;
pub use options::ServeOptions;
pub use server::{ReadyReport, RunningServer, make_admin_link, renew_generation, serve};
pub use trial::TrialCluster;
