use std::path::Path;

use super::{create, format_stamp, is_due, list, prune};
use crate::Store;
use claude_mem_core::clock::Millis;

const NOW: Millis = Millis(1_769_853_600_000);
const HOUR: i64 = 3_600;

fn names(dir: &Path) -> Vec<String> {
    let backups = list(dir).unwrap();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    backups.iter().map(|backup| name(&backup.path)).collect()
}

#[test]
fn backup_name_encodes_its_time() {
    assert_eq!(format_stamp(NOW), "20260131T100000Z");
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("claude-mem-20260131T100000Z.db"), "x").unwrap();
    for other in ["damaged-20260131T100000Z.db", "claude-mem-x.db", "notes.txt"] {
        std::fs::write(dir.path().join(other), "x").unwrap();
    }
    let found = list(dir.path()).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].at, found[0].bytes), (NOW, 1));
}

#[test]
fn backup_is_a_private_store() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let database = dir.path().join("claude-mem.db");
    let mut store = Store::open(&database).unwrap();
    store.write(|tx| tx.set_meta("a", "b")).unwrap();
    let made = create(&database, &dir.path().join("backups"), NOW).unwrap();
    let copy = Store::open_read_only(&made.path).unwrap();
    assert_eq!(copy.read().meta("a").unwrap().as_deref(), Some("b"));
    let mode = std::fs::metadata(&made.path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn backup_is_due_when_missing_or_outdated() {
    let dir = tempfile::tempdir().unwrap();
    let (database, backups) = (dir.path().join("claude-mem.db"), dir.path().join("backups"));
    let mut store = Store::open(&database).unwrap();
    assert!(is_due(&database, &backups).unwrap());
    store.checkpoint().unwrap();
    let made = create(&database, &backups, NOW).unwrap();
    assert!(!is_due(&database, &backups).unwrap());
    store.write(|tx| tx.set_meta("a", "b")).unwrap();
    // File times are coarse, so a recent write counts as newer.
    let copy = std::fs::File::options().append(true).open(&made.path).unwrap();
    copy.set_modified(std::time::UNIX_EPOCH).unwrap();
    assert!(is_due(&database, &backups).unwrap());
}

#[test]
fn prune_deletes_oldest_and_keeps_newest() {
    for (keep, bytes_max, want) in [(3, 1_000, 3), (5, 1_000, 5), (5, 25, 2), (0, 0, 1)] {
        let dir = tempfile::tempdir().unwrap();
        for hour in 0..5 {
            let name = format!("claude-mem-{}.db", format_stamp(NOW.plus_seconds(hour * HOUR)));
            std::fs::write(dir.path().join(name), "0123456789").unwrap();
        }
        assert_eq!(prune(dir.path(), keep, bytes_max).unwrap(), 5 - want);
        let left = names(dir.path());
        assert_eq!(left.len(), want, "keep {keep}, {bytes_max} bytes");
        assert_eq!(left.last().unwrap(), "claude-mem-20260131T140000Z.db");
    }
}

#[test]
fn unreadable_database_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let (database, backups) = (dir.path().join("a.db"), dir.path().join("backups"));
    drop(Store::open(&database).unwrap());
    create(&database, &backups, Millis(0)).unwrap();
    let knot = dir.path().join("knot.db");
    std::os::unix::fs::symlink(&knot, &knot).unwrap();
    assert!(is_due(&knot, &backups).is_err());
}
