//! Finds and stops the worker of the earlier program, a process that keeps its database open.
//!
//! The hooks of that program start it, also in sessions that were opened before the hooks were
//! removed from the settings. So it is found by its open files, not only by its pid file.

use std::io;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;

use claude_mem_core::limits::END_STEP_SECONDS;
use claude_mem_core::paths::DataDir;
use claude_mem_core::platform;

/// Part of its command line in all of its versions.
const WORKER_SCRIPT: &str = "worker-service";

/// The earlier program's workers that use this data directory.
pub fn find_running(data: &DataDir) -> Vec<Pid> {
    let noted = recorded_pid(data);
    let uses =
        |pid: Pid| noted == Some(pid) || platform::has_open_files(pid.as_raw_nonzero().get(), data.root());
    let workers =
        platform::command_lines().into_iter().filter(|(_, command)| command.contains(WORKER_SCRIPT));
    workers.filter_map(|(pid, _)| Pid::from_raw(pid)).filter(|pid| uses(*pid)).collect()
}

/// Stops them all, with SIGTERM first and SIGKILL if that does not help.
pub fn stop_all(data: &DataDir) -> io::Result<usize> {
    let found = find_running(data);
    for signal in [Signal::TERM, Signal::KILL] {
        for pid in &found {
            match kill_process(*pid, signal) {
                // The process has ended meanwhile.
                Err(rustix::io::Errno::SRCH) => {}
                sent => sent?,
            }
        }
        if wait_until_gone(&found) {
            return Ok(found.len());
        }
    }
    Err(io::Error::other("the earlier program's worker does not stop"))
}

/// Waits until the processes have ended. False if they do not in time.
fn wait_until_gone(processes: &[Pid]) -> bool {
    let until = Instant::now() + Duration::from_secs(END_STEP_SECONDS);
    while processes.iter().any(|pid| is_legacy_worker(*pid)) {
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

/// Checks the command line, because a pid may have been reused. An ended process has none.
fn is_legacy_worker(pid: Pid) -> bool {
    let command = platform::command_line(pid.as_raw_nonzero().get());
    command.is_some_and(|command| command.contains(WORKER_SCRIPT))
}

/// The pid in its pid file, which has the name of ours and another format.
fn recorded_pid(data: &DataDir) -> Option<Pid> {
    /// The part of its pid file that we read.
    #[derive(Deserialize)]
    struct LegacyPidFile {
        pid: i32,
    }
    let text = claude_mem_core::paths::read_file(&data.worker_pid()).ok()?;
    let its: LegacyPidFile = serde_json::from_slice(&text).ok()?;
    Pid::from_raw(its.pid)
}
