//! Privacy marks: small files that say which turns and sessions must not be captured.
//!
//! A fully private prompt mutes its turn: its tool calls, the agent's last message and every summary
//! that covers it. [`PrivacyMarks`] stores a mark as an empty file, the least that can be written. If
//! the file cannot be created in `muted/`, it is created in the spool directory; if that fails too, no
//! event can be spooled there either, and a spare mark that was made earlier is renamed, which needs no
//! room.
//!
//! A mark that could not be written must not look like a prompt without one. So a prompt that may be
//! captured leaves evidence as well: its id in the session's record of accepted prompts. An event of a
//! prompt that is not in the record counts as private; the transcript, which shows the prompt itself,
//! decides later.
//!
//! One mark is not empty: the keyed hashes of the distinctive words of private blocks
//! ([`SessionWords`]), by which later hooks of the session mask them where the agent repeats them.
//!
//! Invariant: in doubt, a turn is muted. Only "no such file" means that it may be captured.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::session_words::SessionWords;
use claude_mem_core::event_key;
use claude_mem_core::paths;
use claude_mem_core::paths::DataDir;

/// Spare marks: a private prompt needs up to three.
const SPARE_MARKS: usize = 6;

/// Maximum bytes that are read of a record of accepted prompts: eight thousand prompts.
const ACCEPTED_BYTES_MAX: u64 = 256 << 10;

/// Maximum bytes that are read of a mark with words; those of one session have fewer.
const WORDS_BYTES_MAX: u64 = 64 << 10;

/// The privacy marks of one session.
#[derive(Debug)]
pub struct PrivacyMarks<'a> {
    dir: &'a DataDir,
    client: &'a str,
    session: &'a str,
}

impl<'a> PrivacyMarks<'a> {
    pub fn for_session(dir: &'a DataDir, client: &'a str, session: &'a str) -> Self {
        Self { dir, client, session }
    }

    /// Mutes the turn of a private prompt, up to the next prompt. The prompt's own mark stays, because
    /// background work that it started may end in a later turn.
    pub fn mute_turn(&self, prompt_id: Option<&str>) -> io::Result<()> {
        // An empty record mutes too, and emptying it needs neither room nor a writable directory.
        self.set(&self.turn_mark()).or_else(|e| self.clear_accepted().map_err(|_| e))?;
        self.note_private()?;
        match prompt_id {
            Some(id) => self.set(&self.prompt_mark(id)),
            None => Ok(()),
        }
    }

    /// Records that part of this session was private, because the client's own summary of the
    /// conversation may repeat it.
    pub fn note_private(&self) -> io::Result<()> {
        self.set(&self.session_mark(".past"))
    }

    /// Remembers the distinctive words of the private blocks of a prompt, as keyed hashes. The key is
    /// made for the session and is kept with them.
    pub fn learn_private_words(&self, prompt: &str) -> io::Result<()> {
        let mut words = self.private_words()?;
        words.learn(prompt);
        self.keep_private_words(&words)
    }

    /// Writes the words of private blocks of this session.
    pub(crate) fn keep_private_words(&self, words: &SessionWords) -> io::Result<()> {
        let text = words.encode();
        let [usual, other] = self.paths(&self.words_mark());
        let made = write_mark(&usual, &self.dir.muted(), &text);
        made.or_else(|e| write_mark(&other, &self.dir.spool(), &text).map_err(|_| e))
    }

    /// The words of private blocks of this session. An error means that there may be some.
    pub fn private_words(&self) -> io::Result<SessionWords> {
        for place in self.paths(&self.words_mark()) {
            match paths::open_file(&place) {
                Ok(file) => return read_words(file),
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => return Err(e),
            }
        }
        Ok(SessionWords::default())
    }

    /// Unmutes the session: a prompt that may be captured begins.
    pub fn unmute_turn(&self) -> io::Result<()> {
        for place in self.paths(&self.turn_mark()) {
            claude_mem_core::paths::remove_if_exists(&place)?;
        }
        Ok(())
    }

