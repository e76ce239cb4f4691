//! The shim that a child runs before its program: `claude-mem child --parent PID -- PROGRAM ARGS`.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use rustix::process::getppid;

use crate::platform;

/// Exit codes of the shim when it cannot execute the program, as in a shell.
pub(super) const NOT_FOUND: u8 = 127;
pub(super) const NOT_EXECUTABLE: u8 = 126;
const USAGE: u8 = 64;
const ORPHANED: u8 = 75;

/// Asks the kernel to kill us with our parent, checks that the parent still lives, and executes the
/// program. Returns only on failure. `args` follow the word `child`.
pub fn shim(args: impl Iterator<Item = OsString>) -> ExitCode {
    let Some((parent, mut program)) = parse(args) else {
        return ExitCode::from(USAGE);
    };
    // The order matters: a parent that dies after the request kills us; one that died before it has
    // left us with another parent.
    let asked = platform::die_with_parent();
    let is_parent = getppid().is_some_and(|pid| pid.as_raw_pid() == parent);
    if asked.is_err() || !is_parent {
        return ExitCode::from(ORPHANED);
    }
    let error = program.exec();
    ExitCode::from(match error.kind() {
        std::io::ErrorKind::NotFound => NOT_FOUND,
        _ => NOT_EXECUTABLE,
    })
}

fn parse(mut args: impl Iterator<Item = OsString>) -> Option<(i32, Command)> {
    if args.next()? != OsStr::new("--parent") {
        return None;
    }
    let parent = args.next()?.to_str()?.parse().ok()?;
    if args.next()? != OsStr::new("--") {
        return None;
    }
    #[allow(clippy::disallowed_methods, reason = "it becomes the registered child")]
    let mut program = Command::new(args.next()?);
    program.args(args);
    Some((parent, program))
}
