//! Blocking client of the worker's socket, for commands.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::process::getuid;

use super::peer;
use claude_mem_core::paths;

/// Sends one request line and returns the reply line. `Ok(None)` if nothing listens, or if the
/// listener belongs to another user.
pub fn send_request(socket: &Path, request: &str, within: Option<Duration>) -> io::Result<Option<String>> {
    let connected =
        paths::with_socket_path(socket, |socket| UnixStream::connect(socket)).and_then(|stream| {
            peer::ensure_same_user(&stream, getuid())?;
            Ok(stream)
        });
    let mut stream = match connected {
        Ok(stream) => stream,
        Err(e) if is_not_listening(&e) => return Ok(None),
        Err(e) => return Err(e),
    };
    stream.set_read_timeout(within)?;
    stream.set_write_timeout(within)?;
    stream.write_all(format!("{request}\n").as_bytes())?;
    let mut reply = String::new();
    BufReader::new(stream).read_line(&mut reply)?;
    if reply.is_empty() {
        // The worker ended before it replied.
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(reply.trim_end().to_owned()))
}

fn is_not_listening(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}