    /// Records that the prompt may be captured, and with it the rest of its turn.
    pub fn accept_prompt(&self, prompt_id: Option<&str>) -> io::Result<()> {
        let line = match prompt_id {
            Some(id) => self.prompt_digest(id) + "\n",
            None => "-\n".to_owned(),
        };
        let record = self.accepted_prompts();
        let append = || paths::append_file(&record)?.write_all(line.as_bytes());
        match append() {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                paths::create_dir(&self.dir.muted())?;
                append()
            }
            appended => appended,
        }
    }

    /// Makes the spare marks that are missing, while there is room for them.
    pub fn make_spare_marks(&self) -> io::Result<()> {
        let muted = self.dir.muted();
        (0..SPARE_MARKS).try_for_each(|n| create_mark(&muted.join(spare_name(n)), &muted))
    }

    /// True if the current event must not be captured: its turn is muted, or nothing shows that its
    /// prompt was accepted.
    pub fn is_muted(&self, prompt_id: Option<&str>) -> bool {
        self.is_set(&self.turn_mark()) || !self.has_accepted(prompt_id)
    }

    /// True if the turn, or the turn that began with this prompt, is marked as private.
    pub fn is_marked(&self, prompt_id: Option<&str>) -> bool {
        self.is_set(&self.turn_mark()) || prompt_id.is_some_and(|id| self.is_prompt_muted(id))
    }

    /// Whether the prompt is in the record of accepted prompts. A client that sends no prompt ids is
    /// muted by an empty record only.
    fn has_accepted(&self, prompt_id: Option<&str>) -> bool {
        let record = match paths::open_file(&self.accepted_prompts()) {
            Err(e) => return prompt_id.is_none() && e.kind() == io::ErrorKind::NotFound,
            Ok(record) => record,
        };
        let Some(id) = prompt_id else {
            return record.metadata().is_ok_and(|about| about.len() > 0);
        };
        let mut lines = Vec::new();
        let read = record.take(ACCEPTED_BYTES_MAX).read_to_end(&mut lines);
        let digest = self.prompt_digest(id);
        // The latest prompt is the most likely one.
        read.is_ok() && memchr::memmem::rfind(&lines, digest.as_bytes()).is_some()
    }

    /// Empties the record of accepted prompts.
    fn clear_accepted(&self) -> io::Result<()> {
        paths::append_file(&self.accepted_prompts())?.set_len(0)
    }

    /// True if nothing of the turn that began with this prompt may be captured.
    pub fn is_prompt_muted(&self, prompt_id: &str) -> bool {
        self.is_set(&self.prompt_mark(prompt_id))
    }

    /// True if a summary of the whole conversation must not be captured.
    pub fn had_private(&self) -> bool {
        self.is_set(&self.session_mark(".past"))
    }

    /// Marks the whole session as ignored, permanently.
    pub fn mark_ignored(&self) -> io::Result<()> {
        self.set(&self.session_mark(".ignored"))
    }

    pub fn is_ignored(&self) -> bool {
        self.is_set(&self.session_mark(".ignored"))
    }

    /// Excludes the transcript from backfill: part of this session must not be captured for a reason
    /// that the transcript does not show, such as a pause or a session's own setting. Only events
    /// from hooks may be captured.
    pub fn close_transcript(&self) -> io::Result<()> {
        let closed = self.session_mark(".closed");
        if self.is_set(&closed) {
            return Ok(());
        }
        self.set(&closed)
    }

    /// True if the session's transcript must not be read.
    pub fn is_transcript_closed(&self) -> bool {
        self.is_set(&self.session_mark(".closed")) || self.is_ignored()
    }

    fn set(&self, mark: &str) -> io::Result<()> {
        let [usual, other] = self.paths(mark);
        let made = create_mark(&usual, &self.dir.muted());
        let made = made.or_else(|e| create_mark(&other, &self.dir.spool()).map_err(|_| e));
        made.or_else(|e| self.rename_spare(&usual).map_err(|_| e))
    }

    /// Turns a spare mark into this one.
    fn rename_spare(&self, mark: &Path) -> io::Result<()> {
        let spare = |n| self.dir.muted().join(spare_name(n));
        let mut tried = (0..SPARE_MARKS).map(|n| std::fs::rename(spare(n), mark));
        tried.find(Result::is_ok).unwrap_or_else(|| Err(io::ErrorKind::NotFound.into()))
    }

    fn is_set(&self, mark: &str) -> bool {
        self.paths(mark).iter().any(may_exist)
    }

    /// The two possible paths of a mark: in `muted/`, else in the spool directory.
    fn paths(&self, mark: &str) -> [PathBuf; 2] {
        let other = format!("muted-{mark}");
        [self.dir.muted().join(mark), self.dir.spool().join(other)]
    }

    fn turn_mark(&self) -> String {
        self.session_mark("")
    }

    fn session_mark(&self, ending: &str) -> String {
        event_key::hex(&event_key::session_key(self.client, self.session)) + ending
    }

    fn words_mark(&self) -> String {
        self.session_mark(".words")
    }

    fn prompt_mark(&self, id: &str) -> String {
        self.prompt_digest(id) + ".prompt"
    }

    fn prompt_digest(&self, id: &str) -> String {
        let parts = [self.client, self.session, id].map(str::as_bytes);
        event_key::hex(&event_key::digest(&parts))
    }

    /// The session's record of accepted prompts, one digest per line.
    fn accepted_prompts(&self) -> PathBuf {
        self.dir.muted().join(self.session_mark(".turns"))
    }
}

/// The words of the private blocks of all sessions that have marks, for text that belongs to no known session.
pub fn words_of_all_sessions(dir: &DataDir) -> io::Result<Vec<SessionWords>> {
    let mut found = Vec::new();
    for place in [dir.muted(), dir.spool()] {
        let entries = match std::fs::read_dir(&place) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "words") {
                match paths::open_file(&path) {
                    // The session's marks were removed meanwhile.
                    Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                    file => found.push(read_words(file?)?),
                }
            }
        }
    }
    Ok(found)
}

fn read_words(file: std::fs::File) -> io::Result<SessionWords> {
    let mut text = String::new();
    file.take(WORDS_BYTES_MAX).read_to_string(&mut text)?;
    SessionWords::decode(&text).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Replaces a mark that has contents.
fn write_mark(mark: &Path, dir: &Path, text: &str) -> io::Result<()> {
    create_mark(mark, dir)?;
    OpenOptions::new().write(true).truncate(true).open(mark)?.write_all(text.as_bytes())
}

fn spare_name(n: usize) -> String {
    format!("spare-{n}")
}

fn create_mark(mark: &Path, dir: &Path) -> io::Result<()> {
    // Opening a pipe for writing could block; then the mark is made in the other place.
    let no_wait = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let make = || {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600).custom_flags(no_wait);
        options.open(mark).map(drop)
    };
    match make() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            paths::create_dir(dir)?;
            make()
        }
        made => made,
    }
}

/// True unless the file certainly does not exist.
fn may_exist(mark: &PathBuf) -> bool {
    match rustix::fs::stat(mark) {
        Err(rustix::io::Errno::NOENT) => false,
        Ok(_) | Err(_) => true,
    }
}

#[cfg(test)]
#[path = "privacy_marks_tests.rs"]
mod tests;
