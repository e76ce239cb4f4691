use std::path::Path;

use super::{is_due, list, make, prune, stamp};
use crate::clock::Millis;
use crate::store::Store;

const NOW: Millis = Millis(1_769_853_600_000);
const HOUR: i64 = 3_600;

fn names(dir: &Path) -> Vec<String> {
    let backups = list(dir).unwrap();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    backups.iter().map(|backup| name(&backup.path)).collect()
}

#[test]
fn a_name_tells_its_time() {
    assert_eq!(stamp(NOW), "20260131T100000Z");
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("claude-mem-20260131T100000Z.db"), "x").unwrap();
    for other in [
        "damaged-20260131T100000Z.db",
        "claude-mem-x.db",
        "notes.txt",
    ] {
        std::fs::write(dir.path().join(other), "x").unwrap();
    }
    let found = list(dir.path()).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].at, found[0].bytes), (NOW, 1));
}

#[test]
fn a_backup_opens_as_a_store_and_only_its_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let database = dir.path().join("claude-mem.db");
    let mut store = Store::open(&database).unwrap();
    store.write(|tx| tx.set_meta("a", "b")).unwrap();
    let made = make(&database, &dir.path().join("backups"), NOW).unwrap();
    let copy = Store::open_read_only(&made.path).unwrap();
    assert_eq!(copy.read().meta("a").unwrap().as_deref(), Some("b"));
    let mode = std::fs::metadata(&made.path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn one_is_due_when_there_is_none_or_something_changed_since() {
    let dir = tempfile::tempdir().unwrap();
    let (database, backups) = (dir.path().join("claude-mem.db"), dir.path().join("backups"));
    let mut store = Store::open(&database).unwrap();
    assert!(is_due(&database, &backups).unwrap());
    store.checkpoint().unwrap();
    let made = make(&database, &backups, NOW).unwrap();
    assert!(!is_due(&database, &backups).unwrap());
    store.write(|tx| tx.set_meta("a", "b")).unwrap();
    // File times are coarse: what was written just now counts as later.
    let copy = std::fs::File::options()
        .append(true)
        .open(&made.path)
        .unwrap();
    copy.set_modified(std::time::UNIX_EPOCH).unwrap();
    assert!(is_due(&database, &backups).unwrap());
}

#[test]
fn the_oldest_go_first_and_the_newest_stays_whatever_its_size() {
    for (keep, bytes_max, want) in [(3, 1_000, 3), (5, 1_000, 5), (5, 25, 2), (0, 0, 1)] {
        let dir = tempfile::tempdir().unwrap();
        for hour in 0..5 {
            let name = format!("claude-mem-{}.db", stamp(NOW.plus_seconds(hour * HOUR)));
            std::fs::write(dir.path().join(name), "0123456789").unwrap();
        }
        assert_eq!(prune(dir.path(), keep, bytes_max).unwrap(), 5 - want);
        let left = names(dir.path());
        assert_eq!(left.len(), want, "keep {keep}, {bytes_max} bytes");
        assert_eq!(left.last().unwrap(), "claude-mem-20260131T140000Z.db");
    }
}

#[test]
fn a_database_that_cannot_be_looked_at_is_not_one_that_did_not_change() {
    let dir = tempfile::tempdir().unwrap();
    let (database, backups) = (dir.path().join("a.db"), dir.path().join("backups"));
    drop(Store::open(&database).unwrap());
    make(&database, &backups, Millis(0)).unwrap();
    let knot = dir.path().join("knot.db");
    std::os::unix::fs::symlink(&knot, &knot).unwrap();
    assert!(is_due(&knot, &backups).is_err());
}
