//! `worker.pid`: identifies the running worker, for processes that contact or signal it.
//!
//! The lock decides whether a worker runs; [`WorkerFile`] says which process it is. The file may be
//! left over from a killed worker and its pid may have been reused, so the process start time is
//! compared as well.

use std::io;
use std::path::{Path, PathBuf};

use rustix::process::Pid;
use serde::{Deserialize, Serialize};

use claude_mem_core::child::ProcessIdentity;
use claude_mem_core::clock::Millis;
use claude_mem_core::paths::{read_file, replace_file_with};

/// Content of the pid file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerFile {
    pub pid: u32,
    /// Start time of the process, in kernel clock ticks since boot.
    pub started_ticks: Option<u64>,
    pub since: Millis,
    pub version: String,
    /// For people; a path that is not UTF-8 is shown as far as possible.
    #[serde(serialize_with = "serialize_lossily")]
    pub socket: PathBuf,
    /// Port of the viewer and the API, once they listen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
}

impl WorkerFile {
    /// Describes the current process.
    pub fn for_current_process(socket: PathBuf, since: Millis) -> Self {
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

    /// Writes the file atomically: readers see the new content or the previous one.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        Ok(replace_file_with(path, |file| serde_json::to_writer(file, self))??)
    }

    /// `Ok(None)` if the file does not exist or does not parse.
    pub fn read(path: &Path) -> io::Result<Option<Self>> {
        match read_file(path) {
            Ok(text) => Ok(serde_json::from_slice(&text).ok()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Whether the process that wrote the file is alive. A reused pid does not count.
    pub fn is_alive(&self) -> bool {
        match (self.started_ticks, started_ticks(self.pid)) {
            (Some(then), Some(now)) => then == now,
            (Some(_), None) => false,
            // Without /proc only the pid can be checked.
            (None, _) => self.process().is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok()),
        }
    }

    /// The pid as a signal target.
    pub fn process(&self) -> Option<Pid> {
        i32::try_from(self.pid).ok().and_then(Pid::from_raw)
    }
}

fn serialize_lossily<S: serde::Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&path.to_string_lossy())
}

/// The start time of a running process.
pub fn started_ticks(pid: u32) -> Option<u64> {
    ProcessIdentity::from_pid(pid).map(|process| process.start_ticks)
}

#[cfg(test)]
#[path = "pidfile_tests.rs"]
mod tests;
