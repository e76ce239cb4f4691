//! Finds and ends the processes of a sandbox.
//!
//! A process belongs to the sandbox if its environment contains the sandbox's path, which even
//! detached children inherit.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::Sandbox;

/// A process of the sandbox that still runs.
#[derive(Clone, Debug)]
pub struct LeftoverProcess {
    pub pid: i32,
    /// Its command line, words separated by spaces.
    pub command: String,
}

impl Sandbox {
    /// The running processes of this sandbox. Without `/proc`, only the worker of the pid file is
    /// found.
    pub fn leftovers(&self) -> Vec<LeftoverProcess> {
        let pids: Vec<i32> = match fs::read_dir("/proc") {
            Ok(entries) => entries.flatten().filter_map(|e| e.file_name().to_str()?.parse().ok()).collect(),
            Err(_) => return self.worker_from_pid_file().into_iter().collect(),
        };
        pids.into_iter().filter_map(|pid| self.owned_process(pid)).collect()
    }

    /// Waits until no process of this sandbox runs; returns the remaining ones on timeout.
    pub fn wait_until_no_processes(&self, limit: Duration) -> Result<(), Vec<LeftoverProcess>> {
        let deadline = Instant::now() + limit;
        loop {
            let leftovers = self.leftovers();
            if leftovers.is_empty() {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(leftovers);
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Panics if a process of this sandbox still runs after a generous timeout.
    #[track_caller]
    pub fn assert_no_processes(&self) {
        let left = self.wait_until_no_processes(Duration::from_secs(PROCESS_EXIT_SECONDS_MAX));
        assert!(left.is_ok(), "still running: {left:?}");
    }

    fn owned_process(&self, pid: i32) -> Option<LeftoverProcess> {
        let environ = fs::read(format!("/proc/{pid}/environ")).ok()?;
        let root = self.home.parent()?.as_os_str().as_bytes();
        let ours = environ.windows(root.len()).any(|window| window == root);
        let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let command = String::from_utf8_lossy(&command).replace('\0', " ").trim().to_owned();
        ours.then_some(LeftoverProcess { pid, command })
    }

    fn worker_from_pid_file(&self) -> Option<LeftoverProcess> {
        let text = fs::read_to_string(self.data_dir().join("worker.pid")).ok()?;
        let pid = text.split(|c: char| !c.is_ascii_digit()).find_map(|word| word.parse().ok())?;
        Some(LeftoverProcess { pid, command: "worker".to_owned() })
    }

    fn stop_worker(&self) {
        let exe_is_there = self.exe.as_ref().is_some_and(|exe| exe.is_file());
        if exe_is_there && self.data_dir().join("worker.pid").exists() {
            drop(self.mem(&["worker", "stop"]));
        }
    }

    /// Kills until no process is left: a process may fork during the scan, and a killed one takes a
    /// moment to disappear.
    fn kill_leftovers(&self) {
        let deadline = Instant::now() + Duration::from_secs(PROCESS_EXIT_SECONDS_MAX);
        while Instant::now() < deadline {
            for pid in self.leftovers().iter().filter_map(|left| Pid::from_raw(left.pid)) {
                // It may have exited in between.
                let _ = kill_process(pid, Signal::KILL);
            }
            if self.wait_until_no_processes(POLL_INTERVAL).is_ok() {
                return;
            }
        }
    }
}

const PROCESS_EXIT_SECONDS_MAX: u64 = 10;
const POLL_INTERVAL: Duration = Duration::from_millis(10);

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.stop_worker();
        self.kill_leftovers();
        if std::env::var_os("CLAUDE_MEM_RIG_KEEP").is_some() {
            let kept = self.root.take().map(tempfile::TempDir::keep);
            println!("kept: {}", kept.unwrap_or_default().display());
        }
    }
}
