//! Minimal HTTP/1.1 for API clients: keep-alive, content lengths and chunked bodies.

use std::io::{self, BufRead, Read, Write};

/// A request as read from the socket.
pub(crate) struct IncomingRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Header names are in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl IncomingRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn wants_close(&self) -> bool {
        self.header("connection").is_some_and(|c| c.eq_ignore_ascii_case("close"))
    }
}

/// Reads one request. `None` means that the client closed the connection between requests.
pub(crate) fn read_request(reader: &mut impl BufRead) -> io::Result<Option<IncomingRequest>> {
    let first = read_line(reader)?;
    if first.is_empty() {
        return Ok(None);
    }
    let mut words = first.split_whitespace();
    let method = words.next().unwrap_or_default().to_owned();
    let path = words.next().unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        let line = read_line(reader)?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').ok_or(io::ErrorKind::InvalidData)?;
        headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut incoming = IncomingRequest { method, path, headers, body: Vec::new() };
    incoming.body = match incoming.header("content-length") {
        Some(length) => read_exact_bytes(reader, length.parse().map_err(|_| io::ErrorKind::InvalidData)?)?,
        None if incoming.header("transfer-encoding").is_some() => read_chunked_body(reader)?,
        None => Vec::new(),
    };
    Ok(Some(incoming))
}

fn read_line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    line.truncate(line.trim_end().len());
    Ok(line)
}

fn read_exact_bytes(reader: &mut impl Read, bytes: usize) -> io::Result<Vec<u8>> {
    let mut body = vec![0; bytes];
    reader.read_exact(&mut body)?;
    Ok(body)
}

fn read_chunked_body(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let head = read_line(reader)?;
        let size = head.split(';').next().unwrap_or_default();
        let size = usize::from_str_radix(size, 16).map_err(|_| io::ErrorKind::InvalidData)?;
        body.extend(read_exact_bytes(reader, size)?);
        read_line(reader)?;
        if size == 0 {
            return Ok(body);
        }
    }
}

/// A response, complete before its first byte is sent, so that a fault can cut it anywhere.
pub(crate) struct HttpReply {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) headers: Vec<(String, String)>,
    body: ReplyBody,
}

enum ReplyBody {
    Whole(Vec<u8>),
    /// One chunk per server-sent event.
    Events(Vec<Vec<u8>>),
}

impl HttpReply {
    pub(crate) fn json(status: u16, value: &serde_json::Value) -> Self {
        let body = ReplyBody::Whole(value.to_string().into_bytes());
        Self { status, content_type: "application/json".to_owned(), headers: Vec::new(), body }
    }

    pub(crate) fn events(events: impl IntoIterator<Item = String>) -> Self {
        Self {
            status: 200,
            content_type: "text/event-stream; charset=utf-8".to_owned(),
            headers: Vec::new(),
            body: ReplyBody::Events(events.into_iter().map(String::into_bytes).collect()),
        }
    }

    /// The answer to HEAD: a head without a body.
    pub(crate) fn without_body() -> Self {
        Self {
            status: 200,
            content_type: "application/json".to_owned(),
            headers: Vec::new(),
            body: ReplyBody::Whole(Vec::new()),
        }
    }

    pub(crate) fn set_body(&mut self, bytes: Vec<u8>) {
        self.body = ReplyBody::Whole(bytes);
    }

    /// The whole response as sent on the wire.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        match &self.body {
            ReplyBody::Whole(bytes) => {
                let mut wire = self.head(&format!("content-length: {}", bytes.len()));
                wire.extend_from_slice(bytes);
                wire
            }
            ReplyBody::Events(events) => {
                let mut wire = self.head_of_stream();
                for event in events {
                    // Writing to a vector cannot fail.
                    let _ = write!(wire, "{:x}\r\n", event.len());
                    wire.extend_from_slice(event);
                    wire.extend_from_slice(b"\r\n");
                }
                wire.extend_from_slice(b"0\r\n\r\n");
                wire
            }
        }
    }

    pub(crate) fn head_of_stream(&self) -> Vec<u8> {
        self.head("transfer-encoding: chunked")
    }

    fn head(&self, framing: &str) -> Vec<u8> {
        use std::fmt::Write as _;
        let mut head = format!("HTTP/1.1 {} Scripted\r\n", self.status);
        let _ = write!(head, "content-type: {}\r\n{framing}\r\n", self.content_type);
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        head.push_str("\r\n");
        head.into_bytes()
    }
}
