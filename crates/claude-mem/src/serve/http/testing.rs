//! A server on loopback with a worker behind it, and a client that sends what it is told to.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::oneshot;

use super::Server;
use crate::clock::Millis;
use crate::config::Settings;
use crate::hook::event::Event;
use crate::log::{Author, Log};
use crate::serve::local::Local;
use crate::serve::pidfile::WorkerFile;
use crate::serve::shared::SharedStore;
use crate::serve::testing::{self as events, Scratch};
use crate::serve::worker::Worker;

pub(super) struct Stage {
    pub(super) scratch: Scratch,
    pub(super) worker: Arc<Worker>,
    pub(super) port: u16,
    pub(super) token: String,
    end: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
}

/// One answer.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Reply {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }
}

impl Stage {
    pub(super) fn new() -> Self {
        let scratch = events::scratch();
        scratch.dir.create().unwrap();
        let store = Arc::new(SharedStore::open(&scratch.dir, Millis(0)).unwrap());
        let settings = Settings::default();
        let log = Log::new(scratch.dir.logs(), Author::Worker, (&settings).into());
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut file = WorkerFile::of_self(scratch.dir.root().join("sock"), Millis(0));
        file.port = Some(port);
        let worker = Worker::start(
            store,
            Arc::new(Local::default()),
            settings,
            file,
            String::new(),
            log,
        )
        .unwrap();
        let (end, ended) = oneshot::channel();
        let served = Arc::clone(&worker);
        let serving = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.unwrap().block_on(async {
                let server = Server::start(listener, served, |_| None).unwrap();
                // Dropped or sent: it is over.
                let _ = ended.await;
                server.stop(Duration::from_secs(5)).await;
            });
        });
        let secret = worker.keys.link(Instant::now()).unwrap();
        let token = worker.keys.enter(&secret, Instant::now()).unwrap().unwrap();
        Self {
            scratch,
            worker,
            port,
            token,
            end: Some(end),
            serving: Some(serving),
        }
    }

    /// With one turn of a session made into memories.
    pub(super) fn with_a_turn() -> Self {
        let stage = Self::new();
        stage.turn("one", 1_000);
        stage
    }

    /// A session's turn, from its prompt to its end.
    pub(super) fn turn(&self, session: &str, at: i64) {
        let turn = [
            events::event(
                session,
                at,
                events::prompt("Why do the retries of the billing client stop at seven?"),
            ),
            events::event(
                session,
                at + 1,
                events::edit("/src/shop/billing/retry.rs", &format!("{session}-e1")),
            ),
            events::event(
                session,
                at + 2,
                events::stop(
                    "Retries stop at seven because the eighth trips the limiter. I raised the pause between them in billing/retry.rs.",
                ),
            ),
            events::event(session, at + 3, events::end()),
        ];
        self.events(&turn);
    }

    /// What hooks have sent, worked on.
    pub(super) fn events(&self, events: &[Event]) {
        self.worker
            .store
            .with(|store| {
                events::accept(store, events);
                Ok(())
            })
            .unwrap();
        self.worker.drain.flush(|| false).unwrap();
    }

    /// What the server takes as its own.
    pub(super) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        stream
    }

    /// Sends bytes as they are; the answer's head, and its body unless it never ends.
    pub(super) fn raw(&self, request: &str) -> Reply {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        read(&mut BufReader::new(stream))
    }

    /// As the page would, with its token.
    pub(super) fn call(&self, method: &str, path: &str, body: &str) -> Reply {
        let token = format!("x-claude-mem-token: {}", self.token);
        self.send(
            method,
            path,
            &[&token, "content-type: application/json"],
            body,
        )
    }

    pub(super) fn get(&self, path: &str) -> Reply {
        self.call("GET", path, "")
    }

    /// With a right Host and these headers.
    pub(super) fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Reply {
        let host = format!("host: {}", self.host());
        let mut all = vec![host.as_str()];
        all.extend(headers);
        self.raw(&request(method, path, &all, body))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(serving) = self.serving.take() {
            let ended = serving.join();
            assert!(
                ended.is_ok() || std::thread::panicking(),
                "the server panicked"
            );
        }
        self.worker.drain.stop(Duration::from_secs(5));
    }
}

pub(super) fn request(method: &str, path: &str, headers: &[&str], body: &str) -> String {
    let mut text = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
    for header in headers {
        text.push_str(header);
        text.push_str("\r\n");
    }
    text.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
    text
}

/// Reads one answer. Of a stream, only the head.
pub(super) fn read(from: &mut BufReader<TcpStream>) -> Reply {
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).and_then(|code| code.parse().ok());
    let status = status.unwrap_or_else(|| panic!("no answer: {line:?}"));
    let mut headers = Vec::new();
    loop {
        line.clear();
        from.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    from.read_exact(&mut body).unwrap();
    let body = String::from_utf8(body).unwrap();
    Reply {
        status,
        headers,
        body,
    }
}
