//! The ways in which a model server goes wrong.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};

use super::gate::Gate;
use super::http::Reply;

/// What goes wrong with one answer. Everything else about the turn still holds.
#[derive(Clone, Debug)]
pub enum Fault {
    /// An error status with the API's usual error body.
    Status(u16),
    /// No byte is sent; once the gate opens the connection is closed.
    Hold(Gate),
    /// The connection is closed after this many bytes of the response, head included.
    CutAt(usize),
    /// The response stops after this many bytes; once the gate opens the rest follows.
    StallAt(usize, Gate),
    /// The right body under the wrong content type.
    ContentType(String),
    /// This text instead of the body, under the right content type.
    Body(String),
    /// This status with this text as the body, under the right content type.
    Answer(u16, String),
    /// Status 200 and a body of no bytes.
    Empty,
    /// A body that never ends; it is sent as fast as it is read.
    Endless,
}

/// Whether the connection can take another request.
pub(crate) enum After {
    KeepOpen,
    Close,
}

/// Sends the reply as the fault would have it.
pub(crate) fn send(
    mut reply: Reply,
    fault: Option<&Fault>,
    stream: &mut TcpStream,
    wait: &dyn Fn(&Gate),
) -> io::Result<After> {
    match fault {
        None | Some(Fault::Status(_)) => {}
        Some(Fault::ContentType(wrong)) => reply.content_type.clone_from(wrong),
        Some(Fault::Body(text)) => reply.set_body(text.clone().into_bytes()),
        Some(Fault::Answer(status, text)) => {
            reply.status = *status;
            reply.set_body(text.clone().into_bytes());
        }
        Some(Fault::Empty) => reply.set_body(Vec::new()),
        Some(Fault::Hold(gate)) => {
            wait(gate);
            return hang_up(stream);
        }
        Some(Fault::CutAt(bytes)) => {
            let wire = reply.wire();
            stream.write_all(&wire[..wire.len().min(*bytes)])?;
            return hang_up(stream);
        }
        Some(Fault::StallAt(bytes, gate)) => {
            let wire = reply.wire();
            let (first, rest) = wire.split_at(wire.len().min(*bytes));
            stream.write_all(first)?;
            wait(gate);
            stream.write_all(rest)?;
            return Ok(After::KeepOpen);
        }
        Some(Fault::Endless) => return endless(&reply, stream),
    }
    stream.write_all(&reply.wire())?;
    Ok(After::KeepOpen)
}

fn hang_up(stream: &TcpStream) -> io::Result<After> {
    stream.shutdown(Shutdown::Both)?;
    Ok(After::Close)
}

/// Ends only with the reader: when it hangs up, or when the model is dropped.
fn endless(reply: &Reply, stream: &mut TcpStream) -> io::Result<After> {
    stream.write_all(&reply.head_of_stream())?;
    let mut chunk = format!("{ENDLESS_CHUNK_BYTES:x}\r\n").into_bytes();
    chunk.resize(chunk.len() + ENDLESS_CHUNK_BYTES, b'a');
    chunk.extend_from_slice(b"\r\n");
    loop {
        stream.write_all(&chunk)?;
    }
}

const ENDLESS_CHUNK_BYTES: usize = 16 << 10;
