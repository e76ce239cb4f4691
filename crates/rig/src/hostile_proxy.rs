//! [`HostileProxy`]: a TCP proxy that cuts connections at random places, in either direction.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::network::NetworkHost;

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

/// A replica that takes no connection within this time is passed over.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(2);

/// A cut falls within so many bytes of a connection. Requests and answers are longer, so that it falls into one of
/// them.
const PLAIN_CUT_BYTES: u64 = 900;

/// The same with TLS: the handshake takes the first three thousand.
const TLS_CUT_BYTES: u64 = 6_000;

/// Forwards to one of several replicas, which may move, and cuts one connection in three while it is hostile.
#[derive(Debug)]
pub struct HostileProxy {
    address: SocketAddr,
    state: Arc<ProxyState>,
}

/// State that the threads of a proxy share.
#[derive(Debug)]
struct ProxyState {
    targets: Mutex<Vec<SocketAddr>>,
    is_hostile: AtomicBool,
    ended: AtomicBool,
    random: SeededRandom,
    cut_bytes: u64,
}

impl HostileProxy {
    /// A proxy on loopback for one service without TLS. It is hostile.
    pub fn start(target: SocketAddr, seed: u64) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        Self::serve(listener, vec![target], seed, PLAIN_CUT_BYTES)
    }

    /// A proxy on a host of a test network, for replicas with TLS: each connection goes to one of them. It is
    /// friendly at first.
    pub fn start_at(host: &NetworkHost, targets: Vec<SocketAddr>, seed: u64) -> Self {
        // Only this thread, and those that it starts, move to the host.
        let proxy = std::thread::scope(|scope| {
            let start = || {
                host.enter();
                let listener = TcpListener::bind((host.address(), 0)).expect("a port");
                Self::serve(listener, targets, seed, TLS_CUT_BYTES)
            };
            scope.spawn(start).join().expect("a proxy")
        });
        proxy.become_friendly();
        proxy
    }

    fn serve(listener: TcpListener, targets: Vec<SocketAddr>, seed: u64, cut_bytes: u64) -> Self {
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(ProxyState {
            targets: Mutex::new(targets),
            is_hostile: AtomicBool::new(true),
            ended: AtomicBool::new(false),
            random: SeededRandom::new(seed),
            cut_bytes,
        });
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if shared.ended.load(Ordering::Relaxed) {
                    return;
                }
                let state = Arc::clone(&shared);
                std::thread::spawn(move || state.forward(&client));
            }
        });
        Self { address, state }
    }

    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn point_to(&self, target: SocketAddr) {
        self.distribute_to(vec![target]);
    }

    /// New connections go to any of these.
    pub fn distribute_to(&self, targets: Vec<SocketAddr>) {
        *lock(&self.state.targets) = targets;
    }

    pub fn become_friendly(&self) {
        self.state.is_hostile.store(false, Ordering::Relaxed);
    }

    pub fn become_hostile(&self) {
        self.state.is_hostile.store(true, Ordering::Relaxed);
    }
}

impl Drop for HostileProxy {
    fn drop(&mut self) {
        self.state.ended.store(true, Ordering::Relaxed);
        // Wakes the listener; if it cannot be reached from here, its thread ends with the process.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_millis(100));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl ProxyState {
    fn forward(&self, client: &TcpStream) {
        let Some(server) = self.connect() else { return };
        let is_cut = self.is_hostile.load(Ordering::Relaxed) && self.random.below(3) == 0;
        let limit = |cut: bool| if cut { self.random.below(self.cut_bytes) } else { u64::MAX };
        let towards_server = self.random.below(2) == 0;
        let limits = (limit(is_cut && towards_server), limit(is_cut && !towards_server));
        let (Ok(from), Ok(into)) = (client.try_clone(), server.try_clone()) else { return };
        std::thread::scope(|scope| {
            scope.spawn(|| copy(from, into, limits.0));
            copy(server, client.try_clone().expect("a socket"), limits.1);
        });
    }

    /// A connection to any replica that takes one.
    fn connect(&self) -> Option<TcpStream> {
        let targets = lock(&self.targets).clone();
        let first = self.random.below(targets.len() as u64) as usize;
        let order = targets[first..].iter().chain(&targets[..first]);
        order.into_iter().find_map(|target| TcpStream::connect_timeout(target, CONNECT_TIME_MAX).ok())
    }
}

/// Copies up to a limit, then cuts both directions.
fn copy(mut from: TcpStream, mut into: TcpStream, mut limit: u64) {
    let mut piece = [0; 4_096];
    while let Ok(read @ 1..) = from.read(&mut piece) {
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
