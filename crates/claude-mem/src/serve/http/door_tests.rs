use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream as Client;
use std::sync::atomic::AtomicUsize;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::routing::get;
use tokio::sync::Notify;

use super::*;

const LONG: Duration = Duration::from_hours(1);
const SHORT: Duration = Duration::from_millis(60);
const ASK: &str = "GET / HTTP/1.1\r\nhost: here\r\n\r\n";

/// A server that counts its answers; those to `/slow` wait for `go`.
struct House {
    at: SocketAddr,
    go: Arc<Notify>,
    _end: tokio::sync::oneshot::Sender<()>,
}

fn house(patience: Patience) -> House {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let at = listener.local_addr().unwrap();
    let (end, ended) = tokio::sync::oneshot::channel();
    let go = Arc::new(Notify::new());
    let wait = Arc::clone(&go);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(async {
            let listener = TcpListener::from_std(listener).unwrap();
            let door = Door::new(listener, patience, Box::new(|_| {}));
            let answers = Arc::new(AtomicUsize::new(0));
            let count = move |ConnectInfo(connection): ConnectInfo<Connection>| {
                let _busy = connection.begin();
                let answers = Arc::clone(&answers);
                async move { (answers.fetch_add(1, Ordering::SeqCst) + 1).to_string() }
            };
            let slow = move |ConnectInfo(connection): ConnectInfo<Connection>| {
                let busy = connection.begin();
                let wait = Arc::clone(&wait);
                async move {
                    wait.notified().await;
                    drop(busy);
                    "at last"
                }
            };
            let router = Router::new()
                .route("/", get(count))
                .route("/slow", get(slow));
            let service = router.into_make_service_with_connect_info::<Connection>();
            tokio::select! {
                served = async { axum::serve(door, service).await } => served.unwrap(),
                _ = ended => {}
            }
        });
    });
    House { at, go, _end: end }
}

impl House {
    fn enter(&self) -> Client {
        let client = Client::connect(self.at).unwrap();
        client
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        client
    }
}

/// The body of the next answer.
fn answer(client: &mut Client) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        client.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.unwrap().parse().unwrap()];
    client.read_exact(&mut body).unwrap();
    String::from_utf8(body).unwrap()
}

fn ask(client: &mut Client) -> String {
    client.write_all(ASK.as_bytes()).unwrap();
    answer(client)
}

fn is_let_go(client: &mut Client) -> bool {
    match client.read(&mut [0; 64]) {
        Ok(read) => read == 0,
        Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
    }
}

#[test]
fn a_head_that_comes_byte_by_byte_is_not_waited_for() {
    let house = house(Patience {
        places: 2,
        head: SHORT,
        silence: LONG,
    });
    let mut client = house.enter();
    client
        .set_read_timeout(Some(Duration::from_millis(5)))
        .unwrap();
    client.write_all(b"GET / HTTP/1.1\r\nx-slow: ").unwrap();
    let is_gone = (0..4_000).any(|_| client.write_all(b"x").is_err() || is_let_go(&mut client));
    assert!(is_gone, "it is held for ever");
}

#[test]
fn between_requests_there_is_more_time_than_for_a_head() {
    let house = house(Patience {
        places: 2,
        head: SHORT,
        silence: LONG,
    });
    let mut client = house.enter();
    assert_eq!(ask(&mut client), "1");
    // That one who says nothing was let go shows that a head's time has passed.
    assert!(is_let_go(&mut house.enter()));
    assert_eq!(ask(&mut client), "2");
    assert!(is_let_go(&mut house.enter()));
    assert_eq!(ask(&mut client), "3");
}

#[test]
fn a_request_that_takes_long_is_answered_all_the_same() {
    let house = house(Patience {
        places: 2,
        head: SHORT,
        silence: SHORT,
    });
    let mut client = house.enter();
    client
        .write_all(ASK.replace("/ ", "/slow ").as_bytes())
        .unwrap();
    for _ in 0..3 {
        assert!(is_let_go(&mut house.enter()));
    }
    house.go.notify_one();
    assert_eq!(answer(&mut client), "at last");
    assert!(is_let_go(&mut client), "and then its silence counts");
}

#[test]
fn whoever_comes_while_all_places_are_taken_waits_for_one() {
    let house = house(Patience {
        places: 1,
        head: LONG,
        silence: LONG,
    });
    let mut first = house.enter();
    assert_eq!(ask(&mut first), "1");
    let mut second = house.enter();
    second.write_all(ASK.as_bytes()).unwrap();
    assert_eq!(ask(&mut first), "2");
    assert_eq!(ask(&mut first), "3");
    drop(first);
    assert_eq!(answer(&mut second), "4");
}
