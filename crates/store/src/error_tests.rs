use rusqlite::ffi;

use super::*;

fn of(code: i32) -> StoreError {
    rusqlite::Error::SqliteFailure(ffi::Error::new(code), None).into()
}

#[test]
fn unopenable_is_not_missing() {
    let error = of(ffi::SQLITE_CANTOPEN);
    assert!(matches!(error, StoreError::CannotOpen(_)), "{error}");
    assert!(error.is_transient());
}

#[test]
fn failing_disk_is_not_full_disk() {
    for code in [ffi::SQLITE_FULL, ffi::SQLITE_IOERR_SHMSIZE] {
        assert!(matches!(of(code), StoreError::DiskFull), "{code}");
    }
    for code in [ffi::SQLITE_IOERR_READ, ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_IOERR_FSYNC] {
        assert!(matches!(of(code), StoreError::DiskIo(_)), "{code}");
    }
}
