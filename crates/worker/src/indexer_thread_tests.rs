use super::*;
use claude_mem_capture::ipc::pidfile::WorkerFile;
use claude_mem_core::clock::Millis;
use claude_mem_ingest::heuristic_compressor::HeuristicCompressor;
use claude_mem_ingest::shared_store::SharedStore;
use claude_mem_store::testing::{log, observation, scratch};
use claude_mem_store::{NewRowContext, Store};

#[test]
#[allow(clippy::disallowed_methods, reason = "the store would not do this")]
fn failed_reconcile_is_retried() {
    let scratch = scratch();
    let store = Arc::new(SharedStore::open(&scratch.dir, Millis(1)).unwrap());
    let new = observation("Money is counted in cents", Millis(1));
    let make = |store: &mut Store| store.write(|tx| tx.create_observation(&new, &NewRowContext::default()));
    store.with(make).unwrap();
    let worker = WorkerContext::start(
        Arc::clone(&store),
        Arc::new(HeuristicCompressor::default()),
        claude_mem_core::config::Settings::default(),
        WorkerFile::for_current_process("sock".into(), Millis(0)),
        String::new(),
        log(&scratch),
    );
    let worker = worker.unwrap();
    let mut reconciled = true;
    run_once(&worker, &mut reconciled).unwrap();
    // A power cut lost the vectors, and the backlog cannot be written.
    let vectors = rusqlite::Connection::open(scratch.dir.vectors_db()).unwrap();
    vectors.execute_batch("DELETE FROM vectors").unwrap();
    let conn = rusqlite::Connection::open(scratch.dir.db()).unwrap();
    conn.execute_batch(
        "CREATE TRIGGER no BEFORE INSERT ON vector_backlog BEGIN SELECT RAISE(ABORT, 'no'); END",
    )
    .unwrap();
    reconciled = false;
    assert!(run_once(&worker, &mut reconciled).is_err());
    assert!(!reconciled);
    conn.execute_batch("DROP TRIGGER no").unwrap();
    run_once(&worker, &mut reconciled).unwrap();
    assert!(reconciled);
    let owed = store.with(|store| store.read().pending_embeddings_count());
    assert_eq!(owed.unwrap(), 1);
    worker.scheduler.stop(Duration::from_secs(9));
}
