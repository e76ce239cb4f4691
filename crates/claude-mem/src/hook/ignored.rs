//! Whether a tool's call has to do with a file of which nothing is kept.
//!
//! In: a call's input and output as the client sent them, before anything is cut or redacted, and
//! the patterns of `ignore_paths`. Out: yes or no. Every string counts, and every name of a field:
//! a path may stand in a list, an address, a command or what a tool printed.
//!
//! Paths are read as a shell would: `~` and `$HOME` are the home directory, `.` and `..` are
//! followed, and behind `cd X &&` a name is one in `X`. Absent on purpose: the disk. A link that
//! leads to the file under another name is not followed.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::glob;
use crate::limits::{FIELD_BYTES_MAX, TOOL_DEPTH_MAX};

/// Commands inside commands: `sh -c '…'`.
const NESTED_MAX: usize = 3;

/// True if one of the parts names a file that fits a pattern. One that cannot be read may.
pub fn touches(
    patterns: &[String],
    parts: &[Option<&RawValue>],
    cwd: Option<&str>,
    home: &str,
) -> bool {
    if patterns.is_empty() {
        return false;
    }
    let look = Look::new(patterns, cwd.unwrap_or("/"), home);
    parts.iter().flatten().any(|raw| {
        let part = Part {
            look: &look,
            said: Said::Text,
            depth: 0,
        };
        let mut from = serde_json::Deserializer::from_str(raw.get());
        part.deserialize(&mut from).unwrap_or(true)
    })
}

/// What a string is, by its field's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Text,
    /// One file, whatever it looks like.
    Path,
    /// For a shell.
    Command,
}

impl Said {
    fn of(name: &str) -> Self {
        const PATHS: [&str; 11] = [
            "path",
            "file",
            "dir",
            "folder",
            "uri",
            "url",
            "source",
            "destination",
            "target",
            "root",
            "cwd",
        ];
        let name = name.to_ascii_lowercase();
        if matches!(&*name, "command" | "cmd" | "script" | "args" | "argv") {
            Self::Command
        } else if PATHS.iter().any(|word| name.contains(word)) {
            Self::Path
        } else {
            Self::Text
        }
    }
}

struct Look<'a> {
    patterns: &'a [String],
    /// What must stand in a text that names a file of the pattern; `None`: nothing must.
    needles: Vec<Option<&'a str>>,
    cwd: &'a str,
    home: &'a str,
}

impl<'a> Look<'a> {
    fn new(patterns: &'a [String], cwd: &'a str, home: &'a str) -> Self {
        let needle = |pattern: &'a String| {
            let parts = pattern.split(['/', '*', '?', '~']);
            let longest = parts.max_by_key(|part| part.len())?;
            // A name alone is completed by where the call was made.
            let known = cwd.contains(longest) || home.contains(longest);
            (!longest.is_empty() && !known).then_some(longest)
        };
        Self {
            patterns,
            needles: patterns.iter().map(needle).collect(),
            cwd,
            home,
        }
    }

    fn string(&self, text: &str, said: Said) -> bool {
        let found = match said {
            Said::Text => false,
            Said::Path => text.len() <= FIELD_BYTES_MAX && self.fits(text, self.cwd),
            Said::Command => self.command(text, 0),
        };
        found || self.text(text)
    }

    /// The words of any text that may be paths.
    fn text(&self, text: &str) -> bool {
        let escaped = text.contains(['%', '\\']);
        let mut needles = self.needles.iter();
        let may = escaped || needles.any(|needle| needle.is_none_or(|part| text.contains(part)));
        may && text.split(is_gap).any(|word| {
            let word = word.trim_end_matches(['.', '!', '?', '}']);
            let word = word.strip_prefix('{').unwrap_or(word);
            word.contains(['/', '.']) && self.fits(word, self.cwd)
        })
    }

    /// The words of a command, each where the command has gone to by then.
    fn command(&self, command: &str, nested: usize) -> bool {
        let mut here = Cow::Borrowed(self.cwd);
        let mut goes = false;
        for word in shell_words(command) {
            if self.fits(&word, &here) || self.fits(&word, self.cwd) {
                return true;
            }
            if word.contains(char::is_whitespace)
                && nested < NESTED_MAX
                && self.command(&word, nested + 1)
            {
                return true;
            }
            if goes {
                here = Cow::Owned(full(&here, &self.expanded(&word)));
            }
            goes = matches!(&*word, "cd" | "pushd" | "-C" | "--directory" | "--cwd");
        }
        false
    }

    fn fits(&self, word: &str, base: &str) -> bool {
        if word.is_empty() {
            return false;
        }
        let path = full(base, &self.expanded(word));
        let mut patterns = self.patterns.iter();
        patterns.any(|pattern| glob::matches_path(pattern, &path, self.home))
    }

    /// Without a scheme, and with the home directory in the place of its names.
    fn expanded<'w>(&self, word: &'w str) -> Cow<'w, str> {
        let word = match word.strip_prefix("file:") {
            Some(address) => Cow::Owned(percent_decoded(address)),
            None => Cow::Borrowed(word),
        };
        let below = ["~", "$HOME", "${HOME}"]
            .iter()
            .find_map(|name| word.strip_prefix(name))
            .filter(|below| below.is_empty() || below.starts_with('/'));
        match below {
            Some(below) if !self.home.is_empty() => Cow::Owned([self.home, below].concat()),
            _ => word,
        }
    }
}

