use super::*;
use crate::{Inbox, Store};

struct SwapFixture {
    _dir: tempfile::TempDir,
    database: PathBuf,
    swap: DatabaseSwap,
}

/// An old database with unmerged data in its write-ahead log, and a new one that is ready.
fn stage() -> SwapFixture {
    let dir = tempfile::tempdir().unwrap();
    let database = dir.path().join("claude-mem.db");
    let swap = DatabaseSwap { ready: dir.path().join("ready.db"), aside: dir.path().join("aside.db") };
    for (path, which) in [(&swap.ready, "new"), (&database, "old")] {
        let mut store = Store::open(path).unwrap();
        store.write(|tx| tx.set_meta("which", which)).unwrap();
        if which == "old" {
            // As a killed process leaves it: the log is not checkpointed.
            let log = std::fs::read(with_suffix(path, "-wal")).unwrap();
            drop(store);
            std::fs::write(with_suffix(path, "-wal"), log).unwrap();
        }
    }
    SwapFixture { _dir: dir, database, swap }
}

fn which(path: &Path) -> Option<String> {
    Store::open(path).unwrap().read().meta("which").unwrap()
}

#[test]
fn interrupted_swap_is_completed_before_opening() {
    let steps = stage().swap.renames(Path::new("x")).len();
    for made in 0..=steps {
        let SwapFixture { _dir, database, swap } = stage();
        swap.write_note(&database).unwrap();
        for (from, to) in swap.renames(&database).into_iter().take(made) {
            // The log may be gone with its database.
            drop(std::fs::rename(from, to));
        }
        let busy = |opened: Result<(), StoreError>| matches!(opened, Err(StoreError::Busy));
        assert!(busy(Inbox::open(&database).map(drop)), "{made}");
        assert!(busy(Store::open_read_only(&database).map(drop)), "{made}");
        assert_eq!(which(&database).as_deref(), Some("new"), "{made}");
        assert_eq!(which(&swap.aside).as_deref(), Some("old"), "{made}");
        assert!(!is_swap_pending(&database));
        Inbox::open(&database).unwrap();
    }
}

#[test]
fn unfinished_note_is_ignored() {
    let SwapFixture { _dir, database, swap } = stage();
    std::fs::write(with_suffix(&note_path(&database), ".new"), "{\"rea").unwrap();
    assert_eq!(which(&database).as_deref(), Some("old"));
    let gate = ExclusiveLock::acquire(&database, Duration::ZERO).unwrap();
    swap_database(&gate, &database, &swap.ready, &swap.aside).unwrap();
    drop(gate);
    assert_eq!(which(&database).as_deref(), Some("new"));
}

#[test]
fn swap_stays_pending_if_new_database_is_unreadable() {
    let SwapFixture { _dir: dir, database, swap } = stage();
    let knot = dir.path().join("knot");
    std::os::unix::fs::symlink(&knot, &knot).unwrap();
    swap.write_note(&database).unwrap();
    let unseen = DatabaseSwap { ready: knot.join("ready.db"), aside: swap.aside };
    assert!(matches!(unseen.complete(&database), Err(StoreError::Io(..))));
    assert!(note_path(&database).exists());
}
