use super::*;
use crate::clock::Millis;
use crate::serve::local::Local;
use crate::serve::pidfile::WorkerFile;
use crate::serve::testing::{log, observation, scratch};
use crate::store::Stored;

#[test]
#[allow(clippy::disallowed_methods, reason = "the store would not do this")]
fn reconciling_that_failed_is_tried_again() {
    let scratch = scratch();
    let store = Arc::new(SharedStore::open(&scratch.dir, Millis(1)).unwrap());
    let new = observation("Money is counted in cents", Millis(1));
    let make =
        |store: &mut Store| store.write(|tx| tx.create_observation(&new, &Stored::default()));
    store.with(make).unwrap();
    let worker = Worker::start(
        Arc::clone(&store),
        Arc::new(Local::default()),
        crate::config::Settings::default(),
        WorkerFile::of_self("sock".into(), Millis(0)),
        String::new(),
        log(&scratch),
    );
    let worker = worker.unwrap();
    let mut reconciled = true;
    round(&worker, &mut reconciled).unwrap();
    // A power cut took the vectors, and that they are owed cannot be noted.
    let vectors = rusqlite::Connection::open(scratch.dir.vectors_db()).unwrap();
    vectors.execute_batch("DELETE FROM vectors").unwrap();
    let conn = rusqlite::Connection::open(scratch.dir.db()).unwrap();
    conn.execute_batch(
        "CREATE TRIGGER no BEFORE INSERT ON vector_backlog BEGIN SELECT RAISE(ABORT, 'no'); END",
    )
    .unwrap();
    reconciled = false;
    assert!(round(&worker, &mut reconciled).is_err());
    assert!(!reconciled);
    conn.execute_batch("DROP TRIGGER no").unwrap();
    round(&worker, &mut reconciled).unwrap();
    assert!(reconciled);
    let owed = store.with(|store| store.read().owed_vectors_count());
    assert_eq!(owed.unwrap(), 1);
    worker.drain.stop(Duration::from_secs(9));
}
