#![allow(clippy::disallowed_methods, reason = "tests are parents of their own")]

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command};

use tempfile::TempDir;

use super::*;

/// A process that nobody minds, and the register that knows of it.
fn sleeper() -> (Child, Identity) {
    let child = Command::new("sleep")
        .arg("1000")
        .process_group(0)
        .spawn()
        .unwrap();
    let identity = Identity::of(child.id()).unwrap();
    (child, identity)
}

/// Some process that is certainly gone.
fn gone() -> Identity {
    Identity {
        pid: std::process::id(),
        start_ticks: 1,
    }
}

fn note(directory: &TempDir, name: &str, entry: &Entry) {
    let text = serde_json::to_string(entry).unwrap();
    fs::write(directory.path().join(name), text).unwrap();
}

fn left(directory: &TempDir) -> usize {
    fs::read_dir(directory.path()).unwrap().count()
}

#[test]
fn a_process_whose_owner_is_gone_is_ended() {
    let directory = TempDir::new().unwrap();
    let register = Register::open(directory.path()).unwrap();
    let (mut process, identity) = sleeper();
    note(
        &directory,
        "1",
        &Entry {
            child: identity,
            owner: gone(),
            boot: boot(),
        },
    );
    assert_eq!(register.reap().unwrap(), [Reaped(identity)]);
    assert_eq!(process.wait().unwrap().signal(), Some(9));
    assert_eq!(left(&directory), 0);
}

#[test]
fn a_process_whose_owner_lives_is_left_alone() {
    let directory = TempDir::new().unwrap();
    let register = Register::open(directory.path()).unwrap();
    let (mut process, identity) = sleeper();
    let path = register.add(identity).unwrap();
    assert_eq!(register.reap().unwrap(), []);
    assert!(identity.is_alive() && path.exists());
    process.kill().unwrap();
    process.wait().unwrap();
    assert_eq!(register.reap().unwrap(), []);
    assert_eq!(left(&directory), 0, "and forgotten when it is gone");
}

#[test]
fn a_pid_that_is_used_again_is_left_alone() {
    let directory = TempDir::new().unwrap();
    let register = Register::open(directory.path()).unwrap();
    let (mut process, identity) = sleeper();
    let other_start = Identity {
        start_ticks: identity.start_ticks + 1,
        ..identity
    };
    note(
        &directory,
        "1",
        &Entry {
            child: other_start,
            owner: gone(),
            boot: boot(),
        },
    );
    note(
        &directory,
        "2",
        &Entry {
            child: identity,
            owner: gone(),
            boot: "another".into(),
        },
    );
    fs::write(directory.path().join("3"), "not JSON").unwrap();
    fs::write(directory.path().join("4"), "").unwrap();
    assert_eq!(register.reap().unwrap(), []);
    assert!(identity.is_alive());
    assert_eq!(left(&directory), 0);
    process.kill().unwrap();
    process.wait().unwrap();
}

#[test]
fn the_register_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let home = TempDir::new().unwrap();
    let directory = home.path().join("children");
    let path = Register::open(&directory)
        .unwrap()
        .add(Identity::own().unwrap())
        .unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&directory), mode(&path)), (0o700, 0o600));
}

#[test]
fn an_entry_that_cannot_be_read_stays_for_the_next_time() {
    let directory = TempDir::new().unwrap();
    let knot = directory.path().join("1-1");
    std::os::unix::fs::symlink(&knot, &knot).unwrap();
    let register = Register::open(directory.path()).unwrap();
    assert!(register.reap().is_err());
    assert!(knot.is_symlink());
}
