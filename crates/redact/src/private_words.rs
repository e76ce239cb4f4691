//! The distinctive words of private blocks, as keyed hashes: enough to recognise them when the agent
//! repeats them, too little to read them.
//!
//! A user writes `use <private>canary7351</private> to log in`, and the agent runs `login canary7351`.
//! [`PrivateWords`] learns the words of a private block that occur nowhere else in the prompt and masks
//! them in what follows. A word is distinctive if it contains a digit, or has at least eight letters and
//! is not common; masking ordinary words would make memories useless.
//!
//! A hash has 32 bits: many words share one, so it proves nothing about a guess.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::hash::{BuildHasher, Hasher, RandomState};

use super::private;

/// Maximum words that are remembered of one session.
const WORDS_MAX: usize = 512;
/// Minimum characters of a word with a digit.
const MIXED_CHARS_MIN: usize = 4;
/// Minimum letters of a word without a digit.
const LETTERS_MIN: usize = 8;
/// Minimum letters of several words that are joined by signs.
const JOINED_LETTERS_MIN: usize = 12;
const MASK: &str = "[redacted:private-word]";
const COMMON_WORDS: &str = include_str!("common_words.txt");

/// Keyed hashes of words that must not be stored in this session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrivateWords {
    key: [u64; 2],
    hashes: Vec<u32>,
}

impl PrivateWords {
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Learns the distinctive words of the private blocks of `prompt` that it does not use elsewhere.
    pub fn learn(&mut self, prompt: &str) {
        let stripped = private(prompt);
        if !stripped.private {
            return;
        }
        if self.key == [0, 0] {
            // The standard library seeds this from the operating system's random numbers.
            self.key = [(); 2].map(|()| RandomState::new().build_hasher().finish());
        }
        let mut open = Vec::new();
        for_each_word(&stripped.text, |word, _| {
            open.push(self.hash(word));
            None::<()>
        });
        let mut learnt = Vec::new();
        for_each_word(prompt, |word, _| {
            if is_distinctive(word) && !is_common(word) {
                learnt.push(self.hash(word));
            }
            None::<()>
        });
        for hash in learnt {
            if self.hashes.len() < WORDS_MAX && !open.contains(&hash) && !self.hashes.contains(&hash) {
                self.hashes.push(hash);
            }
        }
    }

    /// The text with the learnt words masked.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut out, mut kept_from) = (String::new(), 0);
        for_each_word(text, |word, start| {
            if !is_distinctive(word) || !self.hashes.contains(&self.hash(word)) {
                return None;
            }
            out.push_str(&text[kept_from..start]);
            out.push_str(MASK);
            kept_from = start + word.len();
            Some(())
        });
        if kept_from == 0 && out.is_empty() {
            return Cow::Borrowed(text);
        }
        out.push_str(&text[kept_from..]);
        Cow::Owned(out)
    }

    /// Masks the learnt words in all strings and names of a value.
    pub fn mask_json(&self, value: &mut serde_json::Value) {
        if self.is_empty() {
            return;
        }
        match value {
            serde_json::Value::String(text) => {
                if let Cow::Owned(masked) = self.mask(text) {
                    *text = masked;
                }
            }
            // A private number may be repeated as a number.
            serde_json::Value::Number(number) => {
                if let Cow::Owned(masked) = self.mask(&number.to_string()) {
                    *value = serde_json::Value::String(masked);
                }
            }
            serde_json::Value::Array(items) => items.iter_mut().for_each(|item| self.mask_json(item)),
            serde_json::Value::Object(fields) => {
                if fields.keys().any(|name| matches!(self.mask(name), Cow::Owned(_))) {
                    let masked = std::mem::take(fields).into_iter();
                    *fields = masked.map(|(name, field)| (self.mask(&name).into_owned(), field)).collect();
                }
                fields.values_mut().for_each(|field| self.mask_json(field));
            }
            serde_json::Value::Null | serde_json::Value::Bool(_) => {}
        }
    }

    /// The key and the hashes as text, for the session's mark and for the position in a transcript.
    pub fn encode(&self) -> String {
        let mut out = String::with_capacity(32 + 8 * self.hashes.len());
        if !self.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(out, "{:016x}{:016x}", self.key[0], self.key[1]);
            for hash in &self.hashes {
                let _ = write!(out, "{hash:08x}");
            }
        }
        out
    }

    /// Decodes what [`Self::encode`] wrote. `None` if it is damaged.
    pub fn decode(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::default());
        }
        let key = |at: usize| u64::from_str_radix(text.get(at..at + 16)?, 16).ok();
        let key = [key(0)?, key(16)?];
        let digits = text.get(32..)?.as_bytes();
        if !digits.len().is_multiple_of(8) || digits.len() > 8 * WORDS_MAX {
            return None;
        }
        let hash = |digits: &[u8]| u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
        Some(Self { key, hashes: digits.chunks_exact(8).map(hash).collect::<Option<_>>()? })
    }

    /// The keyed hash of a word, whatever its case.
    fn hash(&self, word: &str) -> u32 {
        #[allow(deprecated, reason = "its replacement cannot be given a key")]
        let mut hasher = std::hash::SipHasher::new_with_keys(self.key[0], self.key[1]);
        for c in word.chars().flat_map(char::to_lowercase) {
            hasher.write_u32(c.into());
        }
        hasher.finish() as u32
    }
}

