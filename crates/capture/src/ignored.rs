//! Decides whether a tool call names a path that `ignore_paths` excludes from capture.
//!
//! [`names_ignored_path`] examines a call's input and output as the client sent them, before
//! truncation and redaction. It checks every string and every field name, because a path may occur in
//! a list, a URL, a command or a tool's output.
//!
//! Paths are resolved like a shell does: `~` and `$HOME` are the home directory, `.` and `..` are
//! followed, and after `cd X &&` a relative name is below `X`. The file system is not consulted, so a
//! symbolic link to an ignored file is not recognised.

use crate::limits::FIELD_BYTES_MAX;
use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use claude_mem_core::glob;
use claude_mem_core::limits::TOOL_DEPTH_MAX;

/// Depth of nested commands, as in `sh -c '…'`.
const NESTED_MAX: usize = 3;

/// True if one of the parts names a path that matches a pattern, or cannot be parsed.
pub fn names_ignored_path(
    patterns: &[String],
    parts: &[Option<&RawValue>],
    cwd: Option<&str>,
    home: &str,
) -> bool {
    if patterns.is_empty() {
        return false;
    }
    let look = IgnoredPathMatcher::new(patterns, cwd.unwrap_or("/"), home);
    parts.iter().flatten().any(|raw| {
        let part = IgnoredPathVisitor { matcher: &look, role: StringRole::Text, depth: 0 };
        let mut from = serde_json::Deserializer::from_str(raw.get());
        part.deserialize(&mut from).unwrap_or(true)
    })
}

/// How to interpret a string, judged by its field's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StringRole {
    Text,
    /// The whole string is one path.
    Path,
    /// A shell command.
    Command,
}

impl StringRole {
    fn from_field_name(name: &str) -> Self {
        const PATHS: [&str; 11] =
            ["path", "file", "dir", "folder", "uri", "url", "source", "destination", "target", "root", "cwd"];
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

/// Matches strings against the ignored path patterns.
struct IgnoredPathMatcher<'a> {
    patterns: &'a [String],
    /// Per pattern, a literal that any matching text must contain; `None` if there is no such
    /// literal.
    needles: Vec<Option<&'a str>>,
    cwd: &'a str,
    home: &'a str,
}

impl<'a> IgnoredPathMatcher<'a> {
    fn new(patterns: &'a [String], cwd: &'a str, home: &'a str) -> Self {
        let needle = |pattern: &'a String| {
            let parts = pattern.split(['/', '*', '?', '~']);
            let longest = parts.max_by_key(|part| part.len())?;
            // A relative name is completed with the working directory or the home directory.
            let known = cwd.contains(longest) || home.contains(longest);
            (!longest.is_empty() && !known).then_some(longest)
        };
        Self { patterns, needles: patterns.iter().map(needle).collect(), cwd, home }
    }

    fn matches_string(&self, text: &str, said: StringRole) -> bool {
        let found = match said {
            StringRole::Text => false,
            StringRole::Path => text.len() <= FIELD_BYTES_MAX && self.matches_path(text, self.cwd),
            StringRole::Command => self.matches_command(text, 0),
        };
        found || self.matches_text(text)
    }

    /// Checks the words of a text that look like paths.
    fn matches_text(&self, text: &str) -> bool {
        let escaped = text.contains(['%', '\\']);
        let mut needles = self.needles.iter();
        let may = escaped || needles.any(|needle| needle.is_none_or(|part| text.contains(part)));
        may && text.split(is_word_boundary).any(|word| {
            let word = word.trim_end_matches(['.', '!', '?', '}']);
            let word = word.strip_prefix('{').unwrap_or(word);
            word.contains(['/', '.']) && self.matches_path(word, self.cwd)
        })
    }

    /// Checks the words of a command, each relative to the directory that the command is in by then.
    fn matches_command(&self, command: &str, nested: usize) -> bool {
        let mut here = Cow::Borrowed(self.cwd);
        let mut goes = false;
        for word in shell_words(command) {
            if self.matches_path(&word, &here) || self.matches_path(&word, self.cwd) {
                return true;
            }
            if word.contains(char::is_whitespace)
                && nested < NESTED_MAX
                && self.matches_command(&word, nested + 1)
            {
                return true;
            }
            if goes {
                here = Cow::Owned(resolve_path(&here, &self.expand_home(&word)));
            }
            goes = matches!(&*word, "cd" | "pushd" | "-C" | "--directory" | "--cwd");
        }
        false
    }

    fn matches_path(&self, word: &str, base: &str) -> bool {
        if word.is_empty() {
            return false;
        }
        let path = resolve_path(base, &self.expand_home(word));
        let mut patterns = self.patterns.iter();
        patterns.any(|pattern| glob::matches_path(pattern, &path, self.home))
    }

    /// Removes a `file:` scheme and expands the home directory.
    fn expand_home<'w>(&self, word: &'w str) -> Cow<'w, str> {
        let word = match word.strip_prefix("file:") {
            Some(address) => Cow::Owned(percent_decode(address)),
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

fn is_word_boundary(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '\'' | '"' | '`' | ';' | '|' | '&' | '<' | '>' | '(' | ')' | '=' | ',' | '[' | ']' | ':'
        )
        || (!c.is_ascii() && !c.is_alphanumeric())
}

/// Resolves `path` relative to `base`, without `.` and `..`.
fn resolve_path(base: &str, path: &str) -> String {
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

/// Splits a command line into words, without quotes, separators and operators.
fn shell_words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    let mut letters = command.chars();
    while let Some(c) = letters.next() {
        let parts = c.is_whitespace() || matches!(c, ';' | '|' | '&' | '<' | '>' | '(' | ')' | '=' | '`');
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

fn percent_decode(text: &str) -> String {
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

/// Visits one JSON value; yields true if it names an ignored path.
struct IgnoredPathVisitor<'l> {
    matcher: &'l IgnoredPathMatcher<'l>,
    role: StringRole,
    depth: usize,
}

impl IgnoredPathVisitor<'_> {
    const fn child(&self, said: StringRole) -> Self {
        Self { matcher: self.matcher, role: said, depth: self.depth + 1 }
    }
}

impl<'de> DeserializeSeed<'de> for IgnoredPathVisitor<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<bool, D::Error> {
        // Values this deep are not captured.
        if self.depth > TOOL_DEPTH_MAX {
            from.deserialize_ignored_any(IgnoredAny)?;
            return Ok(false);
        }
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for IgnoredPathVisitor<'_> {
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
        Ok(self.matcher.matches_string(text, self.role))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<bool, A::Error> {
        let mut found = false;
        while let Some(one) = from.next_element_seed(self.child(self.role))? {
            found |= one;
        }
        Ok(found)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<bool, A::Error> {
        let mut found = false;
        while let Some(name) = from.next_key::<Cow<'de, str>>()? {
            found |= self.matcher.matches_text(&name);
            found |= from.next_value_seed(self.child(StringRole::from_field_name(&name)))?;
        }
        Ok(found)
    }
}

#[cfg(test)]
#[path = "ignored_tests.rs"]
mod tests;
