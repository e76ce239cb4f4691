//! Opening the file: whose it is, who may read it, how it is tuned.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::StoreError;
use super::migrate;
use crate::limits::{BUSY_MS, HOOK_READ_BUSY_MS, HOOK_TIMES_MAX};

/// Stands at byte 68 of every database of ours ("cmem").
pub const APPLICATION_ID: i32 = 0x636d_656d;

/// Of a database that is read; what lies beyond is read page by page.
const MAPPED_BYTES_MAX: i64 = 1 << 30;

const SQLITE_MAGIC: &[u8; 16] = b"SQLite format 3\0";

// Older versions can corrupt a write-ahead log that several processes write.
const _: () = assert!(rusqlite::ffi::SQLITE_VERSION_NUMBER >= 3_051_003);

/// For a hook: creates a missing database, never migrates an old one.
pub(super) fn hook(path: &Path, busy_ms: u64) -> Result<Connection, StoreError> {
    create_if_missing(path, APPLICATION_ID, migrate::create)?;
    let conn = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, busy_ms)?;
    // The worker empties the log; a hook that did would pay for all hooks before it.
    conn.pragma_update(None, "wal_autocheckpoint", 0)?;
    Ok(conn)
}

pub(super) fn writer(path: &Path) -> Result<Connection, StoreError> {
    create_if_missing(path, APPLICATION_ID, migrate::create)?;
    let conn = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, BUSY_MS)?;
    conn.pragma_update(None, "foreign_keys", true)?;
    // What is deleted is gone from its page, not only from the row's.
    conn.pragma_update(None, "secure_delete", true)?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok(conn)
}

pub(super) fn reader(path: &Path) -> Result<Connection, StoreError> {
    refuse_other_than(path, APPLICATION_ID)?;
    let conn = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, BUSY_MS)?;
    // Pages are read where they lie. Whatever another connection writes empties this one's own
    // cache, and while sessions go on somebody always writes. SQLite lets go of the map before a
    // file that became smaller is read.
    conn.pragma_update(None, "mmap_size", MAPPED_BYTES_MAX)?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok(conn)
}

/// For a hook, which has `own` time of its processor for all that it asks, and little for
/// waiting. What comes later is `Busy`.
pub(super) fn hook_reader(path: &Path, own: Duration) -> Result<Connection, StoreError> {
    refuse_other_than(path, APPLICATION_ID)?;
    let mut conn = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, HOOK_READ_BUSY_MS)?;
    let (end, own_end) = (Instant::now() + own * HOOK_TIMES_MAX, own_time() + own);
    let is_over = move || own_time() >= own_end || Instant::now() >= end;
    conn.progress_handler(STEPS_BETWEEN_LOOKS, Some(is_over))?;
    conn.set_prepared_statement_cache_capacity(64);
    // All that it reads is of one moment, and is locked once instead of at every question.
    conn.execute_batch("BEGIN")?;
    Ok(conn)
}

/// Steps of SQLite's machine: some tens of microseconds.
const STEPS_BETWEEN_LOOKS: i32 = 4_000;

/// What this thread has used of its processor.
fn own_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Somebody else's file, where it lies: nothing is written, not even a lock. Only for one that
/// has no write-ahead log, which would not be read.
#[allow(
    clippy::disallowed_methods,
    reason = "this is the door that everyone else goes through"
)]
pub(super) fn foreign(path: &Path) -> Result<Connection, StoreError> {
    use std::fmt::Write as _;
    use std::os::unix::ffi::OsStrExt;
    let mut uri = String::from("file:");
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing into a string cannot fail.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri.push_str("?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(uri, flags)?;
    distrust(&conn)?;
    Ok(conn)
}

/// A copy of somebody else's file and its write-ahead log.
pub(super) fn foreign_copy(path: &Path) -> Result<Connection, StoreError> {
    connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, BUSY_MS)
}

/// A backup has no write-ahead log; a database has.
pub(super) fn keep_a_log(path: &Path) -> Result<(), StoreError> {
    let conn = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, BUSY_MS)?;
    conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    conn.close().map_err(|(_, e)| e.into())
}

/// For a file that can be made again.
pub(super) fn rebuildable(path: &Path, writable: bool) -> Result<Connection, StoreError> {
    let flags = if writable {
        OpenFlags::SQLITE_OPEN_READ_WRITE
    } else {
        OpenFlags::SQLITE_OPEN_READ_ONLY
    };
    connect(path, flags, BUSY_MS)
}

