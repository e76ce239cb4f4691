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
                    transcript_path: began.transcript_path.as_deref(),
                    ..claude_mem_store::NewSession::new(
                        claude_mem_core::agents::CLAUDE_CODE.name,
                        &began.session,
                        began.at.millis(),
                    )
                })
            })
        });
        known.unwrap();
    }
    paths
}

fn worker_of(scratch: &WorkerScratch, store: &Arc<SharedStore>) -> Arc<WorkerContext> {
    let worker = WorkerContext::start(
        Arc::clone(store),
        Arc::new(claude_mem_ingest::heuristic_compressor::HeuristicCompressor::default()),
        claude_mem_core::config::Settings::default(),
        claude_mem_capture::ipc::pidfile::WorkerFile::for_current_process("sock".into(), Millis(0)),
        String::new(),
        log(scratch),
    );
    worker.unwrap()
}

/// A store with memories, and the numbers of the pages of its file.
fn furnished(scratch: &WorkerScratch) -> u64 {
    let mut store = Store::open(&scratch.dir.db()).unwrap();
    store
        .write(|tx| {
            for n in 0..60 {
                let new = claude_mem_store::testing::observation(&format!("memory {n}"), Millis(n));
                tx.create_observation(&new, &claude_mem_store::NewRowContext::default())?;
            }
            Ok(())
        })
        .unwrap();
    store.checkpoint().unwrap();
    store.close().unwrap();
    std::fs::metadata(scratch.dir.db()).unwrap().len() / 4_096
}

#[test]
fn damage_is_mended_when_it_is_found() {
    use std::os::unix::fs::FileExt as _;
    let pages = {
        let scratch = scratch();
        furnished(&scratch)
    };
    let mut overlooked = Vec::new();
    for page in (1..pages).step_by(usize::try_from(pages / 24).unwrap().max(1)) {
        let scratch = scratch();
        furnished(&scratch);
        let file = std::fs::File::options().write(true).open(scratch.dir.db()).unwrap();
        file.write_all_at(&[0x5a; 4_096], page * 4_096).unwrap();
        drop(file);
        let store = Arc::new(SharedStore::open(&scratch.dir, Millis(0)).unwrap());
        let worker = worker_of(&scratch, &store);
        // As the first rounds of maintenance do, without a backup to fall back on.
        check_store(&worker).unwrap();
        back_up(&worker, clock::now().millis()).unwrap();
        let problems =
            store.with(|store| Ok((store.integrity_problems()?, store.read().failed_backup()?))).unwrap();
        if problems != (Vec::new(), None) {
            overlooked.push((page, problems));
        }
        worker.scheduler.stop(Duration::from_secs(9));
    }
    assert!(overlooked.is_empty(), "{overlooked:#?}");
}

#[test]
fn failed_backup_is_remembered_until_one_succeeds() {
    let scratch = scratch();
    furnished(&scratch);
    let store = Arc::new(SharedStore::open(&scratch.dir, Millis(0)).unwrap());
    let worker = worker_of(&scratch, &store);
    // The directory cannot be made.
    std::fs::write(scratch.dir.backups(), "in the way").unwrap();
    let now = clock::now().millis();
    assert!(back_up(&worker, now).is_err());
    let settings = claude_mem_core::config::Settings::default();
    let told = |store: &mut Store| {
        Ok(claude_mem_setup::notices::store_notices(&store.read(), &settings, now)?
            .iter()
            .map(claude_mem_setup::notices::UserNotice::line)
            .collect::<String>())
    };
    assert!(store.with(told).unwrap().contains("the backup of"));
    std::fs::remove_file(scratch.dir.backups()).unwrap();
    back_up(&worker, now).unwrap();
    assert_eq!(store.with(told).unwrap(), "");
    worker.scheduler.stop(Duration::from_secs(9));
}

#[test]
fn draining_worker_leaves_no_idle_session_behind() {
    let scratch = scratch();
    let store = Arc::new(SharedStore::open(&scratch.dir, Millis(0)).unwrap());
    idle_sessions(&store, &scratch, WITNESS_SESSIONS_MAX + 4);
    let worker = worker_of(&scratch, &store);
    assert!(drain_and_maintain(&worker).unwrap());
    let known =
        store.with(|store| Ok((store.read().queue_counts()?.waiting, store.read().counts()?.prompts)));
    assert_eq!(known.unwrap(), (0, (WITNESS_SESSIONS_MAX + 4) as u64));
    worker.scheduler.stop(Duration::from_secs(9));
}
