//! The worker of the earlier program: a process of its own that holds its database open.
//!
//! Its hooks start it, also those of sessions that were opened before the hooks were taken out of
//! the settings. So it is looked for by what it does, not only by the number it has noted.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;

use crate::limits::END_STEP_SECONDS;
use crate::paths::DataDir;

/// What stands in its command line, whichever of its versions it is.
const SCRIPT: &str = "worker-service";

/// Its workers that use this directory.
pub fn running(data: &DataDir) -> Vec<Pid> {
    let noted = noted(data);
    let uses = |pid: Pid| noted == Some(pid) || has_open(pid, data.root());
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let numbers = processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .filter_map(Pid::from_raw)
        .filter(|pid| is_its(*pid) && uses(*pid))
        .collect()
}

/// Ends them all: asked first, and not asked again where that does not help.
pub fn end(data: &DataDir) -> io::Result<usize> {
    let found = running(data);
    for signal in [Signal::TERM, Signal::KILL] {
        for pid in &found {
            match kill_process(*pid, signal) {
                // It ended meanwhile.
                Err(rustix::io::Errno::SRCH) => {}
                sent => sent?,
            }
        }
        if are_gone(&found) {
            return Ok(found.len());
        }
    }
    Err(io::Error::other(
        "the earlier program's worker does not end",
    ))
}

fn are_gone(processes: &[Pid]) -> bool {
    let until = Instant::now() + Duration::from_secs(END_STEP_SECONDS);
    while processes.iter().any(|pid| is_its(*pid)) {
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

/// A number may belong to anybody by now; a process that has ended has no command line.
fn is_its(pid: Pid) -> bool {
    let command = std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero()));
    command.is_ok_and(|command| String::from_utf8_lossy(&command).contains(SCRIPT))
}

/// It notes its number in a file of the same name as ours, with other words around it.
fn noted(data: &DataDir) -> Option<Pid> {
    #[derive(Deserialize)]
    struct Its {
        pid: i32,
    }
    let text = std::fs::read(data.worker_pid()).ok()?;
    let its: Its = serde_json::from_slice(&text).ok()?;
    Pid::from_raw(its.pid)
}

/// Files of other users' processes cannot be seen, and are none of ours.
fn has_open(pid: Pid, below: &Path) -> bool {
    let Ok(files) = std::fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero())) else {
        return false;
    };
    let mut files = files.flatten();
    files.any(|file| std::fs::read_link(file.path()).is_ok_and(|path| path.starts_with(below)))
}
