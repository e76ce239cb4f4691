use super::*;
use crate::store::Inbox;

struct Stage {
    _dir: tempfile::TempDir,
    database: PathBuf,
    swap: Swap,
}

/// An old database with something in its log only, and a new one that is ready.
fn stage() -> Stage {
    let dir = tempfile::tempdir().unwrap();
    let database = dir.path().join("claude-mem.db");
    let swap = Swap {
        ready: dir.path().join("ready.db"),
        aside: dir.path().join("aside.db"),
    };
    for (path, which) in [(&swap.ready, "new"), (&database, "old")] {
        let mut store = Store::open(path).unwrap();
        store.write(|tx| tx.set_meta("which", which)).unwrap();
        if which == "old" {
            // As a killed process leaves it: nobody empties the log.
            let log = std::fs::read(beside(path, "-wal")).unwrap();
            drop(store);
            std::fs::write(beside(path, "-wal"), log).unwrap();
        }
    }
    Stage {
        _dir: dir,
        database,
        swap,
    }
}

fn which(path: &Path) -> Option<String> {
    Store::open(path).unwrap().read().meta("which").unwrap()
}

#[test]
fn wherever_a_swap_is_cut_off_it_is_ended_before_anyone_opens_a_database() {
    let steps = stage().swap.moves(Path::new("x")).len();
    for made in 0..=steps {
        let Stage {
            _dir,
            database,
            swap,
        } = stage();
        swap.note(&database).unwrap();
        for (from, to) in swap.moves(&database).into_iter().take(made) {
            // A log may have gone with its database.
            drop(std::fs::rename(from, to));
        }
        let busy = |opened: Result<(), StoreError>| matches!(opened, Err(StoreError::Busy));
        assert!(busy(Inbox::open(&database).map(drop)), "{made}");
        assert!(busy(Store::open_read_only(&database).map(drop)), "{made}");
        assert_eq!(which(&database).as_deref(), Some("new"), "{made}");
        assert_eq!(which(&swap.aside).as_deref(), Some("old"), "{made}");
        assert!(!is_under_way(&database));
        Inbox::open(&database).unwrap();
    }
}

#[test]
fn a_note_that_was_not_finished_changes_nothing() {
    let Stage {
        _dir,
        database,
        swap,
    } = stage();
    std::fs::write(beside(&note_beside(&database), ".new"), "{\"rea").unwrap();
    assert_eq!(which(&database).as_deref(), Some("old"));
    let gate = Gate::close(&database, Duration::ZERO).unwrap();
    Store::swap(&gate, &database, &swap.ready, &swap.aside).unwrap();
    drop(gate);
    assert_eq!(which(&database).as_deref(), Some("new"));
}

#[test]
fn a_swap_whose_new_database_cannot_be_looked_at_is_not_over() {
    let Stage {
        _dir: dir,
        database,
        swap,
    } = stage();
    let knot = dir.path().join("knot");
    std::os::unix::fs::symlink(&knot, &knot).unwrap();
    swap.note(&database).unwrap();
    let unseen = Swap {
        ready: knot.join("ready.db"),
        aside: swap.aside,
    };
    assert!(matches!(unseen.finish(&database), Err(StoreError::Io(..))));
    assert!(note_beside(&database).exists());
}
