//! What a terminal is shown: letters, line ends and our own colours, never a command.
//!
//! Memories hold what tools and pages said. Written out as it is, such a text could set the
//! clipboard, the title or the whole screen of whoever looks at it.

use std::io::{self, Write};

use crate::context::quote::is_invisible;

const ESCAPE: u8 = 0x1b;
/// Leads the control characters of C1 in UTF-8.
const C1_LEAD: u8 = 0xc2;
/// Longer ones are none of ours.
const COLOUR_BYTES_MAX: usize = 16;

/// Lets text and colours through, however the writes are cut.
pub(super) struct Terminal<W> {
    out: W,
    state: State,
}

enum State {
    Text,
    /// A byte that a control character may begin with.
    Lead,
    /// An escape, and what may make a colour of it.
    Escape(Vec<u8>),
}

impl<W: Write> Terminal<W> {
    pub(super) const fn new(out: W) -> Self {
        Self {
            out,
            state: State::Text,
        }
    }

    fn take(&mut self, byte: u8, clean: &mut Vec<u8>) {
        match &mut self.state {
            State::Text => self.state = text(byte, clean),
            State::Lead => {
                self.state = State::Text;
                if !(0x80..0xa0).contains(&byte) {
                    clean.extend([C1_LEAD, byte]);
                }
            }
            State::Escape(seen) => match (seen.is_empty(), byte) {
                (true, b'[') => seen.push(byte),
                (false, b'0'..=b'9' | b';') if seen.len() < COLOUR_BYTES_MAX => seen.push(byte),
                (false, b'm') => {
                    clean.push(ESCAPE);
                    clean.append(seen);
                    clean.push(byte);
                    self.state = State::Text;
                }
                _ => {
                    clean.append(seen);
                    self.state = text(byte, clean);
                }
            },
        }
    }
}

fn text(byte: u8, clean: &mut Vec<u8>) -> State {
    match byte {
        ESCAPE => return State::Escape(Vec::new()),
        C1_LEAD => return State::Lead,
        b'\n' | b'\t' => clean.push(byte),
        0..0x20 | 0x7f => {}
        _ => clean.push(byte),
    }
    State::Text
}

impl<W: Write> Write for Terminal<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut clean = Vec::with_capacity(bytes.len());
        for byte in bytes {
            self.take(*byte, &mut clean);
        }
        self.out.write_all(&clean)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A text of somebody else's, in which not even a colour is ours.
pub(super) fn plain(text: &str) -> String {
    text.chars()
        .filter_map(|c| match c {
            '\n' | '\t' | '\r' => Some(' '),
            _ if is_invisible(c) => None,
            _ => Some(c),
        })
        .collect()
}

#[cfg(test)]
#[path = "terminal_tests.rs"]
mod tests;
