//! A persistent HTTP connection to the worker, as a browser would use.
//!
//! Supports only what our own server sends: responses with a content length, no chunked bodies.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context as _, ensure};

/// Longer than any response takes; a worker that hangs must not hang the benchmark.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct BenchConnection {
    address: String,
    token: String,
    stream: BufReader<TcpStream>,
}

impl BenchConnection {
    pub(super) fn open(address: &str, token: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).context("the worker does not listen")?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(READ_TIMEOUT))?;
        Ok(Self { address: address.to_owned(), token: token.to_owned(), stream: BufReader::new(stream) })
    }

    pub(super) fn get(&mut self, path: &str) -> anyhow::Result<Vec<u8>> {
        self.request("GET", path, "")
    }

    pub(super) fn post(&mut self, path: &str, body: &str) -> anyhow::Result<Vec<u8>> {
        self.request("POST", path, body)
    }

    /// Sends a request and returns the body of a successful response.
    fn request(&mut self, method: &str, path: &str, body: &str) -> anyhow::Result<Vec<u8>> {
        let Self { address, token, .. } = &*self;
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nx-claude-mem-token: {token}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let status = self.read_line()?;
        let mut length = 0;
        loop {
            let line = self.read_line()?.to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
        }
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer)?;
        let shown = String::from_utf8_lossy(&answer[..answer.len().min(200)]);
        ensure!(status.contains(" 200 "), "{method} {path}: {status} {shown}");
        Ok(answer)
    }

    fn read_line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        ensure!(
            self.stream.read_line(&mut line)? > 0,
            "the worker closed the connection in the middle of a response"
        );
        Ok(line.trim_end().to_owned())
    }
}
