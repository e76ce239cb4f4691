//! The other end of the worker's socket, for commands: plain and blocking.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::process::getuid;

use super::peer;

/// Asks the worker one thing. `Ok(None)`: nobody listens, or somebody who is not ours.
pub fn ask(socket: &Path, request: &str, within: Option<Duration>) -> io::Result<Option<String>> {
    let connected = UnixStream::connect(socket).and_then(|stream| {
        peer::is_of(&stream, getuid())?;
        Ok(stream)
    });
    let mut stream = match connected {
        Ok(stream) => stream,
        Err(e) if is_nobody(&e) => return Ok(None),
        Err(e) => return Err(e),
    };
    stream.set_read_timeout(within)?;
    stream.set_write_timeout(within)?;
    stream.write_all(format!("{request}\n").as_bytes())?;
    let mut reply = String::new();
    BufReader::new(stream).read_line(&mut reply)?;
    if reply.is_empty() {
        // It ended before it could answer.
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(reply.trim_end().to_owned()))
}

fn is_nobody(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
    )
}
