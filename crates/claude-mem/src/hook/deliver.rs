//! Out of the hook, and on into the queue.
//!
//! Invariant: when `event` returns `Ok`, the event is on the disk, and stays there whatever
//! becomes of this process. From the spool it goes into the queue in one transaction with its
//! neighbours, and only then is its file removed; dying in between repeats, and never loses.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use super::event::{Event, EventKey};
use super::spool::{self, Letter, Opened};
use crate::clock::{Micros, Millis};
use crate::ids::ClientSessionId;
use crate::limits::{SPOOL_BATCH_MAX, SPOOL_PER_HOOK_MS};
use crate::paths::DataDir;
use crate::store::{Inbox, Store, StoreError};

/// Neither the spool nor the database could take it.
#[derive(Debug, thiserror::Error)]
#[error("an event is lost: the spool: {spool}; the database: {database}")]
pub struct Lost {
    pub spool: io::Error,
    pub database: StoreError,
}

/// Delivers one event.
pub fn event(dir: &DataDir, key: EventKey, event: &Event) -> Result<(), Lost> {
    let letter = Letter::Event(key, Cow::Borrowed(event));
    put(dir, event.at, &letter)
}

/// Notes a session that is not to be remembered.
pub fn ignore_session(
    dir: &DataDir,
    client: &str,
    session: &ClientSessionId,
    at: Micros,
) -> Result<(), Lost> {
    let letter = Letter::Ignore(client.to_owned(), session.clone());
    put(dir, at, &letter)
}

/// Into the spool; where no file can be made, into the database, which may have room left in its
/// own.
fn put(dir: &DataDir, at: Micros, letter: &Letter<'_>) -> Result<(), Lost> {
    let Err(spool) = spool::put(dir, at, letter) else {
        return Ok(());
    };
    let taken = Inbox::open(&dir.db()).and_then(|mut inbox| {
        inbox.take(&[letter], at.millis())?;
        inbox.close()
    });
    taken.map_err(|database| Lost { spool, database })
}

/// Where letters go: the whole store, or a hook's narrow view of it.
pub trait Queue {
    /// All of them, or none.
    fn take(&mut self, letters: &[&Letter<'_>], now: Millis) -> Result<(), StoreError>;
}

impl Queue for Inbox {
    fn take(&mut self, letters: &[&Letter<'_>], now: Millis) -> Result<(), StoreError> {
        self.write(|w| store(w, letters, now))
    }
}

impl Queue for Store {
    fn take(&mut self, letters: &[&Letter<'_>], now: Millis) -> Result<(), StoreError> {
        self.write(|w| store(w, letters, now))
    }
}

fn store(
    w: &crate::store::Writes<'_>,
    letters: &[&Letter<'_>],
    now: Millis,
) -> Result<(), StoreError> {
    for letter in letters {
        match letter {
            Letter::Event(key, event) => {
                w.accept(*key, event, now)?;
            }
            Letter::Ignore(client, session) => w.ignore_session(client, session, now)?,
        }
    }
    Ok(())
}

/// Takes in everything that waits, and says how many letters that were. Whoever works on the queue
/// does this first: a turn's tool uses may still lie in the spool when its end does not.
pub fn take_in(dir: &DataDir, queue: &mut impl Queue, now: Millis) -> Result<usize, StoreError> {
    let mut taken = 0;
    loop {
        match take_batch(dir, queue, now)? {
            0 => return Ok(taken),
            more => taken += more,
        }
    }
}

/// What a hook at a turn's boundary does where no worker runs: as much as it has time for.
pub fn take_in_some(dir: &DataDir, now: Millis) -> Result<(), StoreError> {
    let mut inbox = Inbox::open_to_note(&dir.db())?;
    let until = Instant::now() + Duration::from_millis(SPOOL_PER_HOOK_MS);
    while take_batch(dir, &mut inbox, now)? > 0 && Instant::now() < until {}
    inbox.close()
}

fn take_batch(dir: &DataDir, queue: &mut impl Queue, now: Millis) -> Result<usize, StoreError> {
    let io = |e| StoreError::Io("the spool".to_owned(), e);
    let opened = spool::open(dir, SPOOL_BATCH_MAX).map_err(io)?;
    let letters: Vec<_> = opened.iter().map(|opened| &opened.letter).collect();
    if letters.is_empty() {
        return Ok(0);
    }
    match queue.take(&letters, now) {
        Ok(()) => opened.iter().try_for_each(Opened::done).map_err(io)?,
        Err(e) if is_about_one(&e) => take_one_by_one(dir, &opened, queue, now)?,
        Err(e) => return Err(e),
    }
    Ok(opened.len())
}

/// One of them spoils the batch: it is found, and set aside.
fn take_one_by_one(
    dir: &DataDir,
    opened: &[Opened],
    queue: &mut impl Queue,
    now: Millis,
) -> Result<(), StoreError> {
    let io = |e| StoreError::Io("the spool".to_owned(), e);
    for one in opened {
        match queue.take(&[&one.letter], now) {
            Ok(()) => one.done().map_err(io)?,
            Err(e) if is_about_one(&e) => one.refuse(dir, &e).map_err(io)?,
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Errors that lie in what is stored, not in where or when: those will come again.
fn is_about_one(error: &StoreError) -> bool {
    use rusqlite::ErrorCode::{ConstraintViolation, TooBig, TypeMismatch};
    match error {
        StoreError::Json(_) => true,
        StoreError::Other(e) => matches!(
            e.sqlite_error_code(),
            Some(ConstraintViolation | TooBig | TypeMismatch)
        ),
        _ => false,
    }
}

/// Tells a running worker that there is work. False if there is none; an error if that cannot be
/// told, and then there is none for us.
pub fn wake(socket: &Path) -> io::Result<bool> {
    use io::ErrorKind::{ConnectionRefused, NotFound, WouldBlock};
    match super::ask::connect(socket) {
        Ok(mut worker) => {
            // Whoever could be reached is awake, whatever becomes of the word.
            let _ = worker.write_all(b"wake\n");
            Ok(true)
        }
        Err(e) => match e.kind() {
            // One that has so many calls waiting that it takes no more.
            WouldBlock => Ok(true),
            NotFound | ConnectionRefused => Ok(false),
            _ => Err(e),
        },
    }
}

#[cfg(test)]
#[path = "deliver_tests.rs"]
mod tests;
