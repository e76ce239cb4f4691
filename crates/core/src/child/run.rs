//! Runs a program until it exits, or until a deadline.

use std::io::{self, Read, Write as _};
use std::process::ExitStatus;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::{ChildSpawner, SpawnRequest};

/// The exit status and output of a program.
#[derive(Debug)]
pub struct ChildOutput {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// Runs a program with this input. After the deadline it is killed and the error is `TimedOut`.
pub fn run(
    spawner: &ChildSpawner,
    order: SpawnRequest,
    input: &[u8],
    within: Duration,
) -> io::Result<ChildOutput> {
    let until = Instant::now() + within;
    let mut child = spawner.spawn(order)?;
    if let Some(mut stdin) = child.take_stdin() {
        let input = input.to_vec();
        // A program may exit without reading all of its input.
        std::thread::spawn(move || drop(stdin.write_all(&input)));
    }
    let stdout = read_in_background(child.take_stdout());
    let stderr = read_in_background(child.take_stderr());
    let late = || io::Error::from(io::ErrorKind::TimedOut);
    let status = child.wait(within)?.ok_or_else(late)?;
    // A grandchild may hold the pipes open: wait for them only until the deadline.
    let left = || until.saturating_duration_since(Instant::now());
    Ok(ChildOutput {
        status,
        stdout: stdout.recv_timeout(left()).map_err(|_| late())?,
        stderr: stderr.recv_timeout(left()).map_err(|_| late())?,
    })
}

fn read_in_background(stream: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (whole, told) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // Keep what was read before an error.
            let _ = stream.read_to_end(&mut bytes);
        }
        // After the deadline the receiver is gone.
        let _ = whole.send(bytes);
    });
    told
}
