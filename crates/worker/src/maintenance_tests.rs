use super::*;
use std::path::PathBuf;
use std::time::Duration;

use claude_mem_core::clock::Millis;
use claude_mem_core::event::EventBody;
use claude_mem_core::ids::ClientSessionId;
use claude_mem_core::limits::WITNESS_SESSIONS_MAX;
use claude_mem_ingest::shared_store::SharedStore;
use claude_mem_store::testing::{WorkerScratch, event, log, scratch};

/// 2026-01-31 10:00:00 UTC.
const START: i64 = 1_769_853_600;

fn start() -> EventBody {
    EventBody::SessionStart { source: "startup".into() }
}

/// Sessions of which only the start was captured, each with its own transcript.
fn idle_sessions(store: &SharedStore, scratch: &WorkerScratch, sessions: usize) -> Vec<PathBuf> {
    let paths: Vec<PathBuf> = (0..sessions).map(|n| scratch.dir.root().join(format!("{n}.jsonl"))).collect();
    for (n, path) in paths.iter().enumerate() {
        let session = format!("silent-{n}");
        let line = serde_json::json!({
            "type": "user", "promptId": "p", "sessionId": session, "uuid": "u",
            "timestamp": "2026-01-31T10:00:01.000Z",
            "message": {"role": "user", "content": format!("do {n}")},
        });
        std::fs::write(path, format!("{line}\n")).unwrap();
        let mut began = event("s", START, start());
        began.session = ClientSessionId(session);
        began.transcript_path = Some(path.to_string_lossy().into_owned());
        let known = store.with(|store| {
            store.write(|tx| {
                tx.ensure_session(&claude_mem_store::NewSession {
                    client: claude_mem_core::agents::CLAUDE_CODE.name,
                    client_session: &began.session,
                    project: None,
                    branch: None,
                    transcript_path: began.transcript_path.as_deref(),
                    origin: claude_mem_core::memory::Origin::Agent,
                    import_run: None,
                    at: began.at.millis(),
                })
            })
        });
        known.unwrap();
    }
    paths
}

#[test]
fn draining_worker_leaves_no_idle_session_behind() {
    let scratch = scratch();
    let store = Arc::new(SharedStore::open(&scratch.dir, Millis(0)).unwrap());
    idle_sessions(&store, &scratch, WITNESS_SESSIONS_MAX + 4);
    let worker = WorkerContext::start(
        Arc::clone(&store),
        Arc::new(claude_mem_ingest::heuristic_compressor::HeuristicCompressor::default()),
        claude_mem_core::config::Settings::default(),
        claude_mem_capture::ipc::pidfile::WorkerFile::for_current_process("sock".into(), Millis(0)),
        String::new(),
        log(&scratch),
    );
    let worker = worker.unwrap();
    assert!(drain_and_maintain(&worker).unwrap());
    let known =
        store.with(|store| Ok((store.read().queue_counts()?.waiting, store.read().counts()?.prompts)));
    assert_eq!(known.unwrap(), (0, (WITNESS_SESSIONS_MAX + 4) as u64));
    worker.scheduler.stop(Duration::from_secs(9));
}
