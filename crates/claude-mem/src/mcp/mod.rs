//! Memory as tools for the agent: six of them, over stdio.
//!
//! In: JSON-RPC lines. Out: JSON-RPC lines. The protocol is small and stable, so it is spoken
//! here directly: no runtime to start, and the first answer is there in a millisecond.
//!
//! Invariant: every request gets exactly one answer, in bounded time, or none if it was
//! cancelled; whatever goes wrong inside a tool is a helpful text, not a broken connection.
//! Works without the worker: it reads and writes the database itself.

mod arguments;
mod details;
mod fetched;
mod lines;
pub mod memory;
pub mod protocol;
pub mod schema;
pub mod tools;

use std::collections::VecDeque;
use std::io::{BufRead, Read, Write};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use protocol::{Incoming, Reply};
use serde_json::Value;

use crate::limits::MCP_LINE_BYTES_MAX;

/// Lines read ahead of the one being worked on.
const READ_AHEAD: usize = 64;

/// What carries out a tool call. `Err` is a text for the agent, too.
pub trait Toolbox {
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<tools::Said, String>;
}

/// Serves until the input ends.
pub fn serve(
    input: impl BufRead + Send,
    mut output: impl Write,
    toolbox: &mut impl Toolbox,
) -> std::io::Result<()> {
    let (send, receive) = sync_channel(READ_AHEAD);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut input = input;
            while let Some(line) = next_line(&mut input) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        let mut waiting = VecDeque::new();
        let mut takes_structure = false;
        while let Some(incoming) = next(&receive, &mut waiting) {
            if let Some(reply) = answer(incoming, toolbox, &mut takes_structure) {
                writeln!(output, "{reply}")?;
                output.flush()?;
            }
        }
        Ok(())
    })
}

/// One line without its end; what is longer than the bound comes as an error. `None` at the end.
fn next_line(input: &mut impl BufRead) -> Option<Result<Vec<u8>, TooLong>> {
    let mut line = Vec::new();
    let read = input
        .by_ref()
        .take(MCP_LINE_BYTES_MAX as u64)
        .read_until(b'\n', &mut line);
    match read {
        // A client that is gone and one that says goodbye are the same to us.
        Ok(0) | Err(_) => None,
        Ok(_) if line.len() == MCP_LINE_BYTES_MAX && line.last() != Some(&b'\n') => {
            skip_line(input);
            Some(Err(TooLong))
        }
        Ok(_) => Some(Ok(line)),
    }
}

#[derive(Debug)]
struct TooLong;

fn skip_line(input: &mut impl BufRead) {
    loop {
        let (skip, done) = match input.fill_buf() {
            Ok([]) | Err(_) => return,
            Ok(bytes) => match bytes.iter().position(|&byte| byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (bytes.len(), false),
            },
        };
        input.consume(skip);
        if done {
            return;
        }
    }
}

type Line = Result<Vec<u8>, TooLong>;

/// The next message to work on. All that has arrived is looked at first, so that a request that
/// was cancelled while it waited is not begun.
fn next(receive: &Receiver<Line>, waiting: &mut VecDeque<Incoming>) -> Option<Incoming> {
    loop {
        match receive.try_recv() {
            Ok(line) => arrive(&line, waiting),
            Err(TryRecvError::Empty) if waiting.is_empty() => match receive.recv() {
                Ok(line) => arrive(&line, waiting),
                Err(_) => return None,
            },
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => return waiting.pop_front(),
        }
    }
}

fn arrive(line: &Line, waiting: &mut VecDeque<Incoming>) {
    let incoming = match line {
        Ok(bytes) if bytes.trim_ascii().is_empty() => return,
        Ok(bytes) => protocol::read(bytes),
        Err(TooLong) => {
            Incoming::Unreadable("a message is longer than this server takes".to_owned())
        }
    };
    if let Incoming::Cancel { id } = incoming {
        waiting
            .retain(|other| !matches!(other, Incoming::Request { id: waits, .. } if *waits == id));
    } else {
        waiting.push_back(incoming);
    }
}

fn answer(
    incoming: Incoming,
    toolbox: &mut impl Toolbox,
    takes_structure: &mut bool,
) -> Option<Reply> {
    match incoming {
        Incoming::Cancel { .. } | Incoming::Notification => None,
        Incoming::Batch(messages) => {
            let mut replies = Vec::with_capacity(messages.len());
            for message in messages {
                replies.extend(answer(message, toolbox, takes_structure));
            }
            (!replies.is_empty()).then(|| Reply::batch(replies))
        }
        Incoming::Bad(id) => Some(Reply::error(id, protocol::BAD_REQUEST, "not a message")),
        Incoming::Unreadable(why) => Some(Reply::error(Value::Null, protocol::PARSE_ERROR, &why)),
        Incoming::Request { id, method, params } => Some(match method.as_str() {
            "initialize" => {
                *takes_structure = protocol::takes_structure(&params);
                Reply::result(id, protocol::initialized(&params, schema::INSTRUCTIONS))
            }
            "ping" => Reply::result(id, serde_json::json!({})),
            "tools/list" => Reply::result(id, serde_json::json!({ "tools": schema::tools() })),
            "tools/call" => call(id, &params, toolbox, *takes_structure),
            // Newer clients probe with methods that came later; a quick no is what they want.
            _ => Reply::error(
                id,
                protocol::NO_SUCH_METHOD,
                &format!("no such method: {method}"),
            ),
        }),
    }
}

fn call(id: Value, params: &Value, toolbox: &mut impl Toolbox, takes_structure: bool) -> Reply {
    let Some(name) = params.get("name").and_then(Value::as_str) else {
        return Reply::error(
            id,
            protocol::BAD_PARAMS,
            "tools/call needs the name of a tool",
        );
    };
    if !schema::NAMES.contains(&name) {
        let known = schema::NAMES.join(", ");
        return Reply::error(
            id,
            protocol::BAD_PARAMS,
            &format!("no such tool: {name}; there are {known}"),
        );
    }
    let none = Value::Object(serde_json::Map::new());
    let arguments = params
        .get("arguments")
        .filter(|value| !value.is_null())
        .unwrap_or(&none);
    if !arguments.is_object() {
        return Reply::error(id, protocol::BAD_PARAMS, "arguments must be an object");
    }
    match toolbox.call(name, arguments) {
        Ok(said) => Reply::result(id, said.to_json(false, takes_structure)),
        Err(why) => Reply::result(id, tools::Said::text(why).to_json(true, takes_structure)),
    }
}

#[cfg(test)]
#[path = "mcp_tests.rs"]
mod tests;
