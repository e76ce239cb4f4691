//! Whole lines of a growing file, one at a time, in one buffer.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use crate::limits::{TRANSCRIPT_BUFFER_BYTES, TRANSCRIPT_LINE_BYTES_MAX};

/// One line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'l> {
    Whole(&'l [u8]),
    /// Too long to be of use. `of_user`: it may be what a person said.
    TooLong {
        of_user: bool,
    },
}

#[derive(Debug)]
pub(super) struct Lines {
    file: BufReader<File>,
    /// Behind the last whole line.
    offset: u64,
    line: Vec<u8>,
}

impl Lines {
    /// Opens at an offset that an earlier reading ended at, or at the beginning, if the file has
    /// become shorter since.
    pub(super) fn open(path: &Path, from: u64) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let offset = if from > length { 0 } else { from };
        file.seek(SeekFrom::Start(offset))?;
        Ok(Self {
            file: BufReader::with_capacity(TRANSCRIPT_BUFFER_BYTES, file),
            offset,
            line: Vec::new(),
        })
    }

    /// Where the next line begins.
    pub(super) const fn offset(&self) -> u64 {
        self.offset
    }

    /// The next whole line. `None`: there is none yet; half of one is read another time.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let mut of_user = None;
        let mut bytes = 0;
        loop {
            let part = self.file.fill_buf()?;
            if part.is_empty() {
                return Ok(None);
            }
            let end = memchr::memchr(b'\n', part);
            let taken = end.map_or(part, |end| &part[..end]);
            bytes += taken.len();
            if bytes <= TRANSCRIPT_LINE_BYTES_MAX {
                self.line.extend_from_slice(taken);
            } else {
                of_user = of_user.or_else(|| Some(may_be_of_user(&self.line)));
                self.line = Vec::new();
            }
            let consumed = taken.len() + usize::from(end.is_some());
            self.file.consume(consumed);
            if end.is_some() {
                self.offset += bytes as u64 + 1;
                return Ok(Some(match of_user {
                    Some(of_user) => Line::TooLong { of_user },
                    None => Line::Whole(&self.line),
                }));
            }
        }
    }
}

/// Whether it names a person as the speaker, told without reading it.
pub(super) fn is_of_user(line: &[u8]) -> bool {
    memchr::memmem::find(line, br#""role":"user""#).is_some()
}

/// The same of the beginning of a line: in doubt it is a person's.
fn may_be_of_user(begin: &[u8]) -> bool {
    is_of_user(begin) || memchr::memmem::find(begin, br#""role":"assistant""#).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8], from: u64) -> (Vec<Vec<u8>>, u64) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        std::fs::write(&path, text).unwrap();
        let mut lines = Lines::open(&path, from).unwrap();
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            found.push(match line {
                Line::Whole(line) => line.to_vec(),
                Line::TooLong { of_user } => format!("too long, a user's: {of_user}").into(),
            });
        }
        (found, lines.offset())
    }

    #[test]
    fn half_a_line_is_left_for_the_next_time() {
        let (found, offset) = lines(b"one\n\ntwo\nhalf", 0);
        assert_eq!(found, [&b"one"[..], b"", b"two"]);
        assert_eq!(offset, 9);
        assert_eq!(
            lines(b"one\n\ntwo\nhalf\n", 9),
            (vec![b"half".to_vec()], 14)
        );
    }

    #[test]
    fn a_shorter_file_is_read_from_its_beginning() {
        assert_eq!(lines(b"new\n", 100), (vec![b"new".to_vec()], 4));
    }

    #[test]
    fn a_line_beyond_all_bounds_is_passed_over() {
        for (begin, of_user) in [
            ("", true),
            (r#"{"message":{"role":"user","content":""#, true),
            (r#"{"message":{"role":"assistant","content":""#, false),
        ] {
            let mut text = begin.as_bytes().to_vec();
            text.resize(TRANSCRIPT_LINE_BYTES_MAX + 1, b'x');
            text.extend_from_slice(b"\nnext\n");
            let (found, offset) = lines(&text, 0);
            let want = format!("too long, a user's: {of_user}");
            assert_eq!(found, [want.as_bytes(), b"next"]);
            assert_eq!(offset, text.len() as u64);
        }
    }
}
