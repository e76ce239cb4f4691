//! Splits the arguments of a command line into words, as a shell would.
//!
//! The text around is not a shell script: the command may stand inside quotes of another command, in
//! JSON or in prose. A word therefore ends also at a quotation mark that opens nothing in it.

use super::literal::{self, opening_quote_at};

/// Maximum length of a command that is examined, as much as is kept of one text.
const COMMAND_BYTES_MAX: usize = 64 << 10;
/// Maximum length of a command within another one that is read.
const NESTED_BYTES_MAX: usize = 1 << 10;
/// Maximum number of words of a command.
const WORDS_MAX: usize = 16 << 10;

/// One word at `bytes[start..end]`, with its quotes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShellWord {
    pub start: usize,
    pub end: usize,
}

impl ShellWord {
    pub(super) fn slice(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start..self.end]
    }

    /// Whether it is an option: `-x`, `--name`. A lone dash is an argument.
    pub(super) fn is_option(self, bytes: &[u8]) -> bool {
        matches!(self.slice(bytes), [b'-', _, ..])
    }

    /// The extent without quotes, and without an escaped line end that is meant for a terminal.
    pub(super) fn unquoted(self, bytes: &[u8]) -> (usize, usize) {
        let (start, mut end) = match opening_quote_at(bytes, self.start).filter(|open| open.end <= self.end) {
            Some(open) => {
                (open.end, literal::literal_end_within(bytes, open, COMMAND_BYTES_MAX).min(self.end))
            }
            None => (self.start, self.end),
        };
        for ending in [b"\\n".as_slice(), b"\\r"] {
            if bytes[start..end].ends_with(ending) {
                end -= ending.len();
            }
        }
        (start, end)
    }
}

/// How far the commands of a text were read.
#[derive(Debug, Default)]
pub(super) struct CommandReach(usize);

impl CommandReach {
    /// The words of the command from `from` to its end. Of a program that is named within the words of another, only
    /// the beginning is read, so that the cost of a text grows with its length only.
    pub(super) fn split(&mut self, bytes: &[u8], from: usize) -> Vec<ShellWord> {
        let most = if from < self.0 { NESTED_BYTES_MAX } else { COMMAND_BYTES_MAX };
        let words = split_until(bytes, from, bytes.len().min(from + most));
        self.0 = self.0.max(words.last().map_or(from, |word| word.end));
        words
    }
}

/// The words of `bytes[from..until]`, up to the end of the command.
pub(super) fn split_until(bytes: &[u8], from: usize, until: usize) -> Vec<ShellWord> {
    let mut words = Vec::new();
    let mut here = from;
    while here < until && words.len() < WORDS_MAX {
        match bytes[here] {
            b' ' | b'\t' => here += 1,
            b'\\' if matches!(bytes.get(here + 1), Some(b'\n')) => here += 2,
            b'\\' if bytes[here..].starts_with(b"\\\r\n") => here += 3,
            b'\n' | b'\r' | b';' | b'|' | b')' => break,
            b'&' if bytes.get(here + 1) == Some(&b'&') => break,
            _ => {
                let end = word_end(bytes, here, until);
                words.push(ShellWord { start: here, end });
                here = end.max(here + 1);
            }
        }
    }
    words
}

/// Where the word at `start` ends.
fn word_end(bytes: &[u8], start: usize, until: usize) -> usize {
    let mut here = start;
    while here < until {
        match bytes[here] {
            b' ' | b'\t' | b'\n' | b'\r' | b';' | b'|' => break,
            b')' if !bytes[start..here].contains(&b'(') => break,
            b'"' | b'\'' | b'`' | b'\\' => {
                match opening_quote_at(bytes, here).filter(|o| o.start == here || here == start) {
                    Some(open) if opens(bytes, start, here) => {
                        let close = literal::literal_end_within(bytes, open, COMMAND_BYTES_MAX);
                        let closed = bytes.get(close).is_some_and(|b| *b != b'\n');
                        if !closed {
                            return close;
                        }
                        here = close + open.end - open.start;
                    }
                    Some(_) => break,
                    // `\n` in a string ends a line.
                    None if here > start && matches!(bytes.get(here + 1), Some(b'n' | b'r')) => break,
                    None => here += 2,
                }
            }
            _ => here += 1,
        }
    }
    here.min(until)
}

/// Whether a quotation mark at `at` opens a quotation in the word that starts at `start`: at its
/// start, behind an option (`-p'x'`) or behind `=`.
fn opens(bytes: &[u8], start: usize, at: usize) -> bool {
    at == start
        || bytes[start] == b'-' && at - start <= 3
        || matches!(bytes[at - 1], b'=' | b':' | b'<' | b'$')
}

/// Where the pipe stands that leads into the command at `at`, on the same line.
pub(super) fn pipe_before(bytes: &[u8], at: usize) -> Option<usize> {
    let from = at.saturating_sub(COMMAND_BYTES_MAX);
    let here = bytes[from..at].iter().rposition(|b| matches!(b, b'|' | b'\n' | b';'))? + from;
    let single =
        bytes[here] == b'|' && here > 0 && bytes[here - 1] != b'|' && bytes.get(here + 1) != Some(&b'|');
    single.then_some(here)
}

/// Where the command starts that ends at `end`.
pub(super) fn command_start(bytes: &[u8], end: usize) -> usize {
    let from = end.saturating_sub(COMMAND_BYTES_MAX);
    let mut start = from;
    let mut quote = None;
    let mut here = from;
    while here < end {
        match (quote, bytes[here]) {
            (None, b'\'' | b'"') => {
                // A quotation that does not end before the pipe is none.
                if bytes[here + 1..end].contains(&bytes[here]) {
                    quote = Some(bytes[here]);
                } else {
                    start = here + 1;
                }
            }
            (Some(open), b) if b == open => quote = None,
            (None, b'\n' | b';' | b'|' | b'&' | b'(' | b'`') => start = here + 1,
            _ => {}
        }
        here += 1;
    }
    start + bytes[start..end].iter().take_while(|b| b.is_ascii_whitespace()).count()
}
