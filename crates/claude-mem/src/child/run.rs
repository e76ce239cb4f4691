//! Running a program to its end, or to a deadline.

use std::io::{self, Read, Write as _};
use std::process::ExitStatus;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::{Order, Spawner};

/// What a program did before it ended.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// Runs it with this input. One that takes too long is killed, and an error of kind `TimedOut`.
pub fn run(spawner: &Spawner, order: Order, input: &[u8], within: Duration) -> io::Result<Ended> {
    let until = Instant::now() + within;
    let mut child = spawner.spawn(order)?;
    if let Some(mut stdin) = child.take_stdin() {
        let input = input.to_vec();
        // A program may well end without reading all of its input.
        std::thread::spawn(move || drop(stdin.write_all(&input)));
    }
    let stdout = collect(child.take_stdout());
    let stderr = collect(child.take_stderr());
    let late = || io::Error::from(io::ErrorKind::TimedOut);
    let status = child.wait(within)?.ok_or_else(late)?;
    // A child of its own may hold the pipes open: what was said by then is enough.
    let left = || until.saturating_duration_since(Instant::now());
    Ok(Ended {
        status,
        stdout: stdout.recv_timeout(left()).map_err(|_| late())?,
        stderr: stderr.recv_timeout(left()).map_err(|_| late())?,
    })
}

fn collect(stream: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (whole, told) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // What came before an error is all there is.
            let _ = stream.read_to_end(&mut bytes);
        }
        // Nobody waits any more: the deadline has passed.
        let _ = whole.send(bytes);
    });
    told
}
