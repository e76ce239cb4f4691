//! Finds the user at the other end of a loopback connection.
//!
//! The guard decides by tokens who may read; this only keeps the connections of other users of the
//! machine from taking all slots. Where the owner cannot be determined, a connection counts as ours.

use std::net::{IpAddr, SocketAddr};

/// Whether the peer's socket belongs to another user. Root counts as ours: it forwards ports.
pub(super) fn is_stranger(peer: SocketAddr, local: SocketAddr) -> bool {
    let Ok(table) = claude_mem_core::platform::tcp_socket_table() else {
        return false;
    };
    let ours = rustix::process::geteuid().as_raw();
    find_owner(&table, peer, local).is_some_and(|owner| owner != ours && owner != 0)
}

/// The user id of the socket from `peer` to `local`, in the kernel's table of TCP sockets.
fn find_owner(table: &str, peer: SocketAddr, local: SocketAddr) -> Option<u32> {
    let (peer, local) = (kernel_form(peer)?, kernel_form(local)?);
    table.lines().find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let is_peer = fields.next()? == peer && fields.next()? == local;
        is_peer.then(|| fields.nth(4)?.parse().ok()).flatten()
    })
}

/// An address as the kernel prints it: the bytes of the host in memory order, then the port.
fn kernel_form(at: SocketAddr) -> Option<String> {
    match at.ip() {
        IpAddr::V4(ip) => Some(format!("{:08X}:{:04X}", u32::from_ne_bytes(ip.octets()), at.port())),
        IpAddr::V6(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_endian = "little")]
    #[test]
    fn owner_is_read_from_the_table_of_sockets() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
             0: 0100007F:9344 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11 1\n\
             1: 0100007F:C001 0100007F:9344 01 00000000:00000000 00:00000000 00000000  4242        0 12 1\n\
             2: 0100007F:9344 0100007F:C001 01 00000000:00000000 00:00000000 00000000  1000        0 13 1\n";
        let at = |port| SocketAddr::from(([127, 0, 0, 1], port));
        assert_eq!(find_owner(table, at(0xC001), at(0x9344)), Some(4242));
        assert_eq!(find_owner(table, at(0xC002), at(0x9344)), None);
    }

    /// Needs a second user, so only root can run it; others skip it.
    #[allow(clippy::disallowed_methods, reason = "a connection of another user is made by another process")]
    #[test]
    fn connection_of_another_user_is_a_stranger() {
        use std::os::unix::process::CommandExt as _;
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        // It holds the connection until this end closes it.
        let script = format!("exec 3<>/dev/tcp/127.0.0.1/{}; read -u 3 line", at.port());
        let mut child = std::process::Command::new("bash")
            .args(["-c", &script])
            .current_dir("/")
            .uid(65_534)
            .spawn()
            .unwrap();
        let (stream, peer) = listener.accept().unwrap();
        assert!(is_stranger(peer, at));
        drop(stream);
        child.wait().unwrap();
    }

    #[test]
    fn own_connection_is_no_stranger() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (_, peer) = listener.accept().unwrap();
        assert!(!is_stranger(peer, listener.local_addr().unwrap()));
        drop(client);
    }
}
