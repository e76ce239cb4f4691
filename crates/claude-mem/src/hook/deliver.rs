//! Out of the hook: into the queue, or into the spool where the database cannot take it.
//!
//! Invariant: when `event` returns `Ok`, the event is on the disk, and stays there whatever
//! becomes of this process.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::event::{Event, EventKey};
use super::key;
use super::spool::{self, Spooled, Taken};
use crate::clock::{Micros, Millis};
use crate::ids::ClientSessionId;
use crate::limits::{SPOOL_PER_HOOK_MAX, SPOOL_PER_HOOK_MS};
use crate::paths::DataDir;
use crate::store::{Inbox, StoreError};

/// Where an event came to lie.
#[derive(Debug)]
pub enum Delivered {
    Stored,
    /// In the spool, because of this.
    Spooled(StoreError),
}

/// Neither could take it.
#[derive(Debug, thiserror::Error)]
#[error("the event is lost: {database}; the spool: {spool}")]
pub struct Lost {
    pub database: StoreError,
    pub spool: io::Error,
}

/// Delivers one event, and takes a few along that had to wait.
pub fn event(dir: &DataDir, key: EventKey, event: &Event, now: Millis) -> Result<Delivered, Lost> {
    let stored = in_inbox(dir, now, |inbox| {
        inbox.accept(key, event, now).map(|_known_or_new| ())
    });
    or_spool(dir, event.at, &Spooled::event(key, event), stored)
}

/// Notes a session that is not to be remembered.
pub fn ignore_session(
    dir: &DataDir,
    client: &str,
    session: &ClientSessionId,
    at: Micros,
) -> Result<Delivered, Lost> {
    let now = at.millis();
    let stored = in_inbox(dir, now, |inbox| inbox.ignore_session(client, session, now));
    let spooled = Spooled::Ignore {
        client: client.to_owned(),
        session: session.clone(),
    };
    or_spool(dir, at, &spooled, stored)
}

fn in_inbox(
    dir: &DataDir,
    now: Millis,
    own: impl FnOnce(&mut Inbox) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut inbox = open(dir)?;
    own(&mut inbox)?;
    let until = Instant::now() + Duration::from_millis(SPOOL_PER_HOOK_MS);
    // Our own event is safe; what waits in the spool waits for the next process if need be.
    let _ = spool::take_in(
        dir,
        SPOOL_PER_HOOK_MAX,
        || Instant::now() < until,
        |spooled| take(&mut inbox, spooled, now),
    );
    // The event is committed: how the connection ends cannot change that.
    let _ = inbox.close();
    Ok(())
}

fn open(dir: &DataDir) -> Result<Inbox, StoreError> {
    let database = dir.db();
    match Inbox::open(&database) {
        Err(StoreError::Io(..) | StoreError::Missing) if !dir.root().is_dir() => {
            let place = dir.root().display();
            dir.create()
                .map_err(|e| StoreError::Io(place.to_string(), e))?;
            Inbox::open(&database)
        }
        opened => opened,
    }
}

fn or_spool(
    dir: &DataDir,
    at: Micros,
    spooled: &Spooled<'_>,
    stored: Result<(), StoreError>,
) -> Result<Delivered, Lost> {
    let Err(database) = stored else {
        return Ok(Delivered::Stored);
    };
    match spool::put(dir, at, spooled) {
        Ok(()) => Ok(Delivered::Spooled(database)),
        Err(spool) => Err(Lost { database, spool }),
    }
}

/// Puts one spooled file's content into the database. For `spool::take_in`.
pub fn take(inbox: &mut Inbox, spooled: &Spooled<'_>, now: Millis) -> Taken {
    let stored = match spooled {
        Spooled::Event { key, event } => match key::from_hex(key) {
            Some(key) => inbox
                .accept(EventKey(key), event, now)
                .map(|_known_or_new| ()),
            None => return Taken::Refused,
        },
        Spooled::Ignore { client, session } => inbox.ignore_session(client, session, now),
    };
    match stored {
        Ok(()) => Taken::Stored,
        // Something about this very event; the others may fare better.
        Err(StoreError::Json(_) | StoreError::Other(_)) => Taken::Refused,
        Err(_) => Taken::Unable,
    }
}

/// Tells a running worker that there is work. If there is none, its next one will see.
pub fn wake(socket: &Path) {
    // Nobody listens, or the worker has so many calls waiting that it is awake.
    let _ = try_wake(socket);
}

fn try_wake(socket: &Path) -> io::Result<()> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
    let address = SocketAddrUnix::new(socket)?;
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let end = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::connect(&end, &address)?;
    rustix::io::write(&end, b"wake\n")?;
    Ok(())
}

#[cfg(test)]
#[path = "deliver_tests.rs"]
mod tests;