/// Calls `visit` with each row of words that are joined by signs, and, unless that returns something,
/// with each of its words; and where they start.
fn for_each_word<T>(text: &str, mut visit: impl FnMut(&str, usize) -> Option<T>) {
    let is_joint = |c: char| matches!(c, '-' | '_' | '.' | '@' | '+' | '!' | '#' | '$' | '%' | '&' | '*');
    let mut here = 0;
    while let Some(offset) = text[here..].find(char::is_alphanumeric) {
        let start = here + offset;
        let rest = &text[start..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && !is_joint(c)).unwrap_or(rest.len());
        let row = rest[..end].trim_end_matches(is_joint);
        here = start + end;
        if row.contains(is_joint) && visit(row, start).is_some() {
            continue;
        }
        let mut at = start;
        for word in row.split(is_joint) {
            if !word.is_empty() {
                visit(word, at);
            }
            at += word.len() + row[at - start + word.len()..].chars().next().map_or(0, char::len_utf8);
        }
    }
}

/// Whether the word is unlikely to be used for anything else, but for common words.
fn is_distinctive(word: &str) -> bool {
    let (mut chars, mut digits, mut letters) = (0, 0, 0);
    for c in word.chars() {
        chars += 1;
        digits += usize::from(c.is_ascii_digit());
        letters += usize::from(c.is_alphabetic());
    }
    if digits == chars {
        return digits >= MIXED_CHARS_MIN && !is_year(word);
    }
    let joined = letters + digits < chars;
    if digits > 0 {
        return letters + digits >= MIXED_CHARS_MIN + 2 * usize::from(joined) && letters > 0;
    }
    letters >= if joined { JOINED_LETTERS_MIN } else { LETTERS_MIN }
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && (word.starts_with("19") || word.starts_with("20"))
}

/// Whether everybody uses the word, alone or in a row of such words.
fn is_common(word: &str) -> bool {
    let known = |word: &str| {
        let word = word.to_lowercase();
        COMMON_WORDS.split_ascii_whitespace().any(|common| {
            word.strip_prefix(common)
                .is_some_and(|ending| matches!(ending, "" | "s" | "d" | "ed" | "es" | "ing" | "ly" | "r"))
        })
    };
    let mut parts = word.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.all(|part| part.chars().all(char::is_alphabetic) && (part.chars().count() <= 3 || known(part)))
}
