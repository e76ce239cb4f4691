//! The server behind [`ScriptedModel`]: one thread per connection, one script for all of them.

use std::collections::HashMap;
use std::io::BufReader;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use super::fault::{self, ConnectionReuse, ResponseFault};
use super::gate::TestGate;
use super::http::{self, HttpReply, IncomingRequest};
use super::request::{ModelApi, RecordedRequest};
use super::script::ModelScript;
use super::turn::{ModelTurn, TurnSource};
use super::{anthropic, gemini, openai, responses};

/// Timeout for requests to arrive.
const ARRIVAL_SECONDS_MAX: u64 = 60;

/// A running scripted model. Dropping it closes the port and every connection.
#[derive(Debug)]
pub struct ScriptedModel {
    address: SocketAddr,
    state: Arc<ModelServerState>,
    listener: Option<JoinHandle<()>>,
}

/// State shared by the connections.
#[derive(Debug, Default)]
struct ModelServerState {
    script: Mutex<ModelScript>,
    requests: Mutex<Vec<RecordedRequest>>,
    arrived: Condvar,
    sockets: Mutex<HashMap<u64, TcpStream>>,
    /// Gates at which answers wait; opened when the model is dropped.
    held_gates: Mutex<Vec<TestGate>>,
    closing: AtomicBool,
}

impl ScriptedModel {
    pub fn start(script: ModelScript) -> Self {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port on loopback");
        let address = socket.local_addr().expect("the listener has an address");
        let state = Arc::new(ModelServerState { script: Mutex::new(script), ..ModelServerState::default() });
        let for_thread = Arc::clone(&state);
        let listener = std::thread::spawn(move || for_thread.accept_connections(&socket));
        Self { address, state, listener: Some(listener) }
    }

    /// `http://127.0.0.1:PORT`, without a trailing slash.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Appends a turn to the script.
    pub fn push(&self, turn: ModelTurn) {
        lock(&self.state.script).push(turn);
    }

    /// Replaces the script; recorded requests stay.
    pub fn rescript(&self, script: ModelScript) {
        *lock(&self.state.script) = script;
    }

    /// The number of unused turns of the main conversation.
    pub fn turns_left(&self) -> usize {
        lock(&self.state.script).turns_left()
    }

