use super::{WorkerFile, started_ticks};
use claude_mem_core::clock::Millis;

fn this_process() -> WorkerFile {
    WorkerFile::for_current_process("/tmp/sock".into(), Millis(1))
}

#[test]
fn pid_file_round_trips() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("worker.pid");
    assert_eq!(WorkerFile::read(&path).unwrap(), None);
    let mut worker = this_process();
    worker.write(&path).unwrap();
    worker.port = Some(37_700);
    worker.write(&path).unwrap();
    assert_eq!(WorkerFile::read(&path).unwrap(), Some(worker));
}

#[test]
fn malformed_pid_file_is_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("worker.pid");
    for text in ["", "{\"pid\": 1", "12345", "[]"] {
        std::fs::write(&path, text).unwrap();
        assert_eq!(WorkerFile::read(&path).unwrap(), None, "{text:?}");
    }
}

#[test]
fn reused_pid_is_not_the_worker() {
    let mut worker = this_process();
    assert!(worker.is_alive());
    worker.started_ticks = worker.started_ticks.map(|ticks| ticks + 1);
    assert!(!worker.is_alive());
}

#[test]
fn ended_process_is_not_alive() {
    let worker = WorkerFile { pid: 4_194_304 + 7, ..this_process() };
    assert!(!worker.is_alive());
    assert_eq!(started_ticks(worker.pid), None);
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the test needs a child that is not waited for")]
fn zombie_is_not_alive() {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    while started_ticks(child.id()).is_some() {
        std::thread::yield_now();
    }
    assert!(std::path::Path::new(&format!("/proc/{}", child.id())).exists());
    child.wait().unwrap();
}
