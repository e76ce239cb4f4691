//! [`SanitizingWriter`], a writer that passes text, line ends and colours and strips all other control
//! sequences.
//!
//! Memories contain output of tools and text of web pages. Printed unfiltered, escape sequences in
//! them could set the clipboard or the window title, or rewrite the screen.

use std::io::{self, Write};

use claude_mem_recall::quote::is_invisible;

const ESCAPE: u8 = 0x1b;
/// First byte of the C1 control characters in UTF-8.
const C1_LEAD: u8 = 0xc2;
/// Longer colour sequences are not ours and are stripped.
const COLOUR_BYTES_MAX: usize = 16;

/// A writer that keeps its state across writes, so that a split sequence is recognised.
pub(super) struct SanitizingWriter<W> {
    out: W,
    state: EscapeState,
}

enum EscapeState {
    Text,
    /// After [`C1_LEAD`].
    Lead,
    /// After ESC, with the bytes of a possible colour sequence.
    Escape(Vec<u8>),
}

impl<W: Write> SanitizingWriter<W> {
    pub(super) const fn new(out: W) -> Self {
        Self { out, state: EscapeState::Text }
    }

    fn push(&mut self, byte: u8, clean: &mut Vec<u8>) {
        match &mut self.state {
            EscapeState::Text => self.state = push_text(byte, clean),
            EscapeState::Lead => {
                self.state = EscapeState::Text;
                if !(0x80..0xa0).contains(&byte) {
                    clean.extend([C1_LEAD, byte]);
                }
            }
            EscapeState::Escape(seen) => match (seen.is_empty(), byte) {
                (true, b'[') => seen.push(byte),
                (false, b'0'..=b'9' | b';') if seen.len() < COLOUR_BYTES_MAX => seen.push(byte),
                (false, b'm') => {
                    clean.push(ESCAPE);
                    clean.append(seen);
                    clean.push(byte);
                    self.state = EscapeState::Text;
                }
                _ => {
                    clean.append(seen);
                    self.state = push_text(byte, clean);
                }
            },
        }
    }
}

fn push_text(byte: u8, clean: &mut Vec<u8>) -> EscapeState {
    match byte {
        ESCAPE => return EscapeState::Escape(Vec::new()),
        C1_LEAD => return EscapeState::Lead,
        b'\n' | b'\t' => clean.push(byte),
        0..0x20 | 0x7f => {}
        _ => clean.push(byte),
    }
    EscapeState::Text
}

impl<W: Write> Write for SanitizingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut clean = Vec::with_capacity(bytes.len());
        for byte in bytes {
            self.push(*byte, &mut clean);
        }
        self.out.write_all(&clean)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Removes invisible and control characters, colours included, from stored text. Line ends and tabs
/// become spaces.
pub(super) fn sanitize(text: &str) -> String {
    text.chars()
        .filter_map(|c| match c {
            '\n' | '\t' | '\r' | '\u{2028}' | '\u{2029}' => Some(' '),
            _ if is_invisible(c) => None,
            _ => Some(c),
        })
        .collect()
}

#[cfg(test)]
#[path = "terminal_tests.rs"]
mod tests;
