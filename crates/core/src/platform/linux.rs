//! Linux: `/proc`, process file descriptors, peer credentials, the parent-death signal, files in memory.

use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, MemfdFlags, RenameFlags, memfd_create, renameat_with};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal,
    set_parent_process_death_signal,
};

use super::process::ListedProcess;

/// The first number of the fourth field of `/proc/loadavg`.
pub(super) fn runnable_tasks() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').nth(3)?.split('/').next()?.parse().ok()
}

/// Niceness belongs to a thread here.
pub(super) fn lower_thread_priority(niceness: i32) -> io::Result<()> {
    rustix::process::nice(niceness)?;
    Ok(())
}

/// Names the running program even after its file was replaced.
pub(super) fn own_executable() -> PathBuf {
    "/proc/self/exe".into()
}

pub(super) fn listed_process(pid: u32) -> Option<ListedProcess> {
    // A process name may be any bytes.
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(&String::from_utf8_lossy(&stat))
}

/// Parses state and start time. The name is in parentheses and may contain anything, so fields are
/// counted from the last one.
fn parse_stat(stat: &str) -> Option<ListedProcess> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_ascii_whitespace();
    let has_exited = matches!(fields.next()?, "Z" | "X");
    let start_ticks = fields.nth(18)?.parse().ok()?;
    Some(ListedProcess { has_exited, start_ticks })
}

pub(super) fn machine_name() -> Option<String> {
    std::fs::read_to_string("/proc/sys/kernel/hostname").ok()
}

pub(super) fn boot_id() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

pub(super) fn command_lines() -> Vec<(i32, String)> {
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| Some((pid, command_line(pid)?))).collect()
}

/// An ended process has an empty command line.
pub(super) fn command_line(pid: i32) -> Option<String> {
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    (!command.is_empty()).then(|| String::from_utf8_lossy(&command).into_owned())
}

/// Other users' processes are not visible.
pub(super) fn has_open_files(pid: i32, path: &Path) -> bool {
    let Ok(files) = std::fs::read_dir(format!("/proc/{pid}/fd")) else {
        return false;
    };
    let mut files = files.flatten();
    files.any(|file| std::fs::read_link(file.path()).is_ok_and(|target| target.starts_with(path)))
}

pub(super) fn wait_for_exit(child: &mut Child, deadline: Duration) -> io::Result<bool> {
    let handle = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let until = Instant::now() + deadline;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut fds = [PollFd::new(&handle, PollFlags::IN)];
        match poll(&mut fds, Some(&left)) {
            Ok(count) => return Ok(count > 0),
            Err(Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
}

/// The pidfd keeps the pid from being reused between the check and the kill.
pub(super) fn kill_process_and_group(pid: u32, is_same: impl Fn() -> bool) -> io::Result<bool> {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return Ok(false);
    };
    let handle = match pidfd_open(pid, PidfdFlags::empty()) {
        Err(Errno::SRCH) => return Ok(false),
        handle => handle?,
    };
    if !is_same() {
        return Ok(false);
    }
    // The group first, while the pid certainly still belongs to its leader.
    let group = kill_process_group(pid, Signal::KILL);
    Ok(pidfd_send_signal(&handle, Signal::KILL).is_ok() || group.is_ok())
}

pub(super) fn die_with_parent() -> io::Result<()> {
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}

pub(super) fn peer_uid(stream: &UnixStream) -> io::Result<u32> {
    Ok(rustix::net::sockopt::socket_peercred(stream)?.uid.as_raw())
}

pub(super) fn rename_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?)
}

/// An anonymous file (memfd).
#[derive(Debug)]
pub(super) struct SystemMemoryFile(std::fs::File);

impl SystemMemoryFile {
    pub(super) fn with_content(bytes: &[u8]) -> io::Result<SystemMemoryFile> {
        let mut file = std::fs::File::from(memfd_create("memory", MemfdFlags::CLOEXEC)?);
        file.write_all(bytes)?;
        Ok(SystemMemoryFile(file))
    }

    pub(super) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }
}

pub(super) const HAS_DESCRIPTOR_PATHS: bool = true;

pub(super) fn descriptor_path(descriptor: std::os::fd::RawFd) -> PathBuf {
    Path::new("/proc/self/fd").join(descriptor.to_string())
}

pub(super) fn tcp_socket_table() -> io::Result<String> {
    std::fs::read_to_string("/proc/net/tcp")
}

#[cfg(test)]
#[path = "linux_tests.rs"]
mod tests;
