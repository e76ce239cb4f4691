//! Programs that we start, and that never outlive us.
//!
//! In: an `Order`. Out: a `Child` with its three streams.
//!
//! Invariant: a child dies with the process that ordered it, however that process ends. Three
//! things see to it. The kernel kills a child when the thread that started it ends, so all are
//! started from one thread that lives as long as the process, through a shim that asks for this
//! before it becomes the program. Dropping a `Child` kills its process group. And every child
//! stands in a register on disk by pid and start time, so that a later process can end what the
//! first two should have. This is the only place of the product that starts programs.

mod identity;
mod register;
mod run;
mod running;
mod shim;
mod spawner;

pub use identity::Identity;
pub use register::{Reaped, Register};
pub use run::{Ended, run};
pub use running::Child;
pub use shim::shim;
pub use spawner::{Order, Spawner};
