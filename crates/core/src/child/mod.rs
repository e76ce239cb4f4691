//! Child processes that never outlive us.
//!
//! A [`SpawnRequest`] sent to a [`ChildSpawner`] gives a [`ChildProcess`] with its three streams.
//!
//! Invariant: a child dies with the process that requested it, however that process ends. Three
//! mechanisms ensure it. The kernel kills a child when its parent thread ends (`PDEATHSIG`), so all
//! children are started from one thread that lives as long as the process, through a shim that
//! requests this before it executes the program. Dropping a [`ChildProcess`] kills its process
//! group. And every child is in an on-disk [`ChildRegistry`] by pid and start time, so that a later
//! process can kill what the first two missed.
//!
//! Clients and compressors are started here. Programs that must outlive us (the worker, a browser)
//! or share the terminal (an editor, our own commands during an installation) are started by their
//! callers.

mod identity;
mod register;
mod run;
mod running;
mod shim;
mod spawner;

pub use identity::ProcessIdentity;
pub use register::{ChildRegistry, ReapedChild};
pub use run::{ChildOutput, run};
pub use running::ChildProcess;
pub use shim::shim;
pub use spawner::{ChildSpawner, SpawnRequest};
