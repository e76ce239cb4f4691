//! Checks which user is at the other end of a Unix socket.
//!
//! In a shared directory any user can bind a socket at our path. Requests are sent to, and replies
//! accepted from, processes of the same user only.

use std::io;
use std::os::unix::net::UnixStream;

use rustix::process::Uid;

/// `ConnectionRefused`, as if nothing listened, unless the peer process belongs to `own`.
#[cfg(target_os = "linux")]
pub fn ensure_same_user(stream: &UnixStream, own: Uid) -> io::Result<()> {
    let peer = rustix::net::sockopt::socket_peercred(stream)?;
    if peer.uid == own { Ok(()) } else { Err(io::ErrorKind::ConnectionRefused.into()) }
}

/// The same on systems without peer credentials: the owner of the socket file has bound it.
#[cfg(not(target_os = "linux"))]
pub fn ensure_same_user(stream: &UnixStream, own: Uid) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let address = stream.peer_addr()?;
    let path = address.as_pathname().ok_or(io::ErrorKind::ConnectionRefused)?;
    if std::fs::symlink_metadata(path)?.uid() == own.as_raw() {
        Ok(())
    } else {
        Err(io::ErrorKind::ConnectionRefused.into())
    }
}
