//! The differences between operating systems. No other module of the product names one.
//!
//! `linux.rs` and `portable.rs` have the same functions. The portable ones use only what every Unix has;
//! where that gives no answer they say so, and the caller takes its slower or less exact way.

mod process;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as system;

// Its tests run on Linux as well, which has all that it needs.
#[cfg(any(test, not(target_os = "linux")))]
#[cfg_attr(target_os = "linux", allow(dead_code, reason = "its tests use a part of it"))]
mod portable;
#[cfg(not(target_os = "linux"))]
use portable as system;

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

pub use process::ListedProcess;

/// Maximum cores that background work takes.
const BACKGROUND_CORES_MAX: usize = 4;

/// The number of tasks that run or wait for a core, with the caller; `None` if the system does not say.
pub fn runnable_tasks() -> Option<usize> {
    system::runnable_tasks()
}

/// Cores that background work may use now: those that no other task needs, at least one.
pub fn idle_cores() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    idle_of(cores, runnable_tasks())
}

fn idle_of(cores: usize, runnable: Option<usize>) -> usize {
    // Without a count, one core is what background work may always take.
    let others = runnable.map_or(cores, |tasks| tasks.saturating_sub(1));
    cores.saturating_sub(others).clamp(1, BACKGROUND_CORES_MAX)
}

/// Lowers the priority of the calling thread, where threads have one of their own.
pub fn lower_thread_priority(niceness: i32) -> io::Result<()> {
    system::lower_thread_priority(niceness)
}

/// A path by which this program can be started again, even after an update has replaced its file where the
/// system allows that.
pub fn own_executable() -> PathBuf {
    system::own_executable()
}

/// Whether an open directory can be reached by a path of a few characters.
pub const HAS_DESCRIPTOR_PATHS: bool = system::HAS_DESCRIPTOR_PATHS;

/// A short path of an open directory. Only where [`HAS_DESCRIPTOR_PATHS`] is true does it lead there.
pub fn descriptor_path(directory: &impl AsRawFd) -> PathBuf {
    system::descriptor_path(directory.as_raw_fd())
}

/// The kernel's table of TCP sockets over IPv4; an error where there is none.
pub fn tcp_socket_table() -> io::Result<String> {
    system::tcp_socket_table()
}

/// The process with this pid.
pub fn listed_process(pid: u32) -> Option<ListedProcess> {
    system::listed_process(pid)
}

/// The name of this machine in its network; `None` if the system does not say.
pub fn machine_name() -> Option<String> {
    let name = system::machine_name()?.trim().to_owned();
    (!name.is_empty()).then_some(name)
}

/// Identifies the current boot; empty if the system does not say.
pub fn boot_id() -> String {
    system::boot_id()
}

/// The pids of all visible processes and their command lines, arguments separated by one byte each.
pub fn command_lines() -> Vec<(i32, String)> {
    system::command_lines()
}

/// The command line of one process; `None` if it has ended.
pub fn command_line(pid: i32) -> Option<String> {
    system::command_line(pid)
}

/// Whether a process of this user has files below `path` open. False if the system does not say.
pub fn has_open_files(pid: i32, path: &Path) -> bool {
    system::has_open_files(pid, path)
}

/// Waits until the child exits, at most for `deadline`. False: it is still running.
pub fn wait_for_exit(child: &mut Child, deadline: Duration) -> io::Result<bool> {
    system::wait_for_exit(child, deadline)
}

/// Kills a process and its group, if `is_same` confirms that the pid still belongs to the process meant.
/// False if it is gone.
pub fn kill_process_and_group(pid: u32, is_same: impl Fn() -> bool) -> io::Result<bool> {
    system::kill_process_and_group(pid, is_same)
}

/// Asks that this process be killed when its parent ends. Where the system cannot do that, the registry of
/// children kills it later.
pub fn die_with_parent() -> io::Result<()> {
    system::die_with_parent()
}

/// The user id of the process at the other end.
pub fn peer_uid(stream: &UnixStream) -> io::Result<u32> {
    system::peer_uid(stream)
}

/// Renames a file unless `to` exists; then the error is `AlreadyExists`.
pub fn rename_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    system::rename_without_replacing(from, to)
}

/// A file in memory only, for text that must not reach the disk.
#[derive(Debug)]
pub struct MemoryFile(system::SystemMemoryFile);

impl MemoryFile {
    /// `Unsupported` where the system has no such files.
    pub fn with_content(bytes: &[u8]) -> io::Result<MemoryFile> {
        system::SystemMemoryFile::with_content(bytes).map(MemoryFile)
    }

    /// A path by which this process can open it.
    pub fn path(&self) -> PathBuf {
        self.0.path()
    }
}

/// The program that opens a file or link with the user's default application.
pub const fn default_opener() -> &'static str {
    if cfg!(target_os = "macos") { "open" } else { "xdg-open" }
}

/// The program and its arguments that print the desktop entry of the default browser; `None` where browsers have
/// none.
pub const fn default_browser_query() -> Option<(&'static str, [&'static str; 2])> {
    if cfg!(target_os = "macos") { None } else { Some(("xdg-settings", ["get", "default-web-browser"])) }
}

/// The path of a file that an administrator writes for all users, of the two that a client names: below `/etc`, or
/// below `/Library`.
pub const fn path_for_all_users(etc: &'static str, library: &'static str) -> &'static str {
    if cfg!(target_os = "macos") { library } else { etc }
}

/// Whether every session of a user has a display. Elsewhere the environment says so.
pub const fn always_has_display() -> bool {
    cfg!(target_os = "macos")
}

#[cfg(test)]
#[path = "platform_tests.rs"]
mod tests;
