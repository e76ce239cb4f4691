use rusqlite::ffi;

use super::*;

fn of(code: i32) -> StoreError {
    rusqlite::Error::SqliteFailure(ffi::Error::new(code), None).into()
}

#[test]
fn a_database_that_cannot_be_opened_is_not_one_that_is_not_there() {
    let error = of(ffi::SQLITE_CANTOPEN);
    assert!(matches!(error, StoreError::CannotOpen(_)), "{error}");
    assert!(error.may_pass());
}

#[test]
fn a_disk_that_fails_is_not_a_full_one() {
    for code in [ffi::SQLITE_FULL, ffi::SQLITE_IOERR_SHMSIZE] {
        assert!(matches!(of(code), StoreError::DiskFull), "{code}");
    }
    for code in [
        ffi::SQLITE_IOERR_READ,
        ffi::SQLITE_IOERR_WRITE,
        ffi::SQLITE_IOERR_FSYNC,
    ] {
        assert!(matches!(of(code), StoreError::Disk(_)), "{code}");
    }
}
