//! Opens SQLite connections: checks whose file it is, keeps it private and sets the pragmas.
//!
//! `clippy.toml` forbids `Connection::open` elsewhere; backup and salvage are the exceptions. The
//! `open_*` functions differ in their flags, timeouts and caches; `create_if_missing` builds a new
//! database under a temporary name and links it into place. Invariant: a file with another
//! application id is never opened.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::StoreError;
use super::schema;
use claude_mem_core::limits::{BUSY_MS, HOOK_NOTE_BUSY_MS, HOOK_READ_BUSY_MS};
use claude_mem_core::platform;

/// Wall-clock limit of a hook's recall, as a multiple of its CPU limit: on a busy machine CPU time
/// comes slowly.
const HOOK_TIMES_MAX: u32 = 10;

/// SQLite's `application_id` at byte 68 of each of our databases ("cmem").
pub const APPLICATION_ID: i32 = 0x636d_656d;

/// Memory-mapped part of a database that is read; the rest is read page by page.
const MAPPED_BYTES_MAX: i64 = 1 << 30;

/// The version of the bundled SQLite.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}

const SQLITE_MAGIC: &[u8; 16] = b"SQLite format 3\0";

// Older versions can corrupt a write-ahead log with several writing processes.
const _: () = assert!(rusqlite::ffi::SQLITE_VERSION_NUMBER >= 3_051_003);

/// Opens for a writing hook: creates a missing database, never migrates an old one.
pub(super) fn open_hook_writer(path: &Path, busy_ms: u64) -> Result<Connection, StoreError> {
    create_if_missing(path, APPLICATION_ID, schema::create_schema)?;
    let conn = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, busy_ms)?;
    // The worker checkpoints. A hook that did would pay for all hooks before it.
    conn.pragma_update(None, "wal_autocheckpoint", 0)?;
    Ok(conn)
}

/// Opens for the worker and the commands, which read and write.
pub(super) fn open_writer(path: &Path) -> Result<Connection, StoreError> {
    create_if_missing(path, APPLICATION_ID, schema::create_schema)?;
    let conn = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, BUSY_MS)?;
    conn.pragma_update(None, "foreign_keys", true)?;
    // Overwrite deleted content in the file, so that it cannot be recovered from free pages.
    conn.pragma_update(None, "secure_delete", true)?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok(conn)
}

/// Opens for reading only.
pub(super) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    check_application_id(path, APPLICATION_ID)?;
    let conn = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, BUSY_MS)?;
    // Read pages from the memory map: every write by another connection invalidates this
    // connection's page cache, and while sessions run there is always a writer. SQLite drops the
    // map before it reads a file that shrank.
    conn.pragma_update(None, "mmap_size", MAPPED_BYTES_MAX)?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok(conn)
}

/// Begins a hook's read transaction: a single snapshot, and locks are taken once instead of per query.
/// All its queries together may use `own` of CPU time and little waiting time; after that they fail
/// with `Busy`.
pub(super) fn begin_hook_read(conn: &mut Connection, own: Duration) -> Result<(), StoreError> {
    conn.busy_timeout(Duration::from_millis(HOOK_READ_BUSY_MS))?;
    let (end, own_end) = (Instant::now() + own * HOOK_TIMES_MAX, thread_cpu_time() + own);
    let is_over = move || thread_cpu_time() >= own_end || Instant::now() >= end;
    conn.progress_handler(PROGRESS_STEPS, Some(is_over))?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok(conn.execute_batch("BEGIN")?)
}

/// Ends a hook's read transaction and its time limit, so that the hook may write.
pub(super) fn end_hook_read(conn: &mut Connection) -> Result<(), StoreError> {
    conn.progress_handler(0, None::<fn() -> bool>)?;
    conn.busy_timeout(Duration::from_millis(HOOK_NOTE_BUSY_MS))?;
    if !conn.is_autocommit() {
        conn.execute_batch("ROLLBACK")?;
    }
    Ok(())
}

/// Virtual machine steps between two checks of the deadline: some tens of microseconds.
const PROGRESS_STEPS: i32 = 4_000;

/// CPU time used by this thread.
fn thread_cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Opens another program's file in place, without writing anything, not even a lock. Only for a
/// file without a write-ahead log, because the log would not be read.
#[allow(clippy::disallowed_methods, reason = "other modules open their connections through here")]
pub(super) fn open_foreign(path: &Path) -> Result<Connection, StoreError> {
    use std::fmt::Write as _;
    use std::os::unix::ffi::OsStrExt;
    let mut uri = String::from("file:");
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri.push_str("?immutable=1");
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(uri, flags)?;
    harden(&conn)?;
    Ok(conn)
}

/// Opens our copy of another program's file and its write-ahead log.
pub(super) fn open_foreign_copy(path: &Path) -> Result<Connection, StoreError> {
    connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, BUSY_MS)
}

/// Switches a restored backup to WAL mode: backups have no write-ahead log, databases do.
pub(super) fn enable_wal(path: &Path) -> Result<(), StoreError> {
    let conn = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, BUSY_MS)?;
    conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    conn.close().map_err(|(_, e)| e.into())
}

