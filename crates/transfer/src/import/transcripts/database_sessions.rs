//! Sessions that a client keeps in a database instead of files.
//!
//! The path of such a session is that of the database with the session's id below it, where no file can be.

use std::io;
use std::path::Path;

use super::found_session::{FoundSession, IMPORT_LIVE_SECONDS, TranscriptScan};
use claude_mem_capture::transcript::TranscriptHeader;
use claude_mem_core::clock::Millis;
use claude_mem_store::{DatabaseSession, SessionDatabase};

/// Lists the sessions of a database; `root` is the database, its folder, or the path of one session.
pub(super) fn scan_database(root: &Path, name: &str, now: Millis) -> io::Result<TranscriptScan> {
    let wanted = root.parent().filter(|parent| parent.is_file()).and(root.file_name());
    let path = match (wanted, root.is_dir()) {
        (Some(_), _) => root.parent().unwrap_or(root).to_owned(),
        (None, true) => root.join(name),
        (None, false) => root.to_owned(),
    };
    let found = open(&path)?.sessions().map_err(io::Error::other)?;
    let found = found.into_iter().map(|session| found_session(&path, session, now));
    let is_wanted = |found: &FoundSession| wanted.is_none_or(|id| id == found.session.as_str());
    Ok(TranscriptScan { sessions: found.filter(is_wanted).collect(), unreadable: Vec::new() })
}

/// Whether a session may be read from this path.
pub(super) fn is_in_database(path: &Path) -> bool {
    path.parent().is_some_and(Path::is_file)
}

/// The messages of the session with this path, one line each.
pub(super) fn read_messages(path: &Path, session: &str) -> io::Result<Vec<String>> {
    let database = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    open(database)?.messages(session).map_err(io::Error::other)
}

fn open(path: &Path) -> io::Result<SessionDatabase> {
    let database = SessionDatabase::open(path).map_err(io::Error::other)?;
    database.ok_or_else(|| io::Error::other("the client's database has an unknown layout"))
}

fn found_session(database: &Path, session: DatabaseSession, now: Millis) -> FoundSession {
    FoundSession {
        path: database.join(&session.id),
        header: TranscriptHeader {
            session: Some(session.id.clone()),
            cwd: Some(session.directory),
            version: Some(session.version),
            at: Some(session.created_at),
            ..TranscriptHeader::default()
        },
        session: session.id,
        agents: Vec::new(),
        last_at: session.updated_at,
        since: None,
        ended: now - session.updated_at > IMPORT_LIVE_SECONDS * 1_000,
        is_empty: session.bytes == 0,
        is_compressor: false,
        unreadable: None,
        bytes: session.bytes,
    }
}