fn is_gap(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '\'' | '"'
                | '`'
                | ';'
                | '|'
                | '&'
                | '<'
                | '>'
                | '('
                | ')'
                | '='
                | ','
                | '['
                | ']'
                | ':'
        )
        || (!c.is_ascii() && !c.is_alphanumeric())
}

/// `path` as it is meant in `base`, without `.` and `..`.
fn full(base: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let base = if path.starts_with('/') { "" } else { base };
    for part in base.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let mut full = String::with_capacity(base.len() + path.len() + 2);
    for part in parts {
        full.push('/');
        full.push_str(part);
    }
    full
}

/// The words of a command line: quotes are off, separators and signs are gone.
fn shell_words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    let mut letters = command.chars();
    while let Some(c) = letters.next() {
        let parts =
            c.is_whitespace() || matches!(c, ';' | '|' | '&' | '<' | '>' | '(' | ')' | '=' | '`');
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if c == open => quote = None,
            (None | Some('"'), '\\') => {
                if let (Some(next), Some(word)) = (letters.next(), words.last_mut()) {
                    word.push(next);
                }
            }
            (None, _) if parts => words.push(String::new()),
            _ => {
                if let Some(word) = words.last_mut() {
                    word.push(c);
                }
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let code = bytes.get(at + 1..at + 3).filter(|_| byte == b'%');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        if let Some(decoded) = code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            out.push(decoded);
            at += 3;
        } else {
            out.push(byte);
            at += 1;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// One value on the way: true if a file in it is ignored.
struct Part<'l> {
    look: &'l Look<'l>,
    said: Said,
    depth: usize,
}

impl Part<'_> {
    const fn below(&self, said: Said) -> Self {
        Self {
            look: self.look,
            said,
            depth: self.depth + 1,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Part<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<bool, D::Error> {
        // What is this deep is not kept.
        if self.depth > TOOL_DEPTH_MAX {
            from.deserialize_ignored_any(IgnoredAny)?;
            return Ok(false);
        }
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Part<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_str<E>(self, text: &str) -> Result<bool, E> {
        Ok(self.look.string(text, self.said))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<bool, A::Error> {
        let mut found = false;
        while let Some(one) = from.next_element_seed(self.below(self.said))? {
            found |= one;
        }
        Ok(found)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<bool, A::Error> {
        let mut found = false;
        while let Some(name) = from.next_key::<Cow<'de, str>>()? {
            found |= self.look.text(&name);
            found |= from.next_value_seed(self.below(Said::of(&name)))?;
        }
        Ok(found)
    }
}

#[cfg(test)]
#[path = "ignored_tests.rs"]
mod tests;
