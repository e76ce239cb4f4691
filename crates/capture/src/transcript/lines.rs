//! Reads complete lines of a growing file one at a time into one buffer.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use claude_mem_core::paths;

/// Maximum bytes of one transcript line. A longer line is not parsed.
pub(crate) const TRANSCRIPT_LINE_BYTES_MAX: usize = 16 << 20;

/// Maximum bytes that are left to read of a transcript. A longer one is not a conversation: a sparse
/// file of any length costs nothing to make, and would hold up the worker for minutes.
const TRANSCRIPT_UNREAD_BYTES_MAX: u64 = 1 << 30;

/// Bytes of the buffer through which a transcript is read.
const TRANSCRIPT_BUFFER_BYTES: usize = 64 << 10;

/// One line, without its line break.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TranscriptLine<'l> {
    Whole(&'l [u8]),
    /// Exceeds `TRANSCRIPT_LINE_BYTES_MAX`. `of_user` means that it may be a user's prompt.
    TooLong {
        of_user: bool,
    },
}

/// Lines with a position that a later read can go on from.
pub(super) trait LineSource {
    /// Offset of the next line.
    fn offset(&self) -> u64;

    /// The next complete line. `None` if there is none yet; a partial line is read later.
    fn next(&mut self) -> io::Result<Option<TranscriptLine<'_>>>;
}

/// Lines in memory. The offset counts lines, because the client may rewrite one that was read.
#[derive(Debug)]
pub(super) struct MemoryLines<'l> {
    lines: &'l [String],
    offset: u64,
}

impl<'l> MemoryLines<'l> {
    /// Begins at the offset where an earlier read ended. If lines were removed since, nothing is read: reading
    /// from the start would report events twice.
    pub(super) fn new(lines: &'l [String], from: u64) -> Self {
        Self { lines, offset: from.min(lines.len() as u64) }
    }
}

impl LineSource for MemoryLines<'_> {
    fn offset(&self) -> u64 {
        self.offset
    }

    fn next(&mut self) -> io::Result<Option<TranscriptLine<'_>>> {
        let at = usize::try_from(self.offset).unwrap_or(usize::MAX);
        let Some(line) = self.lines.get(at) else {
            return Ok(None);
        };
        self.offset += 1;
        Ok(Some(if line.len() > TRANSCRIPT_LINE_BYTES_MAX {
            TranscriptLine::TooLong { of_user: may_have_user_role(line.as_bytes()) }
        } else {
            TranscriptLine::Whole(line.as_bytes())
        }))
    }
}

/// Reads a file line by line and tracks the offset.
#[derive(Debug)]
pub(super) struct LineReader {
    file: BufReader<File>,
    /// End of the last complete line.
    offset: u64,
    line: Vec<u8>,
}

impl LineReader {
    /// Opens the file at the offset where an earlier read ended, or at the start if the file has become
    /// shorter since.
    pub(super) fn open(path: &Path, from: u64) -> io::Result<Self> {
        let mut file = paths::open_file(path)?;
        let length = file.metadata()?.len();
        let offset = if from > length { 0 } else { from };
        if length - offset > TRANSCRIPT_UNREAD_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        file.seek(SeekFrom::Start(offset))?;
        Ok(Self { file: BufReader::with_capacity(TRANSCRIPT_BUFFER_BYTES, file), offset, line: Vec::new() })
    }
}

impl LineSource for LineReader {
    fn offset(&self) -> u64 {
        self.offset
    }

    fn next(&mut self) -> io::Result<Option<TranscriptLine<'_>>> {
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
                of_user = of_user.or_else(|| Some(may_have_user_role(&self.line)));
                self.line = Vec::new();
            }
            let consumed = taken.len() + usize::from(end.is_some());
            self.file.consume(consumed);
            if end.is_some() {
                self.offset += bytes as u64 + 1;
                return Ok(Some(match of_user {
                    Some(of_user) => TranscriptLine::TooLong { of_user },
                    None => TranscriptLine::Whole(&self.line),
                }));
            }
        }
    }
}

/// Whether the line has the user's role, tested without parsing it.
pub(super) fn has_user_role(line: &[u8]) -> bool {
    memchr::memmem::find(line, br#""role":"user""#).is_some()
}

/// Whether a line with this beginning may have the user's role; true in doubt.
fn may_have_user_role(begin: &[u8]) -> bool {
    has_user_role(begin) || memchr::memmem::find(begin, br#""role":"assistant""#).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8], from: u64) -> (Vec<Vec<u8>>, u64) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        std::fs::write(&path, text).unwrap();
        let mut lines = LineReader::open(&path, from).unwrap();
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            found.push(match line {
                TranscriptLine::Whole(line) => line.to_vec(),
                TranscriptLine::TooLong { of_user } => format!("too long, a user's: {of_user}").into(),
            });
        }
        (found, lines.offset())
    }

    #[test]
    fn partial_line_is_left_unread() {
        let (found, offset) = lines(b"one\n\ntwo\nhalf", 0);
        assert_eq!(found, [&b"one"[..], b"", b"two"]);
        assert_eq!(offset, 9);
        assert_eq!(lines(b"one\n\ntwo\nhalf\n", 9), (vec![b"half".to_vec()], 14));
    }

    #[test]
    fn shorter_file_is_read_from_the_start() {
        assert_eq!(lines(b"new\n", 100), (vec![b"new".to_vec()], 4));
    }

    #[test]
    fn sparse_file_and_pipe_are_refused() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        File::create(&path).unwrap().set_len(50 << 30).unwrap();
        assert_eq!(LineReader::open(&path, 0).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert!(LineReader::open(&path, (50 << 30) - 4).is_ok(), "little of it is unread");
        let pipe = dir.path().join("agent-1.jsonl");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert!(LineReader::open(&pipe, 0).is_err());
    }

    #[test]
    fn overlong_line_is_skipped() {
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
