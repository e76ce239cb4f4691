//! [`ChildSpawner`]: the one thread that starts children.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;

use super::identity::ProcessIdentity;
use super::register::ChildRegistry;
use super::running::ChildProcess;

/// The program to start.
#[derive(Clone, Debug)]
pub struct SpawnRequest {
    /// A path, or a name to look up in the environment's `PATH`.
    pub program: OsString,
    pub args: Vec<OsString>,
    /// The whole environment: nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    pub directory: PathBuf,
}

/// Starts children on behalf of all threads. They die when the last handle is dropped or the
/// process ends.
#[derive(Clone, Debug)]
pub struct ChildSpawner {
    requests: mpsc::Sender<(SpawnRequest, mpsc::Sender<io::Result<ChildProcess>>)>,
}

impl ChildSpawner {
    /// `executable` is this program, for its `child` command. `platform::own_executable`
    /// survives an update of the file where the system allows that.
    pub fn start(executable: PathBuf, register: ChildRegistry) -> io::Result<Self> {
        let (orders, inbox) = mpsc::channel::<(SpawnRequest, mpsc::Sender<io::Result<ChildProcess>>)>();
        let work = move || {
            for (order, reply) in inbox {
                // If the caller is gone, dropping the child kills it.
                drop(reply.send(spawn_registered(&executable, &register, &order)));
            }
        };
        std::thread::Builder::new().name("children".into()).spawn(work)?;
        Ok(Self { requests: orders })
    }

    /// Starts a program on the spawner's thread.
    pub fn spawn(&self, order: SpawnRequest) -> io::Result<ChildProcess> {
        let gone = || io::Error::other("the child spawner thread has exited");
        let (reply, result) = mpsc::channel();
        self.requests.send((order, reply)).map_err(|_| gone())?;
        result.recv().map_err(|_| gone())?
    }
}

fn spawn_registered(
    executable: &PathBuf,
    register: &ChildRegistry,
    order: &SpawnRequest,
) -> io::Result<ChildProcess> {
    #[allow(clippy::disallowed_methods, reason = "the only function that starts registered children")]
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
    // It is not reaped before we wait for it, so its pid is still its own.
    let start_ticks = ProcessIdentity::from_unreaped_pid(inner.id()).map_or(0, |child| child.start_ticks);
    let identity = ProcessIdentity { pid: inner.id(), start_ticks };
    let mut child = ChildProcess { inner, identity, registry_path: PathBuf::new(), exit_status: None };
    child.registry_path = register.add(identity)?;
    Ok(child)
}
