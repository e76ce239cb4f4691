//! Unix systems other than Linux, with POSIX calls and `ps` alone. CI compiles and tests this file on macOS
//! only; see docs/platforms.md.

use std::io;
use std::os::fd::RawFd;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::process::ListedProcess;

/// There is no portable count of runnable tasks.
pub(super) fn runnable_tasks() -> Option<usize> {
    None
}

/// Niceness belongs to the whole process here, which also answers hooks: it stays.
#[allow(clippy::unnecessary_wraps, reason = "the Linux counterpart can fail")]
pub(super) fn lower_thread_priority(_: i32) -> io::Result<()> {
    Ok(())
}

/// The path of the file: after an update it names the new version.
pub(super) fn own_executable() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| "claude-mem".into())
}

/// The start time has the resolution of a second, and stands for itself: its text is hashed.
pub(super) fn listed_process(pid: u32) -> Option<ListedProcess> {
    let text = ps(&["-o", "state=,lstart=", "-p", &pid.to_string()])?;
    let (state, started) = text.trim().split_once(' ')?;
    let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let start_ticks = started.trim().bytes().fold(0xcbf2_9ce4_8422_2325, fnv);
    Some(ListedProcess { has_exited: state.starts_with('Z'), start_ticks })
}

/// Start times are absolute here, so that they also differ between boots.
pub(super) fn boot_id() -> String {
    String::new()
}

pub(super) fn command_lines() -> Vec<(i32, String)> {
    let text = ps(&["-axo", "pid=,command="]).unwrap_or_default();
    let line = |line: &str| {
        let (pid, command) = line.trim_start().split_once(' ')?;
        Some((pid.parse().ok()?, command.to_owned()))
    };
    text.lines().filter_map(line).collect()
}

pub(super) fn command_line(pid: i32) -> Option<String> {
    ps(&["-o", "command=", "-p", &pid.to_string()]).filter(|command| !command.trim().is_empty())
}

/// There is no portable list of open files.
pub(super) fn has_open_files(_: i32, _: &Path) -> bool {
    false
}

pub(super) fn machine_name() -> Option<String> {
    output_of("uname", &["-n"])
}

fn ps(args: &[&str]) -> Option<String> {
    output_of("ps", args)
}

/// What a program of the system prints; `None` if it is not there or fails.
fn output_of(program: &str, args: &[&str]) -> Option<String> {
    #[allow(clippy::disallowed_methods, reason = "it ends before this function does")]
    let output = Command::new(program).args(args).env("LC_ALL", "C").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Polls: a child's exit cannot be waited for with a deadline.
pub(super) fn wait_for_exit(child: &mut Child, deadline: Duration) -> io::Result<bool> {
    let until = Instant::now() + deadline;
    loop {
        if child.try_wait()?.is_some() {
            return Ok(true);
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
        }
        std::thread::sleep(left.min(Duration::from_millis(5)));
    }
}

/// Between the check and the kill the pid could be reused; the start time makes that a matter of
/// microseconds.
#[allow(clippy::unnecessary_wraps, reason = "the Linux counterpart can fail")]
pub(super) fn kill_process_and_group(pid: u32, is_same: impl Fn() -> bool) -> io::Result<bool> {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return Ok(false);
    };
    if !is_same() {
        return Ok(false);
    }
    let group = kill_process_group(pid, Signal::KILL);
    Ok(kill_process(pid, Signal::KILL).is_ok() || group.is_ok())
}

/// There is no such request; the registry of children kills orphans at the next start.
#[allow(clippy::unnecessary_wraps, reason = "the Linux counterpart can fail")]
pub(super) fn die_with_parent() -> io::Result<()> {
    Ok(())
}

/// The owner of the socket file has bound it.
pub(super) fn peer_uid(stream: &UnixStream) -> io::Result<u32> {
    let address = stream.peer_addr()?;
    let path = address.as_pathname().ok_or(io::ErrorKind::ConnectionRefused)?;
    Ok(std::fs::symlink_metadata(path)?.uid())
}

/// A hard link refuses to replace a file.
pub(super) fn rename_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::hard_link(from, to)?;
    std::fs::remove_file(from)
}

/// Not available: every file has a name on disk.
#[derive(Debug)]
pub(super) enum SystemMemoryFile {}

impl SystemMemoryFile {
    pub(super) fn with_content(_: &[u8]) -> io::Result<SystemMemoryFile> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn path(&self) -> PathBuf {
        match *self {}
    }
}

pub(super) const HAS_DESCRIPTOR_PATHS: bool = false;

pub(super) fn descriptor_path(descriptor: RawFd) -> PathBuf {
    Path::new("/dev/fd").join(descriptor.to_string())
}

pub(super) fn tcp_socket_table() -> io::Result<String> {
    Err(io::ErrorKind::Unsupported.into())
}