    /// All requests in order, including probes.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        lock(&self.state.requests).clone()
    }

    /// The requests to the model itself, in order.
    pub fn messages(&self) -> Vec<RecordedRequest> {
        self.requests().into_iter().filter(is_question).collect()
    }

    /// Waits until this many requests to the model have arrived and returns them; panics on timeout.
    pub fn wait_for(&self, questions: usize) -> Vec<RecordedRequest> {
        let few = |all: &mut Vec<RecordedRequest>| all.iter().filter(|r| is_question(r)).count() < questions;
        let requests = lock(&self.state.requests);
        let limit = Duration::from_secs(ARRIVAL_SECONDS_MAX);
        let (requests, late) = self
            .state
            .arrived
            .wait_timeout_while(requests, limit, few)
            .unwrap_or_else(PoisonError::into_inner);
        let found: Vec<_> = requests.iter().filter(|r| is_question(r)).cloned().collect();
        assert!(!late.timed_out(), "{} of {questions} requests reached the model", found.len());
        found
    }

    /// One line per request, for the message of a failed assertion.
    pub fn request_log(&self) -> String {
        let lines: Vec<_> = self.requests().iter().map(ToString::to_string).collect();
        lines.join("\n")
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.state.closing.store(true, Ordering::SeqCst);
        for gate in lock(&self.state.held_gates).drain(..) {
            gate.open();
        }
        for socket in lock(&self.state.sockets).values() {
            // The peer may be gone already.
            let _ = socket.shutdown(Shutdown::Both);
        }
        // The listener blocks in accept; one connection makes it check `closing`.
        drop(TcpStream::connect(self.address));
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

fn is_question(request: &RecordedRequest) -> bool {
    matches!(request.api, ModelApi::Messages | ModelApi::Chat | ModelApi::Responses | ModelApi::Gemini)
}

impl ModelServerState {
    fn accept_connections(self: &Arc<Self>, socket: &TcpListener) {
        for stream in socket.incoming().flatten() {
            if self.closing.load(Ordering::SeqCst) {
                return;
            }
            let stage = Arc::clone(self);
            std::thread::spawn(move || stage.serve_connection(stream));
        }
    }

    /// Serves one connection to its end. An I/O error means that the peer has left.
    fn serve_connection(&self, mut stream: TcpStream) {
        static CONNECTIONS: AtomicU64 = AtomicU64::new(0);
        let number = CONNECTIONS.fetch_add(1, Ordering::Relaxed);
        let (Ok(handle), Ok(reader)) = (stream.try_clone(), stream.try_clone()) else {
            return;
        };
        let _ = stream.set_nodelay(true);
        lock(&self.sockets).insert(number, handle);
        if self.closing.load(Ordering::SeqCst) {
            return;
        }
        let mut reader = BufReader::new(reader);
        while let Ok(Some(incoming)) = http::read_request(&mut reader) {
            let close = incoming.wants_close();
            let (reply, fault) = self.answer(incoming);
            let sent = fault::send(reply, fault.as_ref(), &mut stream, &|gate| self.wait_at_gate(gate));
            if close || !matches!(sent, Ok(ConnectionReuse::KeepOpen)) {
                break;
            }
        }
        lock(&self.sockets).remove(&number);
    }

    fn answer(&self, incoming: IncomingRequest) -> (HttpReply, Option<ResponseFault>) {
        let mut request = record_request(incoming);
        let (reply, turn) = match request.api {
            ModelApi::Other => (reply_unscripted(&request), ModelTurn::default()),
            ModelApi::CountTokens => (count_tokens(&request), ModelTurn::default()),
            ModelApi::Messages | ModelApi::Chat | ModelApi::Responses | ModelApi::Gemini => {
                let (turn, source) = lock(&self.script).next_turn(&request);
                request.source = source;
                (render_turn(&request, &turn), turn)
            }
        };
        request.answer_bytes = reply.to_bytes().len();
        lock(&self.requests).push(request);
        self.arrived.notify_all();
        if let Some(gate) = &turn.gate {
            self.wait_at_gate(gate);
        }
        (reply, turn.fault)
    }

    fn wait_at_gate(&self, gate: &TestGate) {
        lock(&self.held_gates).push(gate.clone());
        if self.closing.load(Ordering::SeqCst) {
            gate.open();
        }
        gate.wait();
    }
}

fn record_request(incoming: IncomingRequest) -> RecordedRequest {
    RecordedRequest {
        api: ModelApi::from_request(&incoming.method, &incoming.path),
        body: serde_json::from_slice(&incoming.body).unwrap_or(Value::Null),
        body_bytes: incoming.body.len(),
        method: incoming.method,
        path: incoming.path,
        headers: incoming.headers,
        source: TurnSource::Unscripted,
        answer_bytes: 0,
    }
}

fn render_turn(request: &RecordedRequest, turn: &ModelTurn) -> HttpReply {
    let mut reply = match (request.api, &turn.fault) {
        (ModelApi::Chat | ModelApi::Responses, Some(ResponseFault::Status(status))) => openai::error(*status),
        (ModelApi::Gemini, Some(ResponseFault::Status(status))) => gemini::error(*status),
        (_, Some(ResponseFault::Status(status))) => anthropic::error(*status),
        (ModelApi::Chat, _) => openai::reply(request, turn),
        (ModelApi::Responses, _) => responses::reply(request, turn),
        (ModelApi::Gemini, _) => gemini::reply(request, turn),
        _ => anthropic::reply(request, turn),
    };
    reply.headers.extend(turn.headers.iter().cloned());
    reply
}

fn count_tokens(request: &RecordedRequest) -> HttpReply {
    let tokens = (request.body_bytes / 4).max(1);
    HttpReply::json(200, &json!({"input_tokens": tokens, "totalTokens": tokens}))
}

fn reply_unscripted(request: &RecordedRequest) -> HttpReply {
    if request.method == "HEAD" {
        return HttpReply::without_body();
    }
    if request.path.contains("/models") {
        return HttpReply::json(200, &json!({"object": "list", "data": [], "models": [], "has_more": false}));
    }
    anthropic::error(404)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
