//! The server: a thread per connection, one script for all of them.

use std::collections::HashMap;
use std::io::BufReader;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use super::fault::{self, After, Fault};
use super::gate::Gate;
use super::http::{self, Incoming, Reply};
use super::request::{Face, Request};
use super::script::{Script, Source};
use super::turn::Turn;
use super::{anthropic, gemini, openai};

/// A wait that takes longer than this means that what was waited for will not come.
const ARRIVAL_SECONDS_MAX: u64 = 60;

/// The running model. Dropping it closes the port and every connection.
#[derive(Debug)]
pub struct ScriptedModel {
    address: SocketAddr,
    stage: Arc<Stage>,
    listener: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Stage {
    script: Mutex<Script>,
    requests: Mutex<Vec<Request>>,
    arrived: Condvar,
    sockets: Mutex<HashMap<u64, TcpStream>>,
    /// Gates that an answer waits at, to be opened when the model is dropped.
    held: Mutex<Vec<Gate>>,
    closing: AtomicBool,
}

impl ScriptedModel {
    pub fn start(script: Script) -> Self {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port on loopback");
        let address = socket.local_addr().expect("the listener has an address");
        let stage = Arc::new(Stage {
            script: Mutex::new(script),
            ..Stage::default()
        });
        let for_thread = Arc::clone(&stage);
        let listener = std::thread::spawn(move || for_thread.listen(&socket));
        Self {
            address,
            stage,
            listener: Some(listener),
        }
    }

    /// `http://127.0.0.1:PORT`, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Adds a turn after those that are still to come.
    pub fn push(&self, turn: Turn) {
        lock(&self.stage.script).push(turn);
    }

    /// Begins another script; what was recorded stays.
    pub fn rescript(&self, script: Script) {
        *lock(&self.stage.script) = script;
    }

    /// Turns of the main conversation that nobody has asked for yet.
    pub fn turns_left(&self) -> usize {
        lock(&self.stage.script).turns_left()
    }

    /// Everything that arrived, in order, probes included.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.stage.requests).clone()
    }

    /// The questions to the model, in order.
    pub fn messages(&self) -> Vec<Request> {
        self.requests().into_iter().filter(is_question).collect()
    }

    /// Waits until this many questions have arrived and returns them; panics if they never do.
    pub fn wait_for(&self, questions: usize) -> Vec<Request> {
        let few =
            |all: &mut Vec<Request>| all.iter().filter(|r| is_question(r)).count() < questions;
        let requests = lock(&self.stage.requests);
        let limit = Duration::from_secs(ARRIVAL_SECONDS_MAX);
        let (requests, late) = self
            .stage
            .arrived
            .wait_timeout_while(requests, limit, few)
            .unwrap_or_else(PoisonError::into_inner);
        let found: Vec<_> = requests
            .iter()
            .filter(|r| is_question(r))
            .cloned()
            .collect();
        assert!(
            !late.timed_out(),
            "{} of {questions} questions reached the model",
            found.len()
        );
        found
    }

    /// What happened so far, a line per request, for the message of a failed assertion.
    pub fn story(&self) -> String {
        let lines: Vec<_> = self.requests().iter().map(ToString::to_string).collect();
        lines.join(
            "
",
        )
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.stage.closing.store(true, Ordering::SeqCst);
        for gate in lock(&self.stage.held).drain(..) {
            gate.open();
        }
        for socket in lock(&self.stage.sockets).values() {
            // A peer that is already gone is what we want.
            let _ = socket.shutdown(Shutdown::Both);
        }
        // The listener sits in accept; one connection makes it look at `closing`.
        drop(TcpStream::connect(self.address));
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

fn is_question(request: &Request) -> bool {
    matches!(request.face, Face::Messages | Face::Chat | Face::Gemini)
}

impl Stage {
    fn listen(self: &Arc<Self>, socket: &TcpListener) {
        for stream in socket.incoming().flatten() {
            if self.closing.load(Ordering::SeqCst) {
                return;
            }
            let stage = Arc::clone(self);
            std::thread::spawn(move || stage.converse(stream));
        }
    }

    /// Serves one connection to its end. An I/O error is the peer's way to leave.
    fn converse(&self, mut stream: TcpStream) {
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
        while let Ok(Some(incoming)) = http::read(&mut reader) {
            let close = incoming.wants_close();
            let (reply, fault) = self.answer(incoming);
            let sent = fault::send(reply, fault.as_ref(), &mut stream, &|gate| self.wait(gate));
            if close || !matches!(sent, Ok(After::KeepOpen)) {
                break;
            }
        }
        lock(&self.sockets).remove(&number);
    }

    fn answer(&self, incoming: Incoming) -> (Reply, Option<Fault>) {
        let mut request = recorded(incoming);
        let (reply, turn) = match request.face {
            Face::Other => (other(&request), Turn::default()),
            Face::CountTokens => (count_tokens(&request), Turn::default()),
            Face::Messages | Face::Chat | Face::Gemini => {
                let (turn, source) = lock(&self.script).next(&request);
                request.source = source;
                (speak(&request, &turn), turn)
            }
        };
        request.answer_bytes = reply.wire().len();
        lock(&self.requests).push(request);
        self.arrived.notify_all();
        if let Some(gate) = &turn.gate {
            self.wait(gate);
        }
        (reply, turn.fault)
    }

    fn wait(&self, gate: &Gate) {
        lock(&self.held).push(gate.clone());
        if self.closing.load(Ordering::SeqCst) {
            gate.open();
        }
        gate.wait();
    }
}

fn recorded(incoming: Incoming) -> Request {
    Request {
        face: Face::of(&incoming.method, &incoming.path),
        body: serde_json::from_slice(&incoming.body).unwrap_or(Value::Null),
        body_bytes: incoming.body.len(),
        method: incoming.method,
        path: incoming.path,
        headers: incoming.headers,
        source: Source::Unscripted,
        answer_bytes: 0,
    }
}

fn speak(request: &Request, turn: &Turn) -> Reply {
    let mut reply = match (request.face, &turn.fault) {
        (Face::Chat, Some(Fault::Status(status))) => openai::error(*status),
        (Face::Gemini, Some(Fault::Status(status))) => gemini::error(*status),
        (_, Some(Fault::Status(status))) => anthropic::error(*status),
        (Face::Chat, _) => openai::reply(request, turn),
        (Face::Gemini, _) => gemini::reply(request, turn),
        _ => anthropic::reply(request, turn),
    };
    reply.headers.extend(turn.headers.iter().cloned());
    reply
}

fn count_tokens(request: &Request) -> Reply {
    let tokens = (request.body_bytes / 4).max(1);
    Reply::json(200, &json!({"input_tokens": tokens, "totalTokens": tokens}))
}

fn other(request: &Request) -> Reply {
    if request.method == "HEAD" {
        return Reply::without_body();
    }
    if request.path.contains("/models") {
        return Reply::json(
            200,
            &json!({"object": "list", "data": [], "models": [], "has_more": false}),
        );
    }
    anthropic::error(404)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
