//! Turns that nobody may record.
//!
//! A prompt that is nothing but private mutes its turn: the tools it leads to, the agent's last
//! words, any summary that covers it. What says so is an empty file, the least that can be
//! written. Where it cannot be made in its own directory, it is made where events are: if not
//! even there, none can be put there either.
//!
//! Invariant: in doubt it is muted. Only "there is no such file" means that a turn may be kept.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::key;
use crate::paths::{self, DataDir};

/// The marks of one session.
#[derive(Debug)]
pub struct Marks<'a> {
    dir: &'a DataDir,
    client: &'a str,
    session: &'a str,
}

impl<'a> Marks<'a> {
    pub fn of(dir: &'a DataDir, client: &'a str, session: &'a str) -> Self {
        Self {
            dir,
            client,
            session,
        }
    }

    /// A private prompt begins: from here to the next prompt nothing is kept. The prompt's own
    /// mark stays, because work that it set off in the background may end in a later turn.
    pub fn mute_turn(&self, prompt_id: Option<&str>) -> io::Result<()> {
        self.set(&self.turn())?;
        self.note_private()?;
        match prompt_id {
            Some(id) => self.set(&self.prompt(id)),
            None => Ok(()),
        }
    }

    /// Something in this session was private, now or earlier: the client's own summary of the
    /// conversation may tell of it.
    pub fn note_private(&self) -> io::Result<()> {
        self.set(&self.of_session(".past"))
    }

    /// A prompt that may be kept begins.
    pub fn open_turn(&self) -> io::Result<()> {
        for place in self.places(&self.turn()) {
            match std::fs::remove_file(place) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
        }
        Ok(())
    }

    /// True if what happens now must not be kept.
    pub fn is_muted(&self, prompt_id: Option<&str>) -> bool {
        self.stands(&self.turn()) || prompt_id.is_some_and(|id| self.is_prompt_muted(id))
    }

    /// True if nothing of the turn that began with this prompt may be kept.
    pub fn is_prompt_muted(&self, prompt_id: &str) -> bool {
        self.stands(&self.prompt(prompt_id))
    }

    /// True if a summary of the whole conversation must not be kept.
    pub fn had_private(&self) -> bool {
        self.stands(&self.of_session(".past"))
    }

    /// The session asked not to be remembered, for good.
    pub fn ignore(&self) -> io::Result<()> {
        self.set(&self.of_session(".ignored"))
    }

    pub fn is_ignored(&self) -> bool {
        self.stands(&self.of_session(".ignored"))
    }

    /// Some of what happens in this session is not to be kept, for a reason that its transcript
    /// does not tell: a pause, a setting of its own. Only what hooks deliver may be kept of it.
    pub fn close_transcript(&self) -> io::Result<()> {
        let closed = self.of_session(".closed");
        if self.stands(&closed) {
            return Ok(());
        }
        self.set(&closed)
    }

    /// True if the session's transcript must not be read.
    pub fn is_transcript_closed(&self) -> bool {
        self.stands(&self.of_session(".closed")) || self.is_ignored()
    }

    fn set(&self, mark: &str) -> io::Result<()> {
        let [usual, other] = self.places(mark);
        let made = make(&usual, &self.dir.muted());
        made.or_else(|e| make(&other, &self.dir.spool()).map_err(|_| e))
    }

    fn stands(&self, mark: &str) -> bool {
        self.places(mark).iter().any(stands)
    }

    /// Where a mark may lie: in its own directory, or else among the events.
    fn places(&self, mark: &str) -> [PathBuf; 2] {
        let other = format!("muted-{mark}");
        [self.dir.muted().join(mark), self.dir.spool().join(other)]
    }

    fn turn(&self) -> String {
        self.of_session("")
    }

    fn of_session(&self, ending: &str) -> String {
        key::hex(&key::session(self.client, self.session)) + ending
    }

    fn prompt(&self, id: &str) -> String {
        let parts = [self.client, self.session, id].map(str::as_bytes);
        key::hex(&key::digest(&parts)) + ".prompt"
    }
}

fn make(mark: &Path, dir: &Path) -> io::Result<()> {
    let make = || {
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(mark)
            .map(drop)
    };
    match make() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            paths::create_dir(dir)?;
            make()
        }
        made => made,
    }
}

fn stands(mark: &PathBuf) -> bool {
    match rustix::fs::stat(mark) {
        Err(rustix::io::Errno::NOENT) => false,
        Ok(_) | Err(_) => true,
    }
}

#[cfg(test)]
#[path = "mute_tests.rs"]
mod tests;
