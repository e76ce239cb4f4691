//! [`AccessTokens`]: the install token, page tokens, and the links that are exchanged for them.
//!
//! The install token is kept in a file for programs. Page tokens live in the worker's memory; their hashes
//! are kept in a file ([`PageTokenFile`]), so that an open page survives a restart of the worker.
//!
//! Invariant: a link works once and expires, a page token of an earlier worker is void after a day and when
//! the install token changes, and tokens are 256 random bits that are compared in constant time.

use crate::limits::{HTTP_LINK_SECONDS, HTTP_PAGES_MAX};
use std::collections::VecDeque;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use subtle::{Choice, ConstantTimeEq as _};

use crate::page_token_file::PageTokenFile;
use claude_mem_core::clock;
use claude_mem_core::paths;
use claude_mem_core::sync::lock;

/// Maximum unused links of `claude-mem open` that are valid at a time. The oldest is dropped.
pub(crate) const HTTP_LINKS_MAX: usize = 16;

/// Hex digits of a token.
const TOKEN_CHARS: usize = 64;

/// The tokens and links that one worker accepts.
#[derive(Debug)]
pub(crate) struct AccessTokens {
    file: PathBuf,
    pages: PageTokenFile,
    state: Mutex<TokenState>,
}

/// The tokens in memory.
#[derive(Default)]
struct TokenState {
    /// Read on first use, so that the worker can start without the file.
    install: Option<(String, TokenFileStamp)>,
    pages: VecDeque<String>,
    links: VecDeque<(String, Instant)>,
}

impl std::fmt::Debug for TokenState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenState")
            .field("pages", &self.pages.len())
            .field("links", &self.links.len())
            .finish_non_exhaustive()
    }
}

impl AccessTokens {
    /// Uses these files for the install token and for the hashes of page tokens.
    pub(crate) fn new(file: PathBuf, pages: PathBuf) -> Self {
        Self { file, pages: PageTokenFile(pages), state: Mutex::default() }
    }

    /// Creates a link and returns its secret, which can be exchanged for a token once.
    pub(crate) fn create_link(&self, now: Instant) -> io::Result<String> {
        let secret = random_token()?;
        let mut held = lock(&self.state);
        if held.links.len() >= HTTP_LINKS_MAX {
            held.links.pop_front();
        }
        held.links.push_back((secret.clone(), now));
        Ok(secret)
    }

    /// Exchanges a link's secret for a page token. `None` if the link is unknown, used or expired.
    pub(crate) fn redeem_link(&self, secret: &str, now: Instant) -> io::Result<Option<String>> {
        let mut held = lock(&self.state);
        let life = Duration::from_secs(HTTP_LINK_SECONDS);
        held.links.retain(|(_, made)| now.saturating_duration_since(*made) < life);
        let mut place = None;
        for (at, (known, _)) in held.links.iter().enumerate() {
            if bool::from(equal_in_constant_time(known, secret)) {
                place = Some(at);
            }
        }
        let Some(place) = place else { return Ok(None) };
        held.links.remove(place);
        let token = random_token()?;
        if held.pages.len() >= HTTP_PAGES_MAX {
            held.pages.pop_front();
        }
        held.pages.push_back(token.clone());
        // Without the file the page works until the worker ends.
        if let Ok(install) = read_or_create_token(&self.file) {
            let _ = self.pages.add(&token, &install, clock::now().millis());
        }
        Ok(Some(token))
    }

    /// Whether this is a page token or the install token. The install token is the current content
    /// of its file, so removing or replacing the file revokes it.
    pub(crate) fn is_known(&self, token: &str) -> io::Result<bool> {
        let mut held = lock(&self.state);
        let mut known = Choice::from(0);
        for page in &held.pages {
            known |= equal_in_constant_time(page, token);
        }
        if bool::from(known) {
            return Ok(true);
        }
        let there = TokenFileStamp::read(&self.file);
        let install = match held.install.take() {
            Some((install, stamp)) if there == Some(stamp) => install,
            _ => read_or_create_token(&self.file)?,
        };
        let known = equal_in_constant_time(&install, token);
        let is_earlier_page =
            !bool::from(known) && self.pages.contains(token, &install, clock::now().millis());
        held.install = there.or_else(|| TokenFileStamp::read(&self.file)).map(|at| (install, at));
        Ok(bool::from(known) || is_earlier_page)
    }

    /// Replaces the install token. The old one is revoked at once.
    pub(crate) fn rotate(&self) -> io::Result<String> {
        let mut held = lock(&self.state);
        // The next check reads the file again.
        held.install = None;
        rotate_token_file(&self.file)
    }
}

/// Identity and modification time of the token file: device, inode, seconds, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TokenFileStamp(u64, u64, i64, i64);

impl TokenFileStamp {
    fn read(file: &Path) -> Option<Self> {
        let about = std::fs::metadata(file).ok()?;
        Some(Self(about.dev(), about.ino(), about.mtime(), about.mtime_nsec()))
    }
}

fn equal_in_constant_time(known: &str, given: &str) -> Choice {
    known.as_bytes().ct_eq(given.as_bytes())
}

fn random_token() -> io::Result<String> {
    paths::random_hex::<{ TOKEN_CHARS / 2 }>()
}

/// Reads the install token, or creates one if the file is missing or does not hold a token.
pub fn read_or_create_token(file: &Path) -> io::Result<String> {
    match read_token(file)? {
        Some(token) => Ok(token),
        None => rotate_token_file(file),
    }
}

/// Reads the token file. `None` if it is missing or does not hold a token.
fn read_token(file: &Path) -> io::Result<Option<String>> {
    let opened = match claude_mem_core::paths::open_file(file) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut text = String::new();
    // A longer file is not a token of ours.
    match opened.take(256).read_to_string(&mut text) {
        Err(e) if e.kind() == io::ErrorKind::InvalidData => return Ok(None),
        // A temporary disk error must not replace the token that every program uses.
        read => read?,
    };
    let token = text.trim();
    let is_token = token.len() == TOKEN_CHARS && token.bytes().all(|b| b.is_ascii_hexdigit());
    Ok(is_token.then(|| token.to_owned()))
}

/// Replaces the token file atomically: readers find the old token or the new one.
pub fn rotate_token_file(file: &Path) -> io::Result<String> {
    let token = random_token()?;
    paths::replace_file(file, format!("{token}\n").as_bytes())?;
    Ok(token)
}

#[cfg(test)]
#[path = "access_tokens_tests.rs"]
mod tests;
