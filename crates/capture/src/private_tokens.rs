//! [`PrivateTokens`]: tokens of private blocks by a keyed rolling hash and their length.
//!
//! A token is the text between two blanks, including punctuation, or a run of letters and digits in it. It is found
//! anywhere in a text, also inside a longer word. Only its length and 32 bits of its hash are stored.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::hash::{BuildHasher, Hasher, RandomState};

/// Maximum tokens that are remembered of one session.
const TOKENS_MAX: usize = 256;
/// Length of a token with signs, and of a run without, in characters. Shorter ones are left to words.
const SIGNED_CHARS_MIN: usize = 6;
const RUN_CHARS_MIN: usize = 8;
/// A longer token is known by its beginning.
const TOKEN_CHARS_MAX: usize = 64;
const MASK: &str = "[redacted:private-word]";
/// The modulus of the rolling hash, a prime.
const MODULUS: u64 = (1 << 61) - 1;
/// Digits of one token in the mark: its hash and its length.
const TOKEN_DIGITS: usize = 10;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PrivateTokens {
    base: u64,
    tokens: Vec<(u32, u8)>,
}

impl PrivateTokens {
    pub(crate) fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Learns the distinctive tokens of the private blocks of a text that it does not use elsewhere.
    pub(crate) fn learn(&mut self, text: &str) {
        let stripped = claude_mem_redact::private(text);
        if !stripped.private {
            return;
        }
        if self.base == 0 {
            // The standard library seeds this from the operating system's random numbers.
            self.base = (RandomState::new().build_hasher().finish() % (MODULUS - 256)) + 256;
        }
        let open = lowered(&stripped.text).into_iter().map(|(_, c)| c).collect::<String>();
        for token in distinctive_tokens(text) {
            let token: String = lowered(token).into_iter().map(|(_, c)| c).take(TOKEN_CHARS_MAX).collect();
            let known = (self.hash(&token), token.chars().count() as u8);
            if self.tokens.len() < TOKENS_MAX && !open.contains(&token) && !self.tokens.contains(&known) {
                self.tokens.push(known);
            }
        }
    }

    fn hash(&self, token: &str) -> u32 {
        token.chars().fold(0, |hash, c| roll(hash, self.base, c)) as u32
    }

    /// The text with the learnt tokens masked, wherever they stand.
    pub(crate) fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.is_empty() {
            return Cow::Borrowed(text);
        }
        let chars = lowered(text);
        let mut found = BTreeSet::new();
        for length in self.tokens.iter().map(|(_, length)| usize::from(*length)).collect::<BTreeSet<_>>() {
            self.find(&chars, length, &mut found);
        }
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let end_of = |at: usize| chars.get(at).map_or(text.len(), |(byte, _)| *byte);
        let (mut out, mut kept_from) = (String::new(), 0);
        for (start, length) in found {
            let (from, to) = (chars[start].0, end_of(start + length));
            if to <= kept_from {
                continue;
            }
            if from >= kept_from {
                out.push_str(&text[kept_from..from]);
                out.push_str(MASK);
            }
            kept_from = to;
        }
        out.push_str(&text[kept_from..]);
        Cow::Owned(out)
    }

    /// Adds where tokens of this length start.
    fn find(&self, chars: &[(usize, char)], length: usize, found: &mut BTreeSet<(usize, usize)>) {
        // The factor of a window's first character in the hash of the full window.
        let leaving = (1..length).fold(1, |power, _| multiply(power, self.base));
        let mut hash = 0;
        for (at, (_, c)) in chars.iter().enumerate() {
            if at >= length {
                let gone = multiply(u64::from(chars[at - length].1), leaving);
                hash = (hash + MODULUS - gone) % MODULUS;
            }
            hash = roll(hash, self.base, *c);
            if at + 1 >= length && self.tokens.contains(&(hash as u32, length as u8)) {
                found.insert((at + 1 - length, length));
            }
        }
    }

    pub(crate) fn encode(&self) -> String {
        let mut out = String::new();
        if !self.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(out, "{:016x}", self.base);
            for (hash, length) in &self.tokens {
                let _ = write!(out, "{hash:08x}{length:02x}");
            }
        }
        out
    }

    /// Decodes what [`Self::encode`] wrote. `None` if it is damaged.
    pub(crate) fn decode(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::default());
        }
        let (base, rest) = text.split_at_checked(16)?;
        let base = u64::from_str_radix(base, 16).ok()?;
        if !rest.is_ascii()
            || !rest.len().is_multiple_of(TOKEN_DIGITS)
            || rest.len() > TOKENS_MAX * TOKEN_DIGITS
        {
            return None;
        }
        let token = |digits: &[u8]| {
            let digits = std::str::from_utf8(digits).ok()?;
            let (hash, length) = digits.split_at_checked(8)?;
            Some((
                u32::from_str_radix(hash, 16).ok()?,
                u8::from_str_radix(length, 16).ok().filter(|n| *n > 0)?,
            ))
        };
        let tokens = rest.as_bytes().chunks_exact(TOKEN_DIGITS).map(token).collect::<Option<_>>()?;
        Some(Self { base: base % MODULUS, tokens })
    }
}

fn multiply(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(MODULUS)) as u64
}

fn roll(hash: u64, base: u64, c: char) -> u64 {
    (multiply(hash, base) + u64::from(c)) % MODULUS
}

/// The characters in lower case, with the byte at which each starts. One for one, so that places stay comparable.
fn lowered(text: &str) -> Vec<(usize, char)> {
    let lower =
        |c: char| if c.is_ascii() { c.to_ascii_lowercase() } else { c.to_lowercase().next().unwrap_or(c) };
    text.char_indices().map(|(at, c)| (at, lower(c))).collect()
}

/// The tokens of a text that are unlikely to be used for anything else. Angle brackets belong to tags.
fn distinctive_tokens(text: &str) -> Vec<&str> {
    let around =
        |c: char| matches!(c, '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '{' | '}' | ',' | '.' | ';' | ':');
    let mut found = Vec::new();
    for piece in text.split(|c: char| c.is_whitespace() || matches!(c, '<' | '>')) {
        let piece = piece.trim_matches(around);
        if piece.contains(|c: char| !c.is_alphanumeric()) && is_distinctive(piece, SIGNED_CHARS_MIN) {
            found.push(piece);
        }
        let runs = piece.split(|c: char| !c.is_alphanumeric());
        found.extend(runs.filter(|run| is_distinctive(run, RUN_CHARS_MIN)));
    }
    found
}

/// Letters and digits, or unusual signs among letters.
fn is_distinctive(token: &str, chars_min: usize) -> bool {
    let has = |is: fn(char) -> bool| token.contains(is);
    let is_unusual = |c: char| {
        c.is_ascii_punctuation() && !matches!(c, '-' | '_' | '.' | '/' | ',' | '\'' | ':' | '&' | ';')
    };
    token.chars().count() >= chars_min
        && has(char::is_alphabetic)
        && (has(|c| c.is_ascii_digit()) || token.chars().filter(|c| is_unusual(*c)).count() >= 2)
}
