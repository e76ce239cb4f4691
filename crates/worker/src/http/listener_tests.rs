use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream as Client};
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::routing::get;
use rustix::net::{AddressFamily, SocketType};
use tokio::sync::Notify;

use super::*;

const LONG: Duration = Duration::from_hours(1);
const SHORT: Duration = Duration::from_millis(60);
const ASK: &str = "GET / HTTP/1.1\r\nhost: here\r\n\r\n";

/// A server that counts its responses; those to `/slow` wait for `go`.
struct TestListener {
    at: SocketAddr,
    go: Arc<Notify>,
    _end: watch::Sender<bool>,
}

fn start_listener(limits: ListenerLimits) -> TestListener {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let at = listener.local_addr().unwrap();
    let (end, ended) = watch::channel(false);
    let go = Arc::new(Notify::new());
    let wait = Arc::clone(&go);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(async {
            let listener = TcpListener::from_std(listener).unwrap();
            let answers = Arc::new(AtomicUsize::new(0));
            let count = move || std::future::ready((answers.fetch_add(1, Ordering::SeqCst) + 1).to_string());
            let slow = move || {
                let wait = Arc::clone(&wait);
                async move {
                    wait.notified().await;
                    "at last"
                }
            };
            let endless = || async {
                let chunks = futures_util::stream::repeat_with(|| Ok::<_, io::Error>(vec![b'x'; 64 << 10]));
                axum::body::Body::from_stream(chunks)
            };
            let router = Router::new()
                .route("/", get(count))
                .route("/slow", get(slow))
                .route("/endless", get(endless));
            serve(listener, router, limits, |_| {}, ended).await;
        });
    });
    TestListener { at, go, _end: end }
}

impl TestListener {
    fn connect(&self) -> Client {
        let client = Client::connect(self.at).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        client
    }
}

/// The body of the next response.
fn read_response(client: &mut Client) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        client.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.unwrap().parse().unwrap()];
    client.read_exact(&mut body).unwrap();
    String::from_utf8(body).unwrap()
}

fn send_request(client: &mut Client) -> String {
    client.write_all(ASK.as_bytes()).unwrap();
    read_response(client)
}

fn is_closed(client: &mut Client) -> bool {
    match client.read(&mut [0; 64]) {
        Ok(read) => read == 0,
        Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
    }
}

#[test]
fn slow_head_times_out() {
    let house = start_listener(ListenerLimits {
        connections_max: 2,
        head: SHORT,
        write: LONG,
        ..ListenerLimits::default()
    });
    let mut client = house.connect();
    client.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
    client.write_all(b"GET / HTTP/1.1\r\nx-slow: ").unwrap();
    let is_gone = (0..4_000).any(|_| client.write_all(b"x").is_err() || is_closed(&mut client));
    assert!(is_gone, "it is held for ever");
}

#[test]
fn idle_connection_is_closed() {
    let house = start_listener(ListenerLimits {
        connections_max: 2,
        head: SHORT,
        write: LONG,
        ..ListenerLimits::default()
    });
    let mut client = house.connect();
    assert_eq!(send_request(&mut client), "1");
    assert_eq!(send_request(&mut client), "2");
    assert!(is_closed(&mut client));
}

#[test]
fn slow_handler_is_not_timed_out() {
    let house = start_listener(ListenerLimits {
        connections_max: 2,
        head: SHORT,
        write: SHORT,
        ..ListenerLimits::default()
    });
    let mut client = house.connect();
    client.write_all(ASK.replace("/ ", "/slow ").as_bytes()).unwrap();
    for _ in 0..3 {
        assert!(is_closed(&mut house.connect()));
    }
    house.go.notify_one();
    assert_eq!(read_response(&mut client), "at last");
    assert!(is_closed(&mut client), "and then its silence counts");
}

#[test]
fn connections_above_the_limit_wait() {
    let house = start_listener(ListenerLimits {
        connections_max: 1,
        head: LONG,
        write: LONG,
        ..ListenerLimits::default()
    });
    let mut first = house.connect();
    assert_eq!(send_request(&mut first), "1");
    let mut second = house.connect();
    second.write_all(ASK.as_bytes()).unwrap();
    assert_eq!(send_request(&mut first), "2");
    assert_eq!(send_request(&mut first), "3");
    drop(first);
    assert_eq!(read_response(&mut second), "4");
}

#[test]
fn client_that_does_not_read_is_disconnected() {
    let house = start_listener(ListenerLimits {
        connections_max: 1,
        head: LONG,
        write: SHORT,
        ..ListenerLimits::default()
    });
    let mut stalled = house.connect();
    stalled.write_all(ASK.replace("/ ", "/endless ").as_bytes()).unwrap();
    // There is one slot: the next client is answered only once the stalled one has lost it.
    let mut next = house.connect();
    assert_eq!(send_request(&mut next), "1");
    drop(stalled);
}

/// A connection from another loopback address.
fn connect_from_elsewhere(to: SocketAddr) -> Client {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    rustix::net::bind(&socket, &SocketAddr::from(([127, 0, 0, 2], 0))).unwrap();
    rustix::net::connect(&socket, &to).unwrap();
    let client = Client::from(socket);
    client.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    client
}

#[test]
fn strangers_do_not_take_the_slots_of_the_owner() {
    let house = start_listener(ListenerLimits {
        connections_max: 2,
        head: LONG,
        write: LONG,
        strangers_max: 1,
        is_stranger: |peer, _| peer.ip().to_string() == "127.0.0.2",
    });
    let held: Vec<Client> = (0..6).map(|_| connect_from_elsewhere(house.at)).collect();
    let mut own = house.connect();
    assert_eq!(send_request(&mut own), "1", "all slots are held by strangers");
    let mut held = held.into_iter();
    assert_eq!(send_request(&mut held.next().unwrap()), "2", "the first stranger has a slot");
    assert!(held.all(|mut client| is_closed(&mut client)), "the others have none");
}
