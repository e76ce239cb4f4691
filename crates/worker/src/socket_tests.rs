use std::path::PathBuf;

use super::*;
use crate::WorkerStatus;
use claude_mem_capture::enqueue;
use claude_mem_capture::hook_database::HookDatabase;
use claude_mem_capture::ipc::client;
use claude_mem_capture::ipc::pidfile::WorkerFile;
use claude_mem_capture::ipc::worker_link::WorkerLink;
use claude_mem_capture::spool;
use claude_mem_core::clock::Millis;
use claude_mem_core::config::Settings;
use claude_mem_core::event_key;
use claude_mem_ingest::heuristic_compressor::HeuristicCompressor;
use claude_mem_ingest::shared_store::SharedStore;
use claude_mem_recall::recall_request::{RecallOccasion, RecallTarget};
use claude_mem_store::testing::{WorkerScratch, event, log, prompt, scratch};

/// A worker that listens on its socket.
struct ListeningWorker {
    scratch: WorkerScratch,
    socket: PathBuf,
    worker: Arc<WorkerContext>,
    _runtime: tokio::runtime::Runtime,
}

impl ListeningWorker {
    fn start() -> Self {
        let scratch = scratch();
        scratch.dir.create().unwrap();
        let socket = scratch.dir.root().join("worker.sock");
        let store = Arc::new(SharedStore::open(&scratch.dir, Millis(0)).unwrap());
        let worker = WorkerContext::start(
            store,
            Arc::new(HeuristicCompressor::default()),
            Settings::default(),
            WorkerFile::for_current_process(socket.clone(), Millis(0)),
            String::new(),
            log(&scratch),
        )
        .unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.unwrap();
        let listener = runtime.block_on(async { bind(&socket) }).unwrap();
        runtime.spawn(listen(listener, Arc::clone(&worker), mpsc::channel(1).0));
        Self { scratch, socket, worker, _runtime: runtime }
    }

    /// Spools an event as a hook does.
    fn spool(&self, seconds: i64) {
        let event = event("s", seconds, prompt("Round the invoices up"));
        let key = event_key::event_key(&event, None);
        enqueue::enqueue_event(&mut HookDatabase::new(&self.scratch.dir), key, &event).unwrap();
    }

    /// Waits until something but this test notifies the scheduler after the notification `last`; false if nothing does.
    fn is_notified_after(&self, mut last: u64) -> bool {
        let until = Instant::now() + Duration::from_secs(30);
        while Instant::now() < until {
            let count = self.worker.scheduler.notify();
            if count > last + 1 {
                return true;
            }
            last = count;
            std::thread::sleep(Duration::from_millis(2));
        }
        false
    }

    fn status(&self) -> WorkerStatus {
        let reply = client::send_request(&self.socket, "status", None).unwrap().unwrap();
        serde_json::from_str(&reply).unwrap()
    }
}

fn moment() -> RecallRequest {
    RecallRequest {
        recipient: RecallTarget {
            client: "claude-code".into(),
            session: "s".into(),
            agent_id: String::new(),
        },
        project: vec!["path:/src/shop".into()],
        occasion: RecallOccasion::Prompt,
        text: "round the invoices up".into(),
        budget_tokens: 300,
    }
}

#[test]
fn recall_request_wakes_the_scheduler() {
    let stage = ListeningWorker::start();
    let scheduler = &stage.worker.scheduler;
    scheduler.flush(|| false).unwrap();
    let before = scheduler.notify();
    stage.spool(1);
    let before_request = scheduler.notify();
    assert_eq!(before_request, before + 1, "what is spooled wakes nobody");
    // The hook may have stopped waiting for the reply: that wakes the worker too.
    WorkerLink::new(stage.socket.clone()).request_recall(&moment()).unwrap();
    assert!(stage.is_notified_after(before_request));
    // So does a hook that asks for nothing.
    let before = scheduler.notify();
    assert!(WorkerLink::new(stage.socket.clone()).connect().unwrap());
    assert!(stage.is_notified_after(before));
    scheduler.flush(|| false).unwrap();
    assert!(spool::is_empty(&stage.scratch.dir).unwrap());
    scheduler.stop(Duration::from_secs(9));
}

#[test]
fn team_request_wakes_the_team_thread() {
    let stage = ListeningWorker::start();
    assert!(!stage.worker.team_signal.wait(Duration::ZERO));
    let reply = client::send_request(&stage.socket, "team", None).unwrap();
    assert_eq!(reply.as_deref(), Some("notified"));
    assert!(stage.worker.team_signal.wait(Duration::ZERO));
    stage.worker.scheduler.stop(Duration::from_secs(9));
}

#[test]
fn acknowledged_recalls_are_counted() {
    let stage = ListeningWorker::start();
    assert_eq!(stage.status().recalls, 0);
    // A cold worker may reply after the hook has stopped waiting. That is not counted.
    let mut heard = 0;
    for _ in 0..50 {
        heard +=
            u64::from(WorkerLink::new(stage.socket.clone()).request_recall(&moment()).unwrap().is_some());
        if heard == 2 {
            break;
        }
    }
    assert_eq!((heard, stage.status().recalls), (2, 2));
    stage.worker.scheduler.stop(Duration::from_secs(9));
}
