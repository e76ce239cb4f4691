//! A text as a reader sees it, with the way back: invisible characters, terminal sequences, escapes
//! and line wraps inside words are undone, so that the scanners find what these hide.
//!
//! A [`PlainView`] is built only if something in the text may hide a secret; see
//! [`super::secrets::find`].

use claude_mem_core::glyph;

use super::class;
use super::secret_span::SecretSpan;

/// Minimum length of the part of a word before and after a wrap.
const WRAPPED_BYTES_MIN: usize = 8;

/// The visible text, and for each of its bytes the range of the original that it was read from.
#[derive(Debug)]
pub(super) struct PlainView {
    pub text: String,
    sources: Vec<(u32, u32)>,
}

impl PlainView {
    /// Reads `text`. `None` if nothing in it is hidden.
    pub(super) fn read(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut view =
            Self { text: String::with_capacity(text.len()), sources: Vec::with_capacity(text.len()) };
        let mut here = 0;
        while let Some(&byte) = bytes.get(here) {
            let hidden = match byte {
                0x1b => glyph::terminal_sequence(&bytes[here..]),
                b'\\' => view.continuation(bytes, here),
                b'\n' | b'\'' | b'"' => view.wrap(bytes, here),
                _ => None,
            };
            if let Some(length) = hidden {
                here += length;
                continue;
            }
            if matches!(byte, b'\\' | b'%' | b'&')
                && let Some((c, length)) =
                    glyph::ascii_escape(&bytes[here..]).filter(|(c, _)| !matches!(c, b'/' | b'<' | b'>'))
            {
                view.push(char::from(c), here, here + length);
                here += length;
                continue;
            }
            if byte.is_ascii() {
                if !byte.is_ascii_control() || matches!(byte, b'\n' | b'\t' | b'\r') {
                    view.push(char::from(byte), here, here + 1);
                }
                here += 1;
                continue;
            }
            let c = text.get(here..)?.chars().next()?;
            let next = here + c.len_utf8();
            match c {
                // Full-width forms are in ASCII order.
                '\u{FF01}'..='\u{FF5E}' => view.push(char::from((c as u32 - 0xFEE0) as u8), here, next),
                c if glyph::is_invisible(c) => {}
                c => view.push(c, here, next),
            }
            here = next;
        }
        (view.text != text).then_some(view)
    }

    fn push(&mut self, c: char, start: usize, end: usize) {
        self.text.push(c);
        self.sources.extend(std::iter::repeat_n((start as u32, end as u32), c.len_utf8()));
    }

    /// The same secret in the original text, of which the view starts at `offset`.
    pub(super) fn original(&self, span: SecretSpan, offset: usize) -> SecretSpan {
        let start = offset + self.sources[span.start].0 as usize;
        let end = offset + self.sources[span.end - 1].1 as usize;
        SecretSpan { start, end, rule: span.rule }
    }

    /// The length of a backslash with which a line continues on the next.
    fn continuation(&self, bytes: &[u8], at: usize) -> Option<usize> {
        match &bytes[at..] {
            [b'\\', b'\n', next, ..] if class::has(class::URL, *next) && self.ends_with_word(1) => Some(2),
            _ => glyph::terminal_sequence(&bytes[at..]),
        }
    }

    /// The length of a line break inside a long word, or of the end of a string that the next string
    /// continues: `'…' + '…'`.
    fn wrap(&self, bytes: &[u8], at: usize) -> Option<usize> {
        if !self.ends_with_word(WRAPPED_BYTES_MIN) {
            return None;
        }
        let rest = &bytes[at..];
        let length = if rest[0] == b'\n' {
            1
        } else {
            let joint = rest[1..].iter().take(24).take_while(|b| b" \t\n+.\\".contains(b)).count();
            let plus = rest[1..=joint].iter().any(|b| matches!(b, b'+' | b'.' | b'\n'));
            if !plus || rest.get(1 + joint) != Some(&rest[0]) {
                return None;
            }
            joint + 2
        };
        let word = class::run(&rest[length..], class::DOTTED, WRAPPED_BYTES_MIN);
        (word >= WRAPPED_BYTES_MIN && !assigns(&rest[length..])).then_some(length)
    }

    fn ends_with_word(&self, bytes_min: usize) -> bool {
        class::run_back(self.text.as_bytes(), class::DOTTED, bytes_min) >= bytes_min
    }
}

/// Whether a variable is set here, so that no word goes on: `NODE_ENV=development`.
fn assigns(line: &[u8]) -> bool {
    let name = class::run(line, class::WORD, usize::MAX);
    line.get(name) == Some(&b'=') && line.get(name + 1).is_some_and(u8::is_ascii_alphanumeric)
}