/// Opens a file that can be rebuilt from the database.
pub(super) fn open_rebuildable(path: &Path, writable: bool) -> Result<Connection, StoreError> {
    let flags = if writable { OpenFlags::SQLITE_OPEN_READ_WRITE } else { OpenFlags::SQLITE_OPEN_READ_ONLY };
    connect(path, flags, BUSY_MS)
}

#[allow(clippy::disallowed_methods, reason = "other modules open their connections through here")]
fn connect(path: &Path, flags: OpenFlags, busy_ms: u64) -> Result<Connection, StoreError> {
    check_side_files(path)?;
    let conn = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    conn.busy_timeout(Duration::from_millis(busy_ms))?;
    harden(&conn)?;
    conn.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(conn)
}

/// SQLite opens the files beside a database without checking their type; a pipe would block it forever.
fn check_side_files(database: &Path) -> Result<(), StoreError> {
    for suffix in ["-journal", "-wal", "-shm"] {
        let path = claude_mem_core::paths::with_suffix(database, suffix);
        if std::fs::metadata(&path).is_ok_and(|about| !about.is_file()) {
            let why = std::io::Error::new(std::io::ErrorKind::InvalidInput, "not a regular file");
            return Err(StoreError::io(path.display(), why));
        }
    }
    Ok(())
}

/// Treats the file's content as untrusted data, whatever wrote it.
fn harden(conn: &Connection) -> Result<(), StoreError> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // Query plans must not depend on bound values: otherwise SQLite recompiles a statement for
    // every new value of a bound LIMIT, including the first.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// Ensures that one of our databases exists at `path`. If two processes race, the second uses the
/// first one's file: it is built under a temporary name and linked into place.
pub(super) fn create_if_missing(
    path: &Path,
    application_id: i32,
    fill: fn(&mut Connection) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    match check_application_id(path, application_id) {
        Err(StoreError::Missing) => {}
        other => return other,
    }
    let unfinished = path.with_extension(format!("db.new-{}", std::process::id()));
    let built =
        build_database(&unfinished, application_id, fill).and_then(|()| link_into_place(&unfinished, path));
    // The link keeps the data; only the temporary name is removed. It is missing if building
    // failed.
    remove_if_exists(&unfinished)?;
    // Another process may have won the race: check its file before connecting to it.
    built.and_then(|()| check_application_id(path, application_id))
}

#[allow(clippy::disallowed_methods, reason = "the only function that creates a database")]
fn build_database(
    path: &Path,
    application_id: i32,
    fill: fn(&mut Connection) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let file = create_private_file(path).map_err(|e| StoreError::io(path.display(), e))?;
    let mut conn = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    // No other process knows this name yet, so one flush at the end is enough.
    conn.pragma_update(None, "synchronous", "OFF")?;
    fill(&mut conn)?;
    conn.pragma_update(None, "application_id", application_id)?;
    conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    conn.close().map_err(|(_, e)| e)?;
    file.sync_all().map_err(|e| StoreError::io(path.display(), e))
}

/// Hard-links `from` to `to`, unless `to` exists already.
pub(super) fn link_into_place(from: &Path, to: &Path) -> Result<(), StoreError> {
    match std::fs::hard_link(from, to) {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        // Some network file systems have no hard links: use a rename that refuses to overwrite.
        Err(_) => match platform::rename_without_replacing(from, to) {
            Ok(()) => Ok(()),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
            Err(e) => Err(StoreError::io(to.display(), e)),
        },
    }
}

/// Reads only the header, so that a foreign database is never opened by SQLite.
///
/// Each file is checked once per process: closing any descriptor of a file releases all POSIX locks
/// that the process holds on it, including SQLite's. So the check comes before the file's first
/// connection and is not repeated.
pub(super) fn check_application_id(path: &Path, application_id: i32) -> Result<(), StoreError> {
    // Inode numbers are reused after a deletion; birth times are not.
    type CheckedFile = (u64, u64, Option<std::time::SystemTime>, i32);
    static KNOWN: Mutex<Vec<CheckedFile>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let file = match std::fs::metadata(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Err(StoreError::Missing),
        Err(e) => return Err(StoreError::io(path.display(), e)),
        Ok(meta) => (meta.dev(), meta.ino(), meta.created().ok(), application_id),
    };
    if known.contains(&file) {
        return Ok(());
    }
    check_header(path, application_id)?;
    known.push(file);
    Ok(())
}

fn check_header(path: &Path, application_id: i32) -> Result<(), StoreError> {
    let mut header = Vec::with_capacity(100);
    let read =
        claude_mem_core::paths::open_file(path).and_then(|file| file.take(100).read_to_end(&mut header));
    match read {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Err(StoreError::Missing),
        Err(e) => return Err(StoreError::io(path.display(), e)),
        Ok(_) => {}
    }
    if !header.starts_with(SQLITE_MAGIC) || header.len() < 100 {
        return Err(StoreError::Corrupt);
    }
    let id = i32::from_be_bytes([header[68], header[69], header[70], header[71]]);
    if id == application_id { Ok(()) } else { Err(StoreError::Foreign) }
}

/// Removes a file, if there is one.
pub(super) fn remove_if_exists(path: &Path) -> Result<(), StoreError> {
    claude_mem_core::paths::remove_if_exists(path).map_err(|e| StoreError::io(path.display(), e))
}

/// Creates a file with mode 0600, whatever the umask. Fails if it exists.
pub fn create_private_file(path: &Path) -> std::io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    Ok(file)
}
