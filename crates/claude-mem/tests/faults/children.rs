//! Child processes never outlive the process that started them.

#![allow(clippy::disallowed_methods, reason = "tests are parents of their own")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use claude_mem_core::child::{ChildRegistry, ProcessIdentity};
use tempfile::TempDir;

use crate::support::{LONG, executable, is_gone_in_time, order, spawner};

fn line_of(stream: impl Read) -> String {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line.trim().to_owned()
}

#[test]
fn child_streams_and_exit_are_available() {
    let home = TempDir::new().unwrap();
    let spawner = spawner(home.path());
    let mut child = spawner.spawn(order("cat", &[])).unwrap();
    assert_eq!(fs::read_dir(home.path().join("children")).unwrap().count(), 1);
    let mut stdin = child.take_stdin().unwrap();
    stdin.write_all(b"hello\n").unwrap();
    drop(stdin);
    assert_eq!(line_of(child.take_stdout().unwrap()), "hello");
    assert!(child.wait(LONG).unwrap().unwrap().success());
    assert_eq!(fs::read_dir(home.path().join("children")).unwrap().count(), 0);
}

#[test]
fn child_inherits_nothing() {
    let home = TempDir::new().unwrap();
    let spawner = spawner(home.path());
    let mut child = spawner.spawn(order("env", &[])).unwrap();
    let mut text = String::new();
    child.take_stdout().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "PATH=/usr/bin:/bin\n");
}

#[test]
fn missing_program_is_reported_like_a_shell_does() {
    let home = TempDir::new().unwrap();
    let spawner = spawner(home.path());
    for (program, code) in [("no-such-program-anywhere", 127), ("/etc/passwd", 126)] {
        let mut child = spawner.spawn(order(program, &[])).unwrap();
        assert_eq!(child.wait(LONG).unwrap().unwrap().code(), Some(code), "{program}");
    }
}

#[test]
fn dropping_a_child_ends_its_process_group() {
    let home = TempDir::new().unwrap();
    let spawner = spawner(home.path());
    let script = "sleep 1000 & echo $!; wait";
    let mut child = spawner.spawn(order("sh", &["-c", script])).unwrap();
    let grandchild = line_of(child.take_stdout().unwrap()).parse().unwrap();
    let grandchild = ProcessIdentity::from_pid(grandchild).unwrap();
    let itself = child.identity();
    drop(child);
    assert!(is_gone_in_time(itself) && is_gone_in_time(grandchild));
}

#[test]
fn children_end_with_their_starting_thread() {
    let home = TempDir::new().unwrap();
    let spawner = spawner(home.path());
    let script = "echo up; exec sleep 1000";
    let mut child = spawner.spawn(order("sh", &["-c", script])).unwrap();
    assert_eq!(line_of(child.take_stdout().unwrap()), "up");
    drop(spawner);
    assert_eq!(child.wait(LONG).unwrap().unwrap().signal(), Some(9));
}

/// Acts as the worker for the next test, which starts it; does nothing otherwise.
#[test]
fn worker_with_a_child() {
    let Ok(home) = std::env::var("CHILDREN_TEST_HOME") else {
        return;
    };
    let spawner = spawner(home.as_ref());
    let child = spawner.spawn(order("sleep", &["1000"])).unwrap();
    println!("\nchild {}", child.identity().pid);
    // Waits until the test kills this process.
    drop(std::io::stdin().read_to_end(&mut Vec::new()));
}

#[test]
fn children_end_with_a_killed_worker() {
    let home = TempDir::new().unwrap();
    let mut worker = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "children::worker_with_a_child", "--nocapture"])
        .env("CHILDREN_TEST_HOME", home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(worker.stdout.take().unwrap()).lines();
    let pid = lines.map(Result::unwrap).find_map(|line| line.strip_prefix("child ")?.parse().ok());
    let child = ProcessIdentity::from_pid(pid.unwrap()).unwrap();
    worker.kill().unwrap();
    worker.wait().unwrap();
    assert!(is_gone_in_time(child));

    let register = ChildRegistry::open(&home.path().join("children")).unwrap();
    assert_eq!(register.reap().unwrap(), [], "nothing was left to reap");
    assert_eq!(fs::read_dir(home.path().join("children")).unwrap().count(), 0);
}

#[test]
fn orphaned_shim_starts_nothing() {
    let home = TempDir::new().unwrap();
    let proof = home.path().join("started");
    let shim = |args: &[&str]| {
        let mut command = Command::new(executable());
        command.arg("child").args(args).arg(&proof).status().unwrap().code()
    };
    let own = std::process::id().to_string();
    assert_eq!(shim(&["--parent", "1", "--", "touch"]), Some(75));
    assert_eq!(shim(&["--parent", "x", "--", "touch"]), Some(64));
    assert_eq!(shim(&["--", "touch"]), Some(64));
    assert!(!proof.exists());
    assert_eq!(shim(&["--parent", &own, "--", "touch"]), Some(0));
    assert!(proof.exists());
}
