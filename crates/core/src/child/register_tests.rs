#![allow(clippy::disallowed_methods, reason = "tests are parents of their own")]

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command};

use tempfile::TempDir;

use super::*;

/// A long-running process and its identity.
fn sleeper() -> (Child, ProcessIdentity) {
    let child = Command::new("sleep").arg("1000").process_group(0).spawn().unwrap();
    let identity = ProcessIdentity::from_pid(child.id()).unwrap();
    (child, identity)
}

/// A process that is certainly gone.
fn gone() -> ProcessIdentity {
    ProcessIdentity { pid: std::process::id(), start_ticks: 1 }
}

fn note(directory: &TempDir, name: &str, entry: &RegistryEntry) {
    let text = serde_json::to_string(entry).unwrap();
    fs::write(directory.path().join(name), text).unwrap();
}

fn left(directory: &TempDir) -> usize {
    fs::read_dir(directory.path()).unwrap().count()
}

#[test]
fn orphan_is_killed() {
    let directory = TempDir::new().unwrap();
    let register = ChildRegistry::open(directory.path()).unwrap();
    let (mut process, identity) = sleeper();
    note(&directory, "1", &RegistryEntry { child: identity, owner: gone(), boot: boot_id() });
    assert_eq!(register.reap().unwrap(), [ReapedChild(identity)]);
    assert_eq!(process.wait().unwrap().signal(), Some(9));
    assert_eq!(left(&directory), 0);
}

#[test]
fn child_of_live_owner_is_left_alone() {
    let directory = TempDir::new().unwrap();
    let register = ChildRegistry::open(directory.path()).unwrap();
    let (mut process, identity) = sleeper();
    let path = register.add(identity).unwrap();
    assert_eq!(register.reap().unwrap(), []);
    assert!(identity.is_alive() && path.exists());
    process.kill().unwrap();
    process.wait().unwrap();
    assert_eq!(register.reap().unwrap(), []);
    assert_eq!(left(&directory), 0, "the entry of a dead child is removed");
}

#[test]
fn reused_pid_is_left_alone() {
    let directory = TempDir::new().unwrap();
    let register = ChildRegistry::open(directory.path()).unwrap();
    let (mut process, identity) = sleeper();
    let other_start = ProcessIdentity { start_ticks: identity.start_ticks + 1, ..identity };
    note(&directory, "1", &RegistryEntry { child: other_start, owner: gone(), boot: boot_id() });
    note(&directory, "2", &RegistryEntry { child: identity, owner: gone(), boot: "another".into() });
    fs::write(directory.path().join("3"), "not JSON").unwrap();
    fs::write(directory.path().join("4"), "").unwrap();
    assert_eq!(register.reap().unwrap(), []);
    assert!(identity.is_alive());
    assert_eq!(left(&directory), 0);
    process.kill().unwrap();
    process.wait().unwrap();
}

#[test]
fn registry_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let home = TempDir::new().unwrap();
    let directory = home.path().join("children");
    let path = ChildRegistry::open(&directory).unwrap().add(ProcessIdentity::current().unwrap()).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&directory), mode(&path)), (0o700, 0o600));
}

#[test]
fn unreadable_entry_is_kept() {
    let directory = TempDir::new().unwrap();
    let knot = directory.path().join("1-1");
    std::os::unix::fs::symlink(&knot, &knot).unwrap();
    let register = ChildRegistry::open(directory.path()).unwrap();
    assert!(register.reap().is_err());
    assert!(knot.is_symlink());
}
