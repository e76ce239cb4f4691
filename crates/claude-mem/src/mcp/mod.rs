//! The MCP server: memory tools over stdio.
//!
//! JSON-RPC lines come in and go out. The protocol is small and stable, so it is implemented here
//! directly: no runtime to start, and the first reply takes a millisecond. [`serve`] runs the loop,
//! `protocol` parses and builds messages, and a [`Toolbox`] carries out the calls.
//!
//! Invariant: every request gets exactly one reply in bounded time, or none if it was cancelled; a
//! failing tool returns an explanatory text, never a broken connection. The server needs no worker:
//! it reads and writes the database itself.

mod arguments;
pub(crate) mod caller;
mod details;
mod fetched;
mod lines;
pub(crate) mod memory;
mod open_items;
pub(crate) mod protocol;
mod row_lookup;
pub(crate) mod schema;
pub(crate) mod tools;

use std::collections::VecDeque;
use std::io::{BufRead, Read, Write};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use protocol::{RpcMessage, RpcReply};
use serde_json::Value;

/// Maximum bytes of one message from an MCP client.
pub(crate) const MCP_LINE_BYTES_MAX: usize = 8 << 20;

/// Input lines buffered ahead of the current request.
const READ_AHEAD: usize = 64;

/// Carries out tool calls. `Err` is also a text for the agent.
pub(crate) trait Toolbox {
    /// The instructions that a client passes on to its model.
    fn instructions(&self) -> String {
        schema::INSTRUCTIONS.to_owned()
    }

    /// Called with the parameters of `initialize`.
    fn introduce(&mut self, _params: &Value) {}

    /// Called with the parameters of every `tools/call`, before the tool.
    fn begin_call(&mut self, _params: &Value) {}

    fn call(&mut self, tool: &str, arguments: &Value) -> Result<tools::ToolOutput, String>;
}

/// Serves requests until the input ends.
pub(crate) fn serve(
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
        while let Some(incoming) = next_message(&receive, &mut waiting) {
            if let Some(reply) = reply_to(incoming, toolbox, &mut takes_structure) {
                writeln!(output, "{reply}")?;
                output.flush()?;
            }
        }
        Ok(())
    })
}

/// Reads one line, newline included; an error if it exceeds the limit, `None` at the end of input.
fn next_line(input: &mut impl BufRead) -> Option<Result<Vec<u8>, LineTooLong>> {
    let mut line = Vec::new();
    let read = input.by_ref().take(MCP_LINE_BYTES_MAX as u64).read_until(b'\n', &mut line);
    match read {
        // A read error means the client is gone, like end of input.
        Ok(0) | Err(_) => None,
        Ok(_) if line.len() == MCP_LINE_BYTES_MAX && line.last() != Some(&b'\n') => {
            skip_line(input);
            Some(Err(LineTooLong))
        }
        Ok(_) => Some(Ok(line)),
    }
}

/// An input line exceeds `MCP_LINE_BYTES_MAX`.
#[derive(Debug)]
struct LineTooLong;

/// Discards the rest of the current line.
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

/// One input line, or the error that it was too long.
type InputLine = Result<Vec<u8>, LineTooLong>;

/// The next message to handle. All received lines are parsed first, so that a request cancelled
/// while queued is not started.
fn next_message(receive: &Receiver<InputLine>, waiting: &mut VecDeque<RpcMessage>) -> Option<RpcMessage> {
    loop {
        match receive.try_recv() {
            Ok(line) => enqueue(&line, waiting),
            Err(TryRecvError::Empty) if waiting.is_empty() => match receive.recv() {
                Ok(line) => enqueue(&line, waiting),
                Err(_) => return None,
            },
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => return waiting.pop_front(),
        }
    }
}

/// Queues a message, or removes the request that it cancels.
fn enqueue(line: &InputLine, waiting: &mut VecDeque<RpcMessage>) {
    let incoming = match line {
        Ok(bytes) if bytes.trim_ascii().is_empty() => return,
        Ok(bytes) => protocol::parse_line(bytes),
        Err(LineTooLong) => RpcMessage::Malformed("message too long".to_owned()),
    };
    if let RpcMessage::Cancel { id } = incoming {
        waiting.retain(|other| !matches!(other, RpcMessage::Request { id: waits, .. } if *waits == id));
    } else {
        waiting.push_back(incoming);
    }
}

fn reply_to(
    incoming: RpcMessage,
    toolbox: &mut impl Toolbox,
    takes_structure: &mut bool,
) -> Option<RpcReply> {
    match incoming {
        RpcMessage::Cancel { .. } | RpcMessage::Notification => None,
        RpcMessage::Batch(messages) => {
            let mut replies = Vec::with_capacity(messages.len());
            for message in messages {
                replies.extend(reply_to(message, toolbox, takes_structure));
            }
            (!replies.is_empty()).then(|| RpcReply::batch(replies))
        }
        RpcMessage::Invalid(id) => Some(RpcReply::error(id, protocol::BAD_REQUEST, "invalid request")),
        RpcMessage::Malformed(why) => Some(RpcReply::error(Value::Null, protocol::PARSE_ERROR, &why)),
        RpcMessage::Request { id, method, params } => Some(match method.as_str() {
            "initialize" => {
                *takes_structure = protocol::accepts_structured(&params);
                toolbox.introduce(&params);
                RpcReply::result(id, protocol::initialize_result(&params, &toolbox.instructions()))
            }
            "ping" => RpcReply::result(id, serde_json::json!({})),
            "tools/list" => RpcReply::result(id, serde_json::json!({ "tools": schema::tools() })),
            "tools/call" => call_tool(id, &params, toolbox, *takes_structure),
            // Newer clients probe for methods added later and expect a quick refusal.
            _ => RpcReply::error(id, protocol::NO_SUCH_METHOD, &format!("no such method: {method}")),
        }),
    }
}

fn call_tool(id: Value, params: &Value, toolbox: &mut impl Toolbox, takes_structure: bool) -> RpcReply {
    let Some(name) = params.get("name").and_then(Value::as_str) else {
        return RpcReply::error(id, protocol::BAD_PARAMS, "tools/call requires a tool name");
    };
    if !schema::NAMES.contains(&name) {
        let known = schema::NAMES.join(", ");
        return RpcReply::error(
            id,
            protocol::BAD_PARAMS,
            &format!("unknown tool: {name}; known tools: {known}"),
        );
    }
    let none = Value::Object(serde_json::Map::new());
    let arguments = params.get("arguments").filter(|value| !value.is_null()).unwrap_or(&none);
    if !arguments.is_object() {
        return RpcReply::error(id, protocol::BAD_PARAMS, "arguments must be an object");
    }
    toolbox.begin_call(params);
    match toolbox.call(name, arguments) {
        Ok(said) => RpcReply::result(id, said.to_json(false, takes_structure)),
        Err(why) => RpcReply::result(id, tools::ToolOutput::text(why).to_json(true, takes_structure)),
    }
}

#[cfg(test)]
#[path = "mcp_tests.rs"]
mod tests;
