//! `worker.pid`: who the worker is, for those who want to find or end it.
//!
//! The lock says whether there is a worker; this file says which. It may be left over from a
//! killed one, and its number may belong to another process by now: the start time tells.

use std::io;
use std::path::{Path, PathBuf};

use rustix::process::Pid;
use serde::{Deserialize, Serialize};

use crate::clock::Millis;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerFile {
    pub pid: u32,
    /// The kernel's start time of that process, in its own ticks since boot.
    pub started_ticks: Option<u64>,
    pub since: Millis,
    pub version: String,
    pub socket: PathBuf,
    /// Of the viewer and the API, once they listen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
}

impl WorkerFile {
    /// This process.
    pub fn of_self(socket: PathBuf, since: Millis) -> Self {
        let pid = std::process::id();
        Self {
            pid,
            started_ticks: started_ticks(pid),
            since,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            socket,
            port: None,
        }
    }

    /// Readers find the whole file or the one before it.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let unfinished = path.with_extension("pid.new");
        // Left by a process that was killed between these lines.
        match std::fs::remove_file(&unfinished) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        let mut file = crate::paths::create_file(&unfinished)?;
        serde_json::to_writer(&mut file, self)?;
        std::fs::rename(&unfinished, path)
    }

    /// `Ok(None)`: there is none, or none that reads.
    pub fn read(path: &Path) -> io::Result<Option<Self>> {
        match std::fs::read(path) {
            Ok(text) => Ok(serde_json::from_slice(&text).ok()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// True if the process that wrote it lives; another one of the same number does not count.
    pub fn is_alive(&self) -> bool {
        match (self.started_ticks, started_ticks(self.pid)) {
            (Some(then), Some(now)) => then == now,
            (Some(_), None) => false,
            // No process table to look into: the number is all there is.
            (None, _) => self
                .process()
                .is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok()),
        }
    }

    pub fn process(&self) -> Option<Pid> {
        i32::try_from(self.pid).ok().and_then(Pid::from_raw)
    }
}

/// Field 22 of `/proc/PID/stat`. The second field is a name that may hold anything, in brackets.
/// One that has ended and only waits to be noticed by its parent is not there any more.
pub fn started_ticks(pid: u32) -> Option<u64> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_ascii_whitespace();
    if matches!(fields.next(), Some("Z" | "X")) {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
#[path = "pidfile_tests.rs"]
mod tests;
