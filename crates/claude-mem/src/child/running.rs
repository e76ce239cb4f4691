//! A child that runs.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::{ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use super::identity::Identity;

/// A running child, leader of its own process group. Dropping it kills the group.
#[derive(Debug)]
pub struct Child {
    pub(super) inner: std::process::Child,
    pub(super) identity: Identity,
    /// Its line in the register.
    pub(super) entry: PathBuf,
    pub(super) ended: Option<ExitStatus>,
}

impl Child {
    pub const fn identity(&self) -> Identity {
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

    /// Waits for the end, but no longer than this. `None` means that it still runs.
    pub fn wait(&mut self, deadline: Duration) -> io::Result<Option<ExitStatus>> {
        if self.ended.is_none() && self.has_ended_within(deadline)? {
            self.ended = Some(self.inner.wait()?);
            self.forget();
        }
        Ok(self.ended)
    }

    fn has_ended_within(&mut self, deadline: Duration) -> io::Result<bool> {
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

    /// Lets it end by itself for a while (its input should be closed by now), then kills it.
    pub fn stop(mut self, grace: Duration) {
        if !matches!(self.wait(grace), Ok(Some(_))) {
            self.kill();
        }
    }

    /// Kills the process group and buries its leader.
    pub fn kill(&mut self) {
        if self.ended.is_some() {
            return;
        }
        let group = Pid::from_child(&self.inner);
        if kill_process_group(group, Signal::KILL).is_err() {
            // No group means that it has ended; a leader that is left is killed alone.
            drop(self.inner.kill());
        }
        self.ended = self.inner.wait().ok();
        self.forget();
    }

    fn forget(&self) {
        // What stays behind is removed by the next reaping.
        drop(fs::remove_file(&self.entry));
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}
