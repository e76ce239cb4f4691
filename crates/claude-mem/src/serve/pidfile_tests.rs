use super::{WorkerFile, started_ticks};
use crate::clock::Millis;

fn this_process() -> WorkerFile {
    WorkerFile::of_self("/tmp/sock".into(), Millis(1))
}

#[test]
fn it_reads_back_as_it_was_written_and_again_after_a_rewrite() {
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
fn a_half_written_or_foreign_file_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("worker.pid");
    for text in ["", "{\"pid\": 1", "12345", "[]"] {
        std::fs::write(&path, text).unwrap();
        assert_eq!(WorkerFile::read(&path).unwrap(), None, "{text:?}");
    }
}

#[test]
fn a_number_that_belongs_to_another_process_by_now_is_not_the_worker() {
    let mut worker = this_process();
    assert!(worker.is_alive());
    worker.started_ticks = worker.started_ticks.map(|ticks| ticks + 1);
    assert!(!worker.is_alive());
}

#[test]
fn a_process_that_is_gone_is_not_alive() {
    let worker = WorkerFile {
        pid: 4_194_304 + 7,
        ..this_process()
    };
    assert!(!worker.is_alive());
    assert_eq!(started_ticks(worker.pid), None);
}

#[test]
#[allow(
    clippy::disallowed_methods,
    reason = "a child that nobody waits for is what it is about"
)]
fn a_process_that_has_ended_and_was_not_noticed_yet_is_not_alive() {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    while started_ticks(child.id()).is_some() {
        std::thread::yield_now();
    }
    assert!(std::path::Path::new(&format!("/proc/{}", child.id())).exists());
    child.wait().unwrap();
}
