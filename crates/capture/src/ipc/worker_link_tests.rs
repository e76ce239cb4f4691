use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use super::*;
use claude_mem_recall::recall_request::{RecallOccasion, RecallTarget};

fn moment() -> RecallRequest {
    RecallRequest {
        recipient: RecallTarget::default(),
        project: vec!["path:/src/shop".into()],
        occasion: RecallOccasion::Prompt,
        text: "round the invoices".into(),
        budget_tokens: 300,
    }
}

/// A worker on a scratch socket that runs `serve` on its first connection.
struct FakeWorker<T> {
    _dir: tempfile::TempDir,
    socket: PathBuf,
    served: JoinHandle<T>,
}

fn worker<T: Send + 'static>(serve: impl FnOnce(UnixStream) -> T + Send + 'static) -> FakeWorker<T> {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("worker.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let served = std::thread::spawn(move || serve(listener.accept().unwrap().0));
    FakeWorker { _dir: dir, socket, served }
}

/// Reads one line, replies to it, and reads the rest.
fn reply_with(line: &'static str) -> impl FnOnce(UnixStream) -> (String, String) {
    move |mut stream| {
        let (mut request, mut rest) = (String::new(), String::new());
        let mut lines = BufReader::new(stream.try_clone().unwrap());
        lines.read_line(&mut request).unwrap();
        stream.write_all(line.as_bytes()).unwrap();
        lines.read_line(&mut rest).unwrap();
        (request, rest)
    }
}

#[test]
fn reply_is_acknowledged() {
    let worker = worker(reply_with("{\"text\":\"rounded up\"}\n"));
    let mut link = WorkerLink::new(worker.socket.clone());
    let reply = link.request_recall(&moment()).unwrap();
    assert_eq!(reply, Some(RecallReply { text: "rounded up".into() }));
    drop(link);
    let (request, rest) = worker.served.join().unwrap();
    let sent: RecallRequest = serde_json::from_str(request.strip_prefix("recall ").unwrap()).unwrap();
    assert_eq!((sent, rest.as_str()), (moment(), "heard\n"));
}

#[test]
fn hook_waits_for_the_record_of_what_was_shown() {
    let noted = Arc::new(AtomicBool::new(false));
    let worker = worker({
        let noted = Arc::clone(&noted);
        move |mut stream| {
            let mut lines = BufReader::new(stream.try_clone().unwrap());
            lines.read_line(&mut String::new()).unwrap();
            stream.write_all(b"{\"text\":\"rounded up\"}\n").unwrap();
            lines.read_line(&mut String::new()).unwrap();
            noted.store(true, Ordering::SeqCst);
            stream.write_all(b"noted\n").unwrap();
        }
    });
    let mut link = WorkerLink::new(worker.socket.clone());
    assert!(link.request_recall(&moment()).unwrap().is_some());
    assert!(noted.load(Ordering::SeqCst), "the hook ended before the worker had noted it");
    worker.served.join().unwrap();
}

#[test]
fn silent_worker_times_out() {
    let worker = worker(|stream| {
        let mut lines = BufReader::new(stream);
        let mut said = Vec::new();
        lines.read_to_end(&mut said).unwrap();
        String::from_utf8(said).unwrap()
    });
    let mut link = WorkerLink::new(worker.socket.clone());
    let began = Instant::now();
    assert_eq!(link.request_recall(&moment()).unwrap(), None);
    let waited = began.elapsed();
    assert!(waited >= Duration::from_millis(RECALL_WORKER_MS), "{waited:?}");
    assert!(waited < Duration::from_millis(40 * RECALL_WORKER_MS), "{waited:?}");
    drop(link);
    let said = worker.served.join().unwrap();
    assert!(said.starts_with("recall ") && said.lines().count() == 1, "never acknowledged: {said}");
}

#[test]
fn worker_that_is_starting_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("worker.sock");
    let mut link = WorkerLink::new(socket.clone());
    assert!(!link.connect().unwrap(), "no worker runs");
    link.await_start();
    let listener = UnixListener::bind(&socket).unwrap();
    let served =
        std::thread::spawn(move || reply_with("{\"text\":\"rounded up\"}\n")(listener.accept().unwrap().0));
    let reply = link.request_recall(&moment()).unwrap();
    assert_eq!(reply, Some(RecallReply { text: "rounded up".into() }));
    served.join().unwrap();
}