#[allow(
    clippy::disallowed_methods,
    reason = "this is the door that everyone else goes through"
)]
fn connect(path: &Path, flags: OpenFlags, busy_ms: u64) -> Result<Connection, StoreError> {
    let conn = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    conn.busy_timeout(Duration::from_millis(busy_ms))?;
    distrust(&conn)?;
    conn.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(conn)
}

/// What stands in a file is data, whoever wrote it.
fn distrust(conn: &Connection) -> Result<(), StoreError> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // Otherwise a bound LIMIT is looked at to plan by, and every new value of it, the first one
    // too, makes SQLite compile the statement again.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// Makes sure that there is a database of ours at `path`. Whoever comes second finds the
/// first one's: the file is built under another name and linked into place.
pub(super) fn create_if_missing(
    path: &Path,
    application_id: i32,
    fill: fn(&mut Connection) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    match refuse_other_than(path, application_id) {
        Err(StoreError::Missing) => {}
        other => return other,
    }
    let unfinished = path.with_extension(format!("db.new-{}", std::process::id()));
    let built =
        build(&unfinished, application_id, fill).and_then(|()| link_into_place(&unfinished, path));
    // The link keeps the data; only the working name goes. It may not exist if building failed.
    match std::fs::remove_file(&unfinished) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            return Err(StoreError::io(
                format!("removing {}", unfinished.display()),
                e,
            ));
        }
        _ => {}
    }
    // Whoever was first, what stands there now is looked at before it is connected to.
    built.and_then(|()| refuse_other_than(path, application_id))
}

#[allow(
    clippy::disallowed_methods,
    reason = "the one place that makes a database"
)]
fn build(
    path: &Path,
    application_id: i32,
    fill: fn(&mut Connection) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let file = create_private_file(path).map_err(|e| StoreError::io(path.display(), e))?;
    let mut conn = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    // Nobody else knows this name yet: one flush at the end is enough.
    conn.pragma_update(None, "synchronous", "OFF")?;
    fill(&mut conn)?;
    conn.pragma_update(None, "application_id", application_id)?;
    conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    conn.close().map_err(|(_, e)| e)?;
    file.sync_all()
        .map_err(|e| StoreError::io(path.display(), e))
}

/// Gives `from` the name `to` as well, unless something stands there already.
pub(super) fn link_into_place(from: &Path, to: &Path) -> Result<(), StoreError> {
    match std::fs::hard_link(from, to) {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        // Some network file systems know no links: there a rename that refuses to overwrite.
        Err(_) => {
            let no_replace = rustix::fs::RenameFlags::NOREPLACE;
            match rustix::fs::renameat_with(rustix::fs::CWD, from, rustix::fs::CWD, to, no_replace)
            {
                Ok(()) | Err(rustix::io::Errno::EXIST) => Ok(()),
                Err(e) => Err(StoreError::io(to.display(), e.into())),
            }
        }
    }
}

/// Looks at the header alone, so that a foreign database is not even opened.
///
/// Once per file and process: closing any descriptor of a file takes away all locks that the
/// process holds on it, also those that SQLite relies on. The first look at a file comes before
/// its first connection, and there is no second.
pub(super) fn refuse_other_than(path: &Path, application_id: i32) -> Result<(), StoreError> {
    // A deleted file's number is given away again; its birth is not.
    type Known = (u64, u64, Option<std::time::SystemTime>, i32);
    static KNOWN: Mutex<Vec<Known>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let file = match std::fs::metadata(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Err(StoreError::Missing),
        Err(e) => return Err(StoreError::io(path.display(), e)),
        Ok(meta) => (meta.dev(), meta.ino(), meta.created().ok(), application_id),
    };
    if known.contains(&file) {
        return Ok(());
    }
    read_header(path, application_id)?;
    known.push(file);
    Ok(())
}

fn read_header(path: &Path, application_id: i32) -> Result<(), StoreError> {
    let mut header = Vec::with_capacity(100);
    let read = File::open(path).and_then(|file| file.take(100).read_to_end(&mut header));
    match read {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Err(StoreError::Missing),
        Err(e) => return Err(StoreError::io(path.display(), e)),
        Ok(_) => {}
    }
    if !header.starts_with(SQLITE_MAGIC) || header.len() < 100 {
        return Err(StoreError::Damaged);
    }
    let id = i32::from_be_bytes([header[68], header[69], header[70], header[71]]);
    if id == application_id {
        Ok(())
    } else {
        Err(StoreError::Foreign)
    }
}

/// A new file that only its owner can read, whatever the umask. Fails if it exists.
pub fn create_private_file(path: &Path) -> std::io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    Ok(file)
}
