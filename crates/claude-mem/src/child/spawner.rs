//! The one thread that starts children.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;

use super::identity::Identity;
use super::register::Register;
use super::running::Child;

/// What to start.
#[derive(Clone, Debug)]
pub struct Order {
    /// A path, or a name to look for on the environment's `PATH`.
    pub program: OsString,
    pub args: Vec<OsString>,
    /// The whole environment: nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    pub directory: PathBuf,
}

/// Starts children on behalf of all threads. They die when the last handle is gone, as they do
/// when the process ends.
#[derive(Clone, Debug)]
pub struct Spawner {
    orders: mpsc::Sender<(Order, mpsc::Sender<io::Result<Child>>)>,
}

impl Spawner {
    /// `executable` is this program, for its `child` command. `/proc/self/exe` survives an update
    /// of the file.
    pub fn start(executable: PathBuf, register: Register) -> io::Result<Self> {
        let (orders, inbox) = mpsc::channel::<(Order, mpsc::Sender<io::Result<Child>>)>();
        let work = move || {
            for (order, reply) in inbox {
                // Nobody waits any more: dropping the child ends it.
                drop(reply.send(spawn(&executable, &register, &order)));
            }
        };
        std::thread::Builder::new()
            .name("children".into())
            .spawn(work)?;
        Ok(Self { orders })
    }

    pub fn spawn(&self, order: Order) -> io::Result<Child> {
        let gone = || io::Error::other("the thread that starts children has ended");
        let (reply, result) = mpsc::channel();
        self.orders.send((order, reply)).map_err(|_| gone())?;
        result.recv().map_err(|_| gone())?
    }
}

fn spawn(executable: &PathBuf, register: &Register, order: &Order) -> io::Result<Child> {
    #[allow(
        clippy::disallowed_methods,
        reason = "this is the register of children"
    )]
    let mut command = Command::new(executable);
    command
        .args(["child", "--parent", &std::process::id().to_string(), "--"])
        .arg(&order.program)
        .args(&order.args)
        .env_clear()
        .envs(order.env.iter().map(|(name, value)| (name, value)))
        .current_dir(&order.directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let inner = command.spawn()?;
    // It is not buried before we wait for it, so its pid is certainly still its own.
    let start_ticks = Identity::of_child(inner.id()).map_or(0, |child| child.start_ticks);
    let identity = Identity {
        pid: inner.id(),
        start_ticks,
    };
    let mut child = Child {
        inner,
        identity,
        entry: PathBuf::new(),
        ended: None,
    };
    child.entry = register.add(identity)?;
    Ok(child)
}
