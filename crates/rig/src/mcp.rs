//! A client for an MCP server on stdio: JSON-RPC, one message per line.
//!
//! [`McpTestClient::call`] and [`McpTestClient::request`] send a request and wait for its answer.
//! [`McpTestClient::begin`] and [`McpTestClient::answer`] separate the two, for concurrent calls and
//! cancellation; [`McpTestClient::send_line`] sends any text.

#![allow(clippy::needless_pass_by_value, reason = "arguments are written as `json!` at the call")]

use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{ChildStdin, Command};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::{self, ProcessOutput, RunningProcess, StreamCapture};

/// Timeout for an answer of the server.
const ANSWER_SECONDS_MAX: u64 = 30;

/// The protocol version of the current client.
pub const PROTOCOL: &str = "2025-11-25";

/// A running server and the client's end of its stdio.
#[derive(Debug)]
pub struct McpTestClient {
    running: RunningProcess,
    began: Instant,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: StreamCapture,
    next_id: u64,
    /// Answers that arrived while another one was awaited.
    pending_answers: HashMap<u64, Result<Value, RpcError>>,
}

/// A JSON-RPC error. A failed tool call is a result with `isError` instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcError {
    pub code: i64,
    pub message: String,
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl McpTestClient {
    pub fn spawn(mut command: Command) -> Self {
        let began = Instant::now();
        let mut child = process::spawn(&mut command);
        let stdin = child.stdin.take();
        let stderr = process::capture_stream(child.stderr.take());
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let (tell, lines) = mpsc::channel();
        std::thread::spawn(move || {
            let mut lines = stdout.lines().map_while(Result::ok);
            while lines.next().is_some_and(|line| tell.send(line).is_ok()) {}
        });
        let (next_id, pending_answers) = (1, HashMap::new());
        Self {
            running: RunningProcess::from_child(child),
            began,
            stdin,
            lines,
            stderr,
            next_id,
            pending_answers,
        }
    }

    /// Performs the handshake and returns the server's description of itself.
    #[track_caller]
    pub fn initialize(&mut self) -> Value {
        let client = json!({"name": "rig", "version": "0"});
        let params = json!({"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client});
        let about = self.request("initialize", params).unwrap_or_else(|e| panic!("initialize: {e}"));
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        about
    }

    #[track_caller]
    pub fn tools(&mut self) -> Vec<Value> {
        let listed = self.request("tools/list", json!({})).unwrap_or_else(|e| panic!("tools: {e}"));
        listed["tools"].as_array().cloned().unwrap_or_default()
    }

    /// Calls a tool and returns its result object.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, RpcError> {
        let id = self.begin_call(tool, arguments);
        self.answer(id)
    }

    /// Calls a tool that must succeed and returns the text of its result.
    #[track_caller]
    pub fn call_text(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).unwrap_or_else(|e| panic!("{tool}: {e}"));
        assert_ne!(result["isError"], true, "{tool}: {result:#}");
        let texts = result["content"].as_array().into_iter().flatten();
        texts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
    }

    pub fn begin_call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.begin("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    #[track_caller]
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value, RpcError> {
        let id = self.begin(method, params);
        self.answer(id)
    }

    /// Sends a request without waiting; returns its id for [`Self::answer`] or [`Self::cancel`].
    pub fn begin(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    pub fn cancel(&mut self, id: u64) {
        let params = json!({"requestId": id, "reason": "the test changed its mind"});
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    }

    /// Waits for the answer to one request and stores the answers to others.
    #[track_caller]
    pub fn answer(&mut self, id: u64) -> Result<Value, RpcError> {
        loop {
            if let Some(answer) = self.pending_answers.remove(&id) {
                return answer;
            }
            let message = self
                .receive()
                .unwrap_or_else(|| panic!("the server ended without answering {id}: {}", self.stderr.text()));
            if let (Some(id), None) = (message["id"].as_u64(), message.get("method")) {
                self.pending_answers.insert(id, parse_response(&message));
            }
        }
    }

    pub fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    /// Sends this line unchanged, JSON or not. A server that has exited is noticed at the next answer.
    pub fn send_line(&mut self, line: &str) {
        if let Some(stdin) = &mut self.stdin {
            let _ = writeln!(stdin, "{line}");
        }
    }

    /// The next message of any kind; `None` once the server has exited.
    #[track_caller]
    pub fn receive(&mut self) -> Option<Value> {
        match self.lines.recv_timeout(Duration::from_secs(ANSWER_SECONDS_MAX)) {
            Ok(line) => {
                Some(serde_json::from_str(&line).unwrap_or_else(|e| panic!("not JSON-RPC: {line:?}: {e}")))
            }
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no answer: {}", self.stderr.text()),
        }
    }

    /// Closes stdin, as an exiting client does, and waits for the server to exit. The output's stdout
    /// contains the messages that were not received.
    pub fn close(mut self) -> ProcessOutput {
        drop(self.stdin.take());
        let limit = Duration::from_secs(ANSWER_SECONDS_MAX);
        let nothing = process::capture_stream(None::<io::Empty>);
        let mut output = self.running.wait_with_limit(self.began, limit, &nothing, &self.stderr);
        output.stdout = self.lines.iter().map(|line| line + "\n").collect();
        output
    }
}

fn parse_response(message: &Value) -> Result<Value, RpcError> {
    let error = &message["error"];
    if error.is_null() {
        return Ok(message["result"].clone());
    }
    let text = error["message"].as_str().unwrap_or_default().to_owned();
    Err(RpcError { code: error["code"].as_i64().unwrap_or_default(), message: text })
}
