//! Tests that cannot run on this machine.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;

/// Names the file that lists skipped tests, a line each. `cargo xtask test` sets it and prints the list: to a runner
/// such a test has passed.
pub const SKIPPED_TESTS_VARIABLE: &str = "RIG_SKIPPED_TESTS";

/// Says why the running test is skipped: in its log, and in the list.
pub fn skip(reason: impl Display) {
    println!("skipped: {reason}");
    let Some(path) = std::env::var_os(SKIPPED_TESTS_VARIABLE) else {
        return;
    };
    let (thread, reason) = (std::thread::current(), reason.to_string());
    let line =
        format!("{}: {}\n", thread.name().unwrap_or("a test"), reason.lines().next().unwrap_or_default());
    let list = OpenOptions::new().create(true).append(true).open(path);
    list.and_then(|mut list| list.write_all(line.as_bytes())).expect("the list of skipped tests");
}
