//! Who is at the other end of a socket.
//!
//! A path can be taken by anybody where its directory is not ours alone. What is said over a
//! socket, and what is believed of an answer, is for processes of the same user.

use std::io;
use std::os::unix::net::UnixStream;

use rustix::process::Uid;

/// An error as if nobody listened, unless the other end is a process of `own`.
#[cfg(target_os = "linux")]
pub fn is_of(stream: &UnixStream, own: Uid) -> io::Result<()> {
    let peer = rustix::net::sockopt::socket_peercred(stream)?;
    if peer.uid == own {
        Ok(())
    } else {
        Err(io::ErrorKind::ConnectionRefused.into())
    }
}

/// The same where the other end cannot be asked for: whoever bound the socket owns its file.
#[cfg(not(target_os = "linux"))]
pub fn is_of(stream: &UnixStream, own: Uid) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let address = stream.peer_addr()?;
    let path = address
        .as_pathname()
        .ok_or(io::ErrorKind::ConnectionRefused)?;
    if std::fs::symlink_metadata(path)?.uid() == own.as_raw() {
        Ok(())
    } else {
        Err(io::ErrorKind::ConnectionRefused.into())
    }
}
