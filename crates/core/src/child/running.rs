//! [`ChildProcess`]: a running child.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::{ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use super::identity::ProcessIdentity;

/// A running child, leader of its own process group. Dropping it kills the group.
#[derive(Debug)]
pub struct ChildProcess {
    pub(super) inner: std::process::Child,
    pub(super) identity: ProcessIdentity,
    /// Its file in the registry.
    pub(super) registry_path: PathBuf,
    pub(super) exit_status: Option<ExitStatus>,
}

impl ChildProcess {
    pub const fn identity(&self) -> ProcessIdentity {
        self.identity
    }

    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.inner.stdin.take()
    }

    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.inner.stdout.take()
    }

    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.inner.stderr.take()
    }

    /// Waits until the child exits, at most for `deadline`. `None`: it is still running.
    pub fn wait(&mut self, deadline: Duration) -> io::Result<Option<ExitStatus>> {
        if self.exit_status.is_none() && self.has_exited_within(deadline)? {
            self.exit_status = Some(self.inner.wait()?);
            self.unregister();
        }
        Ok(self.exit_status)
    }

    fn has_exited_within(&mut self, deadline: Duration) -> io::Result<bool> {
        let handle = pidfd_open(Pid::from_child(&self.inner), PidfdFlags::empty())?;
        let until = Instant::now() + deadline;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).map_err(|_| io::ErrorKind::InvalidInput)?;
            let mut fds = [PollFd::new(&handle, PollFlags::IN)];
            match poll(&mut fds, Some(&left)) {
                Ok(count) => return Ok(count > 0),
                Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// Waits for `grace` (its input should be closed by now), then kills it.
    pub fn stop(mut self, grace: Duration) {
        if !matches!(self.wait(grace), Ok(Some(_))) {
            self.kill();
        }
    }

    /// Kills the process group and reaps its leader.
    pub fn kill(&mut self) {
        if self.exit_status.is_some() {
            return;
        }
        let group = Pid::from_child(&self.inner);
        if kill_process_group(group, Signal::KILL).is_err() {
            // Without a group it has exited; otherwise kill the leader alone.
            drop(self.inner.kill());
        }
        self.exit_status = self.inner.wait().ok();
        self.unregister();
    }

    fn unregister(&self) {
        // The next reap removes what could not be removed now.
        drop(fs::remove_file(&self.registry_path));
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.kill();
    }
}
