//! A body that is written to while it is sent.
//!
//! axum makes bodies out of streams, which are a trait of a crate that nothing else here needs.
//! The one body that it makes without is that of a request: so this is a request inside the
//! process, over a pipe in memory, whose body is handed out. It keeps the reader's pace, and the
//! pipe's other end closes when the reader is gone.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::serve::Listener;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// What may be under way between the writer and the reader.
const BUFFER_BYTES: usize = 16 << 10;
const HEAD: &[u8] = b"POST / HTTP/1.1\r\nhost: pipe\r\ntransfer-encoding: chunked\r\n\r\n";

/// The end that is written to. The body breaks off when it is dropped.
#[derive(Debug)]
pub(super) struct Writer {
    to: WriteHalf<DuplexStream>,
    serving: JoinHandle<io::Result<()>>,
}

/// Ends when the reader is gone.
#[derive(Debug)]
pub(super) struct Gone(ReadHalf<DuplexStream>);

pub(super) async fn open() -> io::Result<(Writer, Gone, Body)> {
    let (near, far) = tokio::io::duplex(BUFFER_BYTES);
    let (give, given) = oneshot::channel();
    let give = Arc::new(Mutex::new(Some(give)));
    let hand_out = move |request: Request| {
        let mut give = give.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(give) = give.take() {
            // Whoever opened it may have gone meanwhile.
            let _ = give.send(request.into_body());
        }
        std::future::ready(())
    };
    let serving = axum::serve(Once(Some(far)), Router::new().fallback(hand_out));
    let serving = tokio::spawn(async move { serving.await });
    let (from, to) = tokio::io::split(near);
    let mut writer = Writer { to, serving };
    writer.to.write_all(HEAD).await?;
    let body = given.await.map_err(io::Error::other)?;
    Ok((writer, Gone(from), body))
}

impl Writer {
    /// Returns when it is on its way, which a slow reader may put off.
    pub(super) async fn send(&mut self, text: &str) -> io::Result<()> {
        let chunk = format!("{:x}\r\n{text}\r\n", text.len());
        self.to.write_all(chunk.as_bytes()).await?;
        self.to.flush().await
    }

    /// The body is complete.
    pub(super) async fn end(mut self) -> io::Result<()> {
        self.to.write_all(b"0\r\n\r\n").await?;
        self.to.flush().await
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Gone {
    pub(super) async fn wait(&mut self) {
        let mut answer = [0; 512];
        while matches!(self.0.read(&mut answer).await, Ok(read) if read > 0) {}
    }
}

/// Takes in one connection, the pipe.
struct Once(Option<DuplexStream>);

impl Listener for Once {
    type Io = DuplexStream;
    type Addr = ();

    async fn accept(&mut self) -> (DuplexStream, ()) {
        match self.0.take() {
            Some(pipe) => (pipe, ()),
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run<T>(test: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(test)
    }

    #[test]
    fn what_is_written_is_read_to_its_end() {
        run(async {
            let (mut writer, _gone, body) = open().await.unwrap();
            let reading = tokio::spawn(axum::body::to_bytes(body, usize::MAX));
            let long = "x".repeat(3 * BUFFER_BYTES);
            writer.send("one ").await.unwrap();
            writer.send(&long).await.unwrap();
            writer.send(" zwei ü").await.unwrap();
            writer.end().await.unwrap();
            let read = reading.await.unwrap().unwrap();
            assert_eq!(read, format!("one {long} zwei ü"));
        });
    }

    #[test]
    fn a_reader_that_goes_away_is_noticed_without_writing() {
        run(async {
            let (mut writer, mut gone, body) = open().await.unwrap();
            writer.send("hello").await.unwrap();
            drop(body);
            gone.wait().await;
        });
    }

    #[test]
    fn a_reader_that_does_not_read_holds_up_the_writer_alone() {
        run(async {
            let (mut writer, _gone, body) = open().await.unwrap();
            let chunk = "x".repeat(BUFFER_BYTES);
            let mut sent = 0;
            let stuck = loop {
                let patience = std::time::Duration::from_millis(200);
                match tokio::time::timeout(patience, writer.send(&chunk)).await {
                    Ok(done) => done.unwrap(),
                    Err(_) => break true,
                }
                sent += 1;
                assert!(sent < 1_000, "it swallows without end");
            };
            assert!(stuck);
            drop(body);
        });
    }
}