#[test]
fn worker_that_does_not_start_is_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let mut link = WorkerLink::new(dir.path().join("worker.sock"));
    link.await_start();
    assert_eq!(link.request_recall(&moment()).unwrap(), None);
}

#[test]
fn garbage_reply_is_an_error() {
    for garbage in ["rounded up\n", "{\"text\":7}\n", "[]\n", "\n", "{\"text\":\"no end"] {
        let worker = worker(move |mut stream| {
            BufReader::new(stream.try_clone().unwrap()).read_line(&mut String::new()).unwrap();
            stream.write_all(garbage.as_bytes()).unwrap();
        });
        let mut link = WorkerLink::new(worker.socket.clone());
        assert!(link.request_recall(&moment()).is_err(), "{garbage:?}");
    }
}

#[test]
fn endless_reply_is_an_error() {
    let worker = worker(|mut stream| while stream.write_all(&[b'x'; 4096]).is_ok() {});
    let mut link = WorkerLink::new(worker.socket.clone());
    // A slow machine may run out of time before the limit is reached.
    let reply = link.request_recall(&moment());
    assert!(matches!(&reply, Ok(None)) || reply.is_err(), "{reply:?}");
}

#[test]
fn long_request_is_not_sent() {
    let worker = worker(|stream| BufReader::new(stream).lines().map_while(Result::ok).collect::<Vec<_>>());
    let mut link = WorkerLink::new(worker.socket.clone());
    assert!(link.connect().unwrap());
    let bytes = usize::try_from(REQUEST_BYTES_MAX).unwrap();
    let long = RecallRequest { text: "x".repeat(bytes), ..moment() };
    assert!(link.request_recall(&long).is_err());
    drop(link);
    assert_eq!(worker.served.join().unwrap(), ["wake"], "but the worker is woken");
}

#[test]
fn socket_of_another_user_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("worker.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let own = rustix::process::getuid();
    let link = |owner| {
        let mut link = WorkerLink::new(socket.clone());
        link.owner = owner;
        link
    };
    assert!(link(own).connect().unwrap());
    let other = Uid::from_raw(own.as_raw() + 1);
    assert!(!link(other).connect().unwrap());
    assert_eq!(link(other).request_recall(&moment()).unwrap(), None);
    let sent = listener.incoming().take(3).map(|stream| {
        let mut said = String::new();
        stream.unwrap().read_to_string(&mut said).unwrap();
        said
    });
    assert_eq!(sent.collect::<Vec<_>>(), ["wake\n", "", ""]);
}

#[test]
fn missing_worker_is_noticed_once() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("worker.sock");
    let mut link = WorkerLink::new(socket.clone());
    assert!(!link.connect().unwrap());
    // A hook does not try again: it would wait twice.
    let listener = UnixListener::bind(&socket).unwrap();
    assert!(!link.connect().unwrap());
    assert_eq!(link.request_recall(&moment()).unwrap(), None);
    drop(listener);
    assert!(!WorkerLink::new(socket).connect().unwrap(), "a socket that a dead worker left");
}

#[test]
fn unreachable_socket_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("worker.sock");
    std::os::unix::fs::symlink(&socket, &socket).unwrap();
    assert!(WorkerLink::new(socket).connect().is_err());
}

#[test]
fn connected_worker_is_woken_once() {
    let worker = worker(|stream| BufReader::new(stream).lines().map_while(Result::ok).collect::<Vec<_>>());
    let mut link = WorkerLink::new(worker.socket.clone());
    assert!(link.connect().unwrap() && link.connect().unwrap());
    link.wake();
    drop(link);
    assert_eq!(worker.served.join().unwrap(), ["wake"]);
}
