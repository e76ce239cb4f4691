//! Checks which user is at the other end of a Unix socket.
//!
//! In a shared directory any user can bind a socket at our path. Requests are sent to, and replies
//! accepted from, processes of the same user only.

use std::io;
use std::os::unix::net::UnixStream;

use rustix::process::Uid;

use claude_mem_core::platform;

/// `ConnectionRefused`, as if nothing listened, unless the peer process belongs to `own`.
pub fn ensure_same_user(stream: &UnixStream, own: Uid) -> io::Result<()> {
    let peer = platform::peer_uid(stream)?;
    if peer == own.as_raw() { Ok(()) } else { Err(io::ErrorKind::ConnectionRefused.into()) }
}
