//! [`HostileProxy`]: a TCP proxy that cuts connections at random places, in either direction, or lets nothing
//! through.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Random numbers from a seed (splitmix64).
#[derive(Debug)]
pub struct SeededRandom(AtomicU64);

impl SeededRandom {
    pub const fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    pub fn below(&self, limit: u64) -> u64 {
        let state = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

/// Forwards to a service that may move, and cuts one connection in three while it is hostile.
#[derive(Debug)]
pub struct HostileProxy {
    address: SocketAddr,
    target: Arc<Mutex<SocketAddr>>,
    hostile: Arc<AtomicBool>,
    is_parted: Arc<AtomicBool>,
    ended: Arc<AtomicBool>,
}

impl HostileProxy {
    pub fn start(target: SocketAddr, seed: u64) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let proxy = Self {
            address: listener.local_addr().expect("an address"),
            target: Arc::new(Mutex::new(target)),
            hostile: Arc::new(AtomicBool::new(true)),
            is_parted: Arc::default(),
            ended: Arc::default(),
        };
        let (target, hostile, ended) =
            (Arc::clone(&proxy.target), Arc::clone(&proxy.hostile), Arc::clone(&proxy.ended));
        let is_parted = Arc::clone(&proxy.is_parted);
        std::thread::spawn(move || {
            let random = SeededRandom::new(seed);
            for client in listener.incoming() {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                let (Ok(client), to) = (client, *lock(&target)) else { continue };
                // Requests and answers are longer than this, so that a cut falls into one of them.
                let is_cut = hostile.load(Ordering::Relaxed) && random.below(3) == 0;
                let limit = |cut: bool| if cut { random.below(900) } else { u64::MAX };
                let towards_server = random.below(2) == 0;
                let limits = (limit(is_cut && towards_server), limit(is_cut && !towards_server));
                let is_parted = Arc::clone(&is_parted);
                std::thread::spawn(move || forward(&client, to, limits, &is_parted));
            }
        });
        proxy
    }

    pub fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn point_to(&self, target: SocketAddr) {
        *lock(&self.target) = target;
    }

    /// Begins or ends a partition: while it lasts, connections are open and nothing goes through.
    pub fn part(&self, is_parted: bool) {
        self.is_parted.store(is_parted, Ordering::Relaxed);
    }

    pub fn become_friendly(&self) {
        self.hostile.store(false, Ordering::Relaxed);
    }

    pub fn become_hostile(&self) {
        self.hostile.store(true, Ordering::Relaxed);
    }
}

impl Drop for HostileProxy {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        // Wakes the listener; if it is gone, there is nothing to wake.
        let _ = TcpStream::connect(self.address);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn forward(client: &TcpStream, to: SocketAddr, limits: (u64, u64), is_parted: &AtomicBool) {
    let Ok(server) = TcpStream::connect_timeout(&to, Duration::from_secs(5)) else { return };
    let (Ok(from), Ok(into)) = (client.try_clone(), server.try_clone()) else { return };
    std::thread::scope(|scope| {
        scope.spawn(|| copy(from, into, limits.0, is_parted));
        copy(server, client.try_clone().expect("a socket"), limits.1, is_parted);
    });
}

/// Copies up to a limit, then cuts both directions. During a partition, what is read is lost, and with it the
/// connection, though neither side is told.
fn copy(mut from: TcpStream, mut into: TcpStream, mut limit: u64, is_parted: &AtomicBool) {
    let mut piece = [0; 4_096];
    while let Ok(read @ 1..) = from.read(&mut piece) {
        if is_parted.load(Ordering::Relaxed) {
            limit = 0;
            // Both sides keep waiting until the partition ends, as behind a dead link.
            while is_parted.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        let kept = (read as u64).min(limit) as usize;
        limit -= kept as u64;
        if into.write_all(&piece[..kept]).is_err() || kept < read {
            break;
        }
    }
    // Either may be closed already.
    let _ = from.shutdown(Shutdown::Both);
    let _ = into.shutdown(Shutdown::Both);
}
