//! [`PageTokenFile`]: the page tokens of earlier workers, as hashes.
//!
//! Invariant: the file holds no token, only SHA-256 hashes; an entry is void after [`PAGE_TOKEN_SECONDS`] and
//! when the install token is another than the one at its creation.

use std::io;
use std::io::Read as _;
use std::path::PathBuf;

use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};

use crate::limits::HTTP_PAGES_MAX;
use claude_mem_core::clock::Millis;
use claude_mem_core::event_key::hex;
use claude_mem_core::paths;

/// Seconds for which a page token outlives the worker that issued it.
const PAGE_TOKEN_SECONDS: i64 = 24 * 60 * 60;

/// Maximum bytes of the file that are read.
const FILE_BYTES_MAX: u64 = 64 << 10;

/// The file of the hashes.
#[derive(Debug)]
pub(crate) struct PageTokenFile(pub(crate) PathBuf);

/// One page token: its hash, bound to the install token, and its time.
struct PageTokenEntry {
    hash: String,
    issued: Millis,
}

impl PageTokenFile {
    /// Adds a token; the oldest entries are dropped.
    pub(crate) fn add(&self, token: &str, install: &str, now: Millis) -> io::Result<()> {
        let mut entries = self.read(now);
        let excess = (entries.len() + 1).saturating_sub(HTTP_PAGES_MAX);
        entries.drain(..excess);
        entries.push(PageTokenEntry { hash: bound_hash(token, install), issued: now });
        let lines = entries.iter().map(|entry| format!("{} {}\n", entry.hash, entry.issued.0));
        paths::replace_file(&self.0, lines.collect::<String>().as_bytes())
    }

    /// Whether a worker issued this token within the last day, while the install token was this one.
    pub(crate) fn contains(&self, token: &str, install: &str, now: Millis) -> bool {
        let hash = bound_hash(token, install);
        let mut known = Choice::from(0);
        for entry in self.read(now) {
            known |= entry.hash.as_bytes().ct_eq(hash.as_bytes());
        }
        known.into()
    }

    /// The entries that are not expired. A file that cannot be read holds none.
    fn read(&self, now: Millis) -> Vec<PageTokenEntry> {
        let mut text = String::new();
        let opened = paths::open_file(&self.0);
        if opened.and_then(|file| file.take(FILE_BYTES_MAX).read_to_string(&mut text)).is_err() {
            return Vec::new();
        }
        let entry = |line: &str| {
            let (hash, issued) = line.split_once(' ')?;
            Some(PageTokenEntry { hash: hash.to_owned(), issued: Millis(issued.parse().ok()?) })
        };
        let is_valid = |entry: &PageTokenEntry| {
            entry.issued <= now && now < entry.issued.plus_seconds(PAGE_TOKEN_SECONDS)
        };
        text.lines().filter_map(entry).filter(is_valid).collect()
    }
}

/// The hash of a page token that is valid with one install token only.
fn bound_hash(token: &str, install: &str) -> String {
    hex(&Sha256::digest(format!("{install}\n{token}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_of_an_earlier_worker_is_known_for_a_day() {
        let dir = tempfile::tempdir().unwrap();
        let file = PageTokenFile(dir.path().join("page-tokens"));
        let now = Millis(1_000_000);
        file.add("page", "install", now).unwrap();
        assert!(file.contains("page", "install", now));
        assert!(!file.contains("other", "install", now));
        assert!(!file.contains("page", "rotated", now));
        assert!(!file.contains("page", "install", now.plus_seconds(PAGE_TOKEN_SECONDS)));
        let text = std::fs::read_to_string(dir.path().join("page-tokens")).unwrap();
        assert!(!text.contains("page ") && !text.contains("install"), "{text}");
    }

    #[test]
    fn oldest_entries_are_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let file = PageTokenFile(dir.path().join("page-tokens"));
        let now = Millis(1_000_000);
        for number in 0..=HTTP_PAGES_MAX {
            file.add(&format!("page {number}"), "install", now).unwrap();
        }
        assert!(!file.contains("page 0", "install", now));
        assert!(file.contains("page 1", "install", now));
    }
}
