//! [`TestServer`]: a loopback server with a worker behind it, and a simple HTTP client.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::oneshot;

use super::HttpServer;
use super::listener::ListenerLimits;
use crate::worker::WorkerContext;
use claude_mem_capture::ipc::pidfile::WorkerFile;
use claude_mem_core::clock::Millis;
use claude_mem_core::config::Settings;
use claude_mem_core::event::Event;
use claude_mem_core::ids::{ProjectId, SessionId};
use claude_mem_core::log::{LogAuthor, LogWriter};
use claude_mem_core::memory::{AccountText, NewOpenItem, SessionAccount};
use claude_mem_ingest::heuristic_compressor::HeuristicCompressor;
use claude_mem_ingest::shared_store::SharedStore;
use claude_mem_store::NewRowContext;
use claude_mem_store::testing as events;
use claude_mem_store::testing::WorkerScratch;

/// A server on loopback, with its worker and a page token.
pub(super) struct TestServer {
    pub(super) scratch: WorkerScratch,
    pub(super) worker: Arc<WorkerContext>,
    pub(super) port: u16,
    pub(super) token: String,
    end: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
}

/// One response.
#[derive(Debug)]
pub(super) struct TestResponse {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl TestResponse {
    /// The body as JSON.
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// The value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }
}

impl TestServer {
    /// Starts a server on an empty store.
    pub(super) fn new() -> Self {
        Self::with_limits(ListenerLimits::default())
    }

    /// Starts a server on an empty store, with these limits for its connections.
    pub(super) fn with_limits(limits: ListenerLimits) -> Self {
        let scratch = events::scratch();
        scratch.dir.create().unwrap();
        let store = Arc::new(SharedStore::open(&scratch.dir, Millis(0)).unwrap());
        let settings = Settings::default();
        let log = LogWriter::new(scratch.dir.logs(), LogAuthor::Worker, (&settings).into());
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut file = WorkerFile::for_current_process(scratch.dir.root().join("sock"), Millis(0));
        file.port = Some(port);
        let worker = WorkerContext::start(
            store,
            Arc::new(HeuristicCompressor::default()),
            settings,
            file,
            String::new(),
            log,
        )
        .unwrap();
        let (end, ended) = oneshot::channel();
        let served = Arc::clone(&worker);
        let serving = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let server = HttpServer::start_with_limits(listener, served, |_| None, limits).unwrap();
                // Sent or dropped, both mean shutdown.
                let _ = ended.await;
                server.stop(Duration::from_secs(5)).await;
            });
        });
        let secret = worker.keys.create_link(Instant::now()).unwrap();
        let token = worker.keys.redeem_link(&secret, Instant::now()).unwrap().unwrap();
        Self { scratch, worker, port, token, end: Some(end), serving: Some(serving) }
    }

    /// A server whose store has the memories of one turn.
    pub(super) fn with_turn() -> Self {
        let stage = Self::new();
        stage.turn("one", 1_000);
        stage.leave_account();
        stage
    }

    /// Gives the first session an account and two open items, unless it has left some.
    pub(super) fn leave_account(&self) {
        let left = self.worker.store.with(|store| {
            store.write(|tx| {
                let (session, project) = (SessionId(1), ProjectId(1));
                let place = NewRowContext { project: Some(project), ..NewRowContext::default() };
                if tx.account_of_session(session)?.is_none() {
                    let account = SessionAccount {
                        text: AccountText {
                            purpose: "Find out why retries stop".into(),
                            done: vec!["Raised the pause".into()],
                            ..AccountText::default()
                        },
                        at: Millis(1_000_000),
                    };
                    tx.set_session_account(session, &account, &place)?;
                }
                if tx.open_items(project, None, 2)?.len() < 2 {
                    let item = |claim: &str| NewOpenItem {
                        claim: claim.into(),
                        text: format!("Test the pause, {claim}"),
                        at: Millis(1_000_000),
                        closed: false,
                    };
                    tx.set_open_items(session, &[item("first"), item("second")], &place)?;
                }
                Ok(())
            })
        });
        left.unwrap();
    }

    /// Stores and processes one turn of a session, from prompt to session end.
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

    /// Queues these events and processes them.
    pub(super) fn events(&self, events: &[Event]) {
        self.worker
            .store
            .with(|store| {
                events::accept(store, events);
                Ok(())
            })
            .unwrap();
        self.worker.scheduler.flush(|| false).unwrap();
    }

    /// The Host header that the server accepts.
    pub(super) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream
    }

    /// Sends raw bytes. Returns the response, of a stream only the head.
    pub(super) fn send_raw(&self, request: &str) -> TestResponse {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        read_response(&mut BufReader::new(stream))
    }

    /// Sends a request with the page token, as the page does.
    pub(super) fn call(&self, method: &str, path: &str, body: &str) -> TestResponse {
        let token = format!("x-claude-mem-token: {}", self.token);
        self.send(method, path, &[&token, "content-type: application/json"], body)
    }

    /// Sends a GET with the page token.
    pub(super) fn get(&self, path: &str) -> TestResponse {
        self.call("GET", path, "")
    }

    /// Sends a request with a valid Host and these headers.
    pub(super) fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> TestResponse {
        let host = format!("host: {}", self.host());
        let mut all = vec![host.as_str()];
        all.extend(headers);
        self.send_raw(&request(method, path, &all, body))
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(serving) = self.serving.take() {
            let ended = serving.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the server panicked");
        }
        self.worker.scheduler.stop(Duration::from_secs(5));
    }
}

/// Formats a raw request.
pub(super) fn request(method: &str, path: &str, headers: &[&str], body: &str) -> String {
    let mut text = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
    for header in headers {
        text.push_str(header);
        text.push_str("\r\n");
    }
    text.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
    text
}

/// Reads one response. Of a stream, only the head.
pub(super) fn read_response(from: &mut BufReader<TcpStream>) -> TestResponse {
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
    TestResponse { status, headers, body }
}
