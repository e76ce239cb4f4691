//! Leaving nothing behind: what runs in a sandbox is known by the sandbox's path in its
//! environment, which children inherit whatever else they do to hide.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::Sandbox;

/// A process that was started in the sandbox and still runs.
#[derive(Clone, Debug)]
pub struct Leftover {
    pub pid: i32,
    /// Its command line, words separated by spaces.
    pub command: String,
}

impl Sandbox {
    /// Processes of this sandbox that are running now, for tests that promise there are none.
    /// Where there is no `/proc`, only the worker of the pid file is seen.
    pub fn leftovers(&self) -> Vec<Leftover> {
        let pids: Vec<i32> = match fs::read_dir("/proc") {
            Ok(entries) => entries
                .flatten()
                .filter_map(|e| e.file_name().to_str()?.parse().ok())
                .collect(),
            Err(_) => return self.worker_of_pid_file().into_iter().collect(),
        };
        pids.into_iter()
            .filter_map(|pid| self.is_ours(pid))
            .collect()
    }

    /// Waits until no process of this sandbox runs; otherwise says which do.
    pub fn alone_within(&self, limit: Duration) -> Result<(), Vec<Leftover>> {
        let deadline = Instant::now() + limit;
        loop {
            let leftovers = self.leftovers();
            if leftovers.is_empty() {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(leftovers);
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Panics if a process of this sandbox is still there after a generous while.
    #[track_caller]
    pub fn assert_alone(&self) {
        let left = self.alone_within(Duration::from_secs(ALONE_SECONDS_MAX));
        assert!(left.is_ok(), "still running: {left:?}");
    }

    fn is_ours(&self, pid: i32) -> Option<Leftover> {
        let environ = fs::read(format!("/proc/{pid}/environ")).ok()?;
        let root = self.home.parent()?.as_os_str().as_bytes();
        let ours = environ.windows(root.len()).any(|window| window == root);
        let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let command = String::from_utf8_lossy(&command)
            .replace('\0', " ")
            .trim()
            .to_owned();
        ours.then_some(Leftover { pid, command })
    }

    fn worker_of_pid_file(&self) -> Option<Leftover> {
        let text = fs::read_to_string(self.data_dir().join("worker.pid")).ok()?;
        let pid = text
            .split(|c: char| !c.is_ascii_digit())
            .find_map(|word| word.parse().ok())?;
        Some(Leftover {
            pid,
            command: "worker".to_owned(),
        })
    }

    fn stop_worker(&self) {
        let exe_is_there = self.exe.as_ref().is_some_and(|exe| exe.is_file());
        if exe_is_there && self.data_dir().join("worker.pid").exists() {
            drop(self.mem(&["worker", "stop"]));
        }
    }

    /// Kills until nobody is left: a process may have forked while we were looking, and one
    /// that was killed takes a moment to go.
    fn kill_leftovers(&self) {
        let deadline = Instant::now() + Duration::from_secs(ALONE_SECONDS_MAX);
        while Instant::now() < deadline {
            for pid in self
                .leftovers()
                .iter()
                .filter_map(|left| Pid::from_raw(left.pid))
            {
                // It may have ended in between.
                let _ = kill_process(pid, Signal::KILL);
            }
            if self.alone_within(LOOK_EVERY).is_ok() {
                return;
            }
        }
    }
}

const ALONE_SECONDS_MAX: u64 = 10;
const LOOK_EVERY: Duration = Duration::from_millis(10);

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
