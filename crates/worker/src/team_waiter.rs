//! [`TeamWaiter`]: waits at the team's server in long polls, so that the team thread is free to send.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use crate::team_pause::pause_after;
use crate::team_signal::TeamSignal;
use claude_mem_core::sync::lock;
use claude_mem_sharing::{SharingError, TeamFile, TeamHttpClient, TeamServer as _};
use claude_mem_wire::messages::{WaitReply, WaitRequest};

/// Waiters at a time, the abandoned ones included. An abandoned one ends with its poll, after 35 seconds at most.
const WAITERS_MAX: u32 = 4;

/// One long poll at the server of the team.
type LongPoll = dyn Fn(&TeamFile, &WaitRequest) -> Result<WaitReply, SharingError> + Send + Sync;

/// Starts and replaces the thread that waits.
pub(crate) struct TeamWaiter {
    signal: Arc<TeamSignal>,
    poll: Arc<LongPoll>,
}

impl TeamWaiter {
    pub(crate) fn new(signal: Arc<TeamSignal>) -> Self {
        let poll = |team: &TeamFile, request: &WaitRequest| TeamHttpClient::connect(team)?.wait(request);
        Self { signal, poll: Arc::new(poll) }
    }

    /// Starts a thread and abandons the one before it. After an outage the old one may wait for an answer on a
    /// connection that nobody has any more, and would miss all news meanwhile.
    pub(crate) fn replace(&self) -> std::io::Result<()> {
        let Some(generation) = self.signal.begin_waiter(WAITERS_MAX) else { return Ok(()) };
        let (signal, poll) = (Arc::clone(&self.signal), Arc::clone(&self.poll));
        let started = std::thread::Builder::new().name("team-wait".into()).spawn(move || {
            run_waiter(&signal, generation, &*poll);
            signal.end_waiter();
        });
        if started.is_err() {
            self.signal.end_waiter();
        }
        started.map(drop)
    }
}

/// Waits for news, one long poll after the other, until a later waiter takes over.
fn run_waiter(signal: &TeamSignal, generation: u64, poll: &LongPoll) {
    let mut done = 0;
    let mut failing_since = None;
    loop {
        let state = lock(&signal.state);
        let is_over = |stopping: bool, current: u64| stopping || current != generation;
        let state = signal
            .changed
            .wait_while(state, |state| {
                !is_over(state.stopping, state.waiter_generation)
                    && (state.wait.is_none() || state.turn == done)
            })
            .unwrap_or_else(PoisonError::into_inner);
        if is_over(state.stopping, state.waiter_generation) {
            return;
        }
        let (wait, turn) = (state.wait.clone(), state.turn);
        drop(state);
        let Some((team, request)) = wait else { continue };
        let reply = poll(&team, &request);
        if lock(&signal.state).waiter_generation != generation {
            return;
        }
        match reply {
            Ok(reply) if reply.changed.is_empty() => failing_since = None,
            // The connection was cut, or the server is away: a round finds out, so that news are not missed until the
            // next one. Not at once: something in between may cut every long poll.
            Err(error) if error.is_transient() => {
                done = turn;
                let outage = failing_since.get_or_insert_with(Instant::now).elapsed();
                signal.pause(pause_after(outage));
                signal.notify();
            }
            // A round takes the news, or finds out what is wrong, for example that this machine was removed.
            Ok(_) | Err(_) => {
                done = turn;
                failing_since = None;
                signal.notify();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::{self, Receiver};
    use std::time::Duration;

    use super::*;
    use claude_mem_wire::DeviceToken;

    fn news() -> WaitReply {
        let id = "01890000-0000-7000-8000-000000000001";
        serde_json::from_value(serde_json::json!({
            "changed": { id: { "head": 1, "live": 1, "digest": "0000000000000001" } }, "generation": id, "now": 0,
        }))
        .unwrap()
    }

    fn team() -> TeamFile {
        let token = DeviceToken::from_random([7; 32]).reveal();
        claude_mem_sharing::team_from_link(&format!("http://127.0.0.1:1/#t.{token}")).unwrap()
    }

    /// A waiter whose polls are announced and answered by the test.
    fn waiter_with_polls() -> (TeamWaiter, Receiver<mpsc::Sender<WaitReply>>) {
        let (announce, polls) = mpsc::channel();
        let announce = Mutex::new(announce);
        let poll = move |_: &TeamFile, _: &WaitRequest| {
            let (answer, answered) = mpsc::channel();
            lock(&announce).send(answer).unwrap();
            answered.recv().map_err(|_| SharingError::Revoked)
        };
        let signal = Arc::new(TeamSignal::default());
        signal.update(|state| {
            state.wait = Some((team(), WaitRequest::default()));
            state.turn = 1;
        });
        (TeamWaiter { signal, poll: Arc::new(poll) }, polls)
    }

    #[test]
    fn poll_that_hangs_is_abandoned_after_an_outage() {
        let (waiter, polls) = waiter_with_polls();
        waiter.replace().unwrap();
        let hanging = polls.recv().unwrap();
        waiter.replace().unwrap();
        let second = polls.recv().unwrap();
        second.send(news()).unwrap();
        while !waiter.signal.wait(Duration::from_millis(10)) {}
        // The abandoned poll ends at last, and says nothing: its news are old.
        hanging.send(news()).unwrap();
        while lock(&waiter.signal.state).waiters > 1 {
            std::thread::yield_now();
        }
        assert!(!waiter.signal.wait(Duration::ZERO));
    }

    #[test]
    fn number_of_waiters_is_bounded() {
        let (waiter, polls) = waiter_with_polls();
        let mut hanging = Vec::new();
        for _ in 0..WAITERS_MAX {
            waiter.replace().unwrap();
            hanging.push(polls.recv().unwrap());
        }
        waiter.replace().unwrap();
        assert_eq!(lock(&waiter.signal.state).waiters, WAITERS_MAX);
        assert!(polls.try_recv().is_err());
    }
}
