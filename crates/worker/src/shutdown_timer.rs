//! [`ShutdownTimer`] ends a process whose graceful shutdown takes too long.

use std::sync::mpsc;
use std::time::Duration;

/// Exits the process unless it is dropped in time.
pub(crate) struct ShutdownTimer {
    _in_time: Option<mpsc::Sender<()>>,
}

impl ShutdownTimer {
    pub(crate) fn after(time: Duration) -> Self {
        let (in_time, waits) = mpsc::channel();
        let force = move || {
            if waits.recv_timeout(time) == Err(mpsc::RecvTimeoutError::Timeout) {
                std::process::exit(1);
            }
        };
        let started = std::thread::Builder::new().name("end".into()).spawn(force);
        Self { _in_time: started.is_ok().then_some(in_time) }
    }
}
