//! Asking a running worker, which has the model and the vectors open, and not waiting long.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use rustix::process::Uid;

use crate::context::moment::Moment;
use crate::limits::{RECALL_NOTED_MS, RECALL_WORKER_MS, REPLY_BYTES_MAX, REQUEST_BYTES_MAX};
use crate::serve::peer;
use crate::serve::told::Told;

/// What the worker says to this moment. What it says counts as shown once it has been heard.
pub(super) fn worker(socket: &Path, moment: &Moment) -> io::Result<Told> {
    let until = Instant::now() + Duration::from_millis(RECALL_WORKER_MS);
    let request = format!("recall {}\n", serde_json::to_string(moment)?);
    if request.len() as u64 > REQUEST_BYTES_MAX {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut stream = connect(socket)?;
    stream.set_write_timeout(Some(left(until)?))?;
    stream.write_all(request.as_bytes())?;
    let told = serde_json::from_slice(&read_line(&mut stream, until)?)?;
    stream.write_all(b"heard\n")?;
    // So that the next hook finds it noted. A worker that is slow to write does so all the same.
    let noted = Instant::now() + Duration::from_millis(RECALL_NOTED_MS);
    let _ = read_line(&mut stream, noted);
    Ok(told)
}

/// A full line of callers means a busy worker: there is nothing to wait for. Somebody else's
/// process in its place is none.
pub(super) fn connect(socket: &Path) -> io::Result<UnixStream> {
    connect_as(socket, rustix::process::getuid())
}

fn connect_as(socket: &Path, own: Uid) -> io::Result<UnixStream> {
    let address = SocketAddrUnix::new(socket)?;
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let end = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::connect(&end, &address)?;
    let stream = UnixStream::from(end);
    peer::is_of(&stream, own)?;
    stream.set_nonblocking(false)?;
    Ok(stream)
}

fn read_line(stream: &mut UnixStream, until: Instant) -> io::Result<Vec<u8>> {
    let (mut line, mut chunk) = (Vec::new(), [0; 4096]);
    while line.last() != Some(&b'\n') {
        stream.set_read_timeout(Some(left(until)?))?;
        match stream.read(&mut chunk)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ if line.len() > REPLY_BYTES_MAX => return Err(io::ErrorKind::InvalidData.into()),
            n => line.extend_from_slice(&chunk[..n]),
        }
    }
    Ok(line)
}

fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_else_s_process_is_not_spoken_to() {
        let temp = tempfile::tempdir().unwrap();
        let socket = temp.path().join("s.sock");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let own = rustix::process::getuid();
        assert!(connect_as(&socket, own).is_ok());
        let other = Uid::from_raw(own.as_raw() + 1);
        let refused = connect_as(&socket, other).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
    }
}
