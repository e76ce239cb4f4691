//! Whole lines of a growing file, one at a time, in one buffer.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use crate::limits::{TRANSCRIPT_BUFFER_BYTES, TRANSCRIPT_LINE_BYTES_MAX};

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

    /// The next whole line without its end. `None`: there is none yet; half of one is read
    /// another time. One that is too long to be of use is empty.
    pub(super) fn next(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
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
                self.line = Vec::new();
            }
            let consumed = taken.len() + usize::from(end.is_some());
            self.file.consume(consumed);
            if end.is_some() {
                self.offset += bytes as u64 + 1;
                return Ok(Some(&self.line));
            }
        }
    }
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
            found.push(line.to_vec());
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
        let mut text = vec![b'x'; TRANSCRIPT_LINE_BYTES_MAX + 1];
        text.extend_from_slice(b"\nnext\n");
        let (found, offset) = lines(&text, 0);
        assert_eq!(found, [&b""[..], b"next"]);
        assert_eq!(offset, text.len() as u64);
    }
}
