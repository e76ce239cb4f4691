//! [`ChildProcess`]: a running child.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::{ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use super::identity::ProcessIdentity;
use crate::platform;

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
        if self.exit_status.is_none() && platform::wait_for_exit(&mut self.inner, deadline)? {
            self.exit_status = Some(self.inner.wait()?);
            self.unregister();
        }
        Ok(self.exit_status)
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
