//! Who may come in: the install's token, the tokens of pages, and the links that give one.
//!
//! Invariant: a link works once and not for long; a page's token dies with the worker; tokens
//! are compared in constant time. They are 256 random bits, so nobody guesses one.

use std::collections::VecDeque;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use subtle::{Choice, ConstantTimeEq as _};

use crate::limits::{HTTP_LINK_SECONDS, HTTP_LINKS_MAX, HTTP_PAGES_MAX};
use crate::paths;

/// Hex digits of a token.
const TOKEN_CHARS: usize = 64;

/// The tokens of one worker.
#[derive(Debug)]
pub struct Keys {
    file: PathBuf,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    /// Read from the file when it is first needed, so that the worker starts without it.
    install: Option<(String, Stamp)>,
    pages: VecDeque<String>,
    links: VecDeque<(String, Instant)>,
}

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Held")
            .field("pages", &self.pages.len())
            .field("links", &self.links.len())
            .finish_non_exhaustive()
    }
}

impl Keys {
    pub fn new(file: PathBuf) -> Self {
        Self {
            file,
            held: Mutex::default(),
        }
    }

    /// The secret of a new link, which can be traded for a token once.
    pub fn link(&self, now: Instant) -> io::Result<String> {
        let secret = random()?;
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.links.len() >= HTTP_LINKS_MAX {
            held.links.pop_front();
        }
        held.links.push_back((secret.clone(), now));
        Ok(secret)
    }

    /// Trades a link's secret for a page's token. `None`: there is no such link, or no more.
    pub fn enter(&self, secret: &str, now: Instant) -> io::Result<Option<String>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let life = Duration::from_secs(HTTP_LINK_SECONDS);
        held.links
            .retain(|(_, made)| now.saturating_duration_since(*made) < life);
        let mut place = None;
        for (at, (known, _)) in held.links.iter().enumerate() {
            if bool::from(same(known, secret)) {
                place = Some(at);
            }
        }
        let Some(place) = place else { return Ok(None) };
        held.links.remove(place);
        let token = random()?;
        if held.pages.len() >= HTTP_PAGES_MAX {
            held.pages.pop_front();
        }
        held.pages.push_back(token.clone());
        Ok(Some(token))
    }

    /// Whether this is a page's token or the install's, which is what its file holds now: whoever
    /// removes or replaces the file makes the old one void.
    pub fn is_known(&self, token: &str) -> io::Result<bool> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = Choice::from(0);
        for page in &held.pages {
            known |= same(page, token);
        }
        if bool::from(known) {
            return Ok(true);
        }
        let there = Stamp::of(&self.file);
        let install = match held.install.take() {
            Some((install, stamp)) if there == Some(stamp) => install,
            _ => read_or_make(&self.file)?,
        };
        let known = same(&install, token);
        held.install = there
            .or_else(|| Stamp::of(&self.file))
            .map(|at| (install, at));
        Ok(known.into())
    }

    /// A new install token; the old one is void at once.
    pub fn rotate(&self) -> io::Result<String> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        // It is read when it is next asked for.
        held.install = None;
        rotate_file(&self.file)
    }
}

/// Which file it is, and when it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp(u64, u64, i64, i64);

impl Stamp {
    fn of(file: &Path) -> Option<Self> {
        let about = std::fs::metadata(file).ok()?;
        Some(Self(
            about.dev(),
            about.ino(),
            about.mtime(),
            about.mtime_nsec(),
        ))
    }
}

fn same(known: &str, given: &str) -> Choice {
    known.as_bytes().ct_eq(given.as_bytes())
}

fn random() -> io::Result<String> {
    paths::random_hex::<{ TOKEN_CHARS / 2 }>()
}

/// The install's token; a first one is made where there is none, or none that reads as one.
pub fn read_or_make(file: &Path) -> io::Result<String> {
    match read(file)? {
        Some(token) => Ok(token),
        None => rotate_file(file),
    }
}

fn read(file: &Path) -> io::Result<Option<String>> {
    let opened = match std::fs::File::open(file) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut text = String::new();
    // What is longer is no token of ours.
    match opened.take(256).read_to_string(&mut text) {
        Err(e) if e.kind() == io::ErrorKind::InvalidData => return Ok(None),
        // A disk that fails for a moment must not void every program's token.
        read => read?,
    };
    let token = text.trim();
    let is_token = token.len() == TOKEN_CHARS && token.bytes().all(|b| b.is_ascii_hexdigit());
    Ok(is_token.then(|| token.to_owned()))
}

/// Puts a new token in place in one step; readers find the old one or the new one.
pub fn rotate_file(file: &Path) -> io::Result<String> {
    let token = random()?;
    paths::replace_file(file, format!("{token}\n").as_bytes())?;
    Ok(token)
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
