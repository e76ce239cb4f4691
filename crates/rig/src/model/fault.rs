//! Faults of a model server ([`ResponseFault`]) and how they are sent.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};

use super::gate::TestGate;
use super::http::HttpReply;

/// A fault of one response. The rest of the turn stays as scripted.
#[derive(Clone, Debug)]
pub enum ResponseFault {
    /// An error status with the usual error body of the API.
    Status(u16),
    /// Sends nothing; closes the connection once the gate opens.
    Hold(TestGate),
    /// Closes the connection after this many bytes of the response, head included.
    CutAt(usize),
    /// Stops after this many bytes; sends the rest once the gate opens.
    StallAt(usize, TestGate),
    /// The right body with this wrong content type.
    ContentType(String),
    /// This text instead of the body, with the right content type.
    Body(String),
    /// This status with this text as the body, with the right content type.
    Answer(u16, String),
    /// Status 200 and an empty body.
    Empty,
    /// A body that never ends, sent as fast as it is read.
    Endless,
}

/// Whether the connection can serve another request.
pub(crate) enum ConnectionReuse {
    KeepOpen,
    Close,
}

/// Sends the reply, modified by the fault.
pub(crate) fn send(
    mut reply: HttpReply,
    fault: Option<&ResponseFault>,
    stream: &mut TcpStream,
    wait: &dyn Fn(&TestGate),
) -> io::Result<ConnectionReuse> {
    match fault {
        None | Some(ResponseFault::Status(_)) => {}
        Some(ResponseFault::ContentType(wrong)) => reply.content_type.clone_from(wrong),
        Some(ResponseFault::Body(text)) => reply.set_body(text.clone().into_bytes()),
        Some(ResponseFault::Answer(status, text)) => {
            reply.status = *status;
            reply.set_body(text.clone().into_bytes());
        }
        Some(ResponseFault::Empty) => reply.set_body(Vec::new()),
        Some(ResponseFault::Hold(gate)) => {
            wait(gate);
            return hang_up(stream);
        }
        Some(ResponseFault::CutAt(bytes)) => {
            let wire = reply.to_bytes();
            stream.write_all(&wire[..wire.len().min(*bytes)])?;
            return hang_up(stream);
        }
        Some(ResponseFault::StallAt(bytes, gate)) => {
            let wire = reply.to_bytes();
            let (first, rest) = wire.split_at(wire.len().min(*bytes));
            stream.write_all(first)?;
            wait(gate);
            stream.write_all(rest)?;
            return Ok(ConnectionReuse::KeepOpen);
        }
        Some(ResponseFault::Endless) => return send_endless_body(&reply, stream),
    }
    stream.write_all(&reply.to_bytes())?;
    Ok(ConnectionReuse::KeepOpen)
}

fn hang_up(stream: &TcpStream) -> io::Result<ConnectionReuse> {
    stream.shutdown(Shutdown::Both)?;
    Ok(ConnectionReuse::Close)
}

/// Ends only when the reader closes the connection or the model is dropped.
fn send_endless_body(reply: &HttpReply, stream: &mut TcpStream) -> io::Result<ConnectionReuse> {
    stream.write_all(&reply.head_of_stream())?;
    let mut chunk = format!("{ENDLESS_CHUNK_BYTES:x}\r\n").into_bytes();
    chunk.resize(chunk.len() + ENDLESS_CHUNK_BYTES, b'a');
    chunk.extend_from_slice(b"\r\n");
    loop {
        stream.write_all(&chunk)?;
    }
}

const ENDLESS_CHUNK_BYTES: usize = 16 << 10;
