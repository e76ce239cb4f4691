//! The team thread: keeps this machine and the team's server in step while the worker runs.
//!
//! One thread does rounds: after a change here, after a change there, and now and then. A second one waits at
//! the server in a long poll, so that the first is free to send. Without a team both cost nothing but a look
//! for `team.json` every few seconds.
//!
//! Invariant: no other thread of the worker waits for the network.

use std::sync::{Arc, PoisonError, mpsc};
use std::time::{Duration, Instant};

use crate::team_signal::TeamSignal;
use crate::worker::WorkerContext;
use claude_mem_core::clock;
use claude_mem_core::ids::SpaceRowId;
use claude_mem_core::log::LogLevel;
use claude_mem_core::sync::lock;
use claude_mem_ingest::shared_store::SharedStore;
use claude_mem_sharing::{
    ShareRules, SharingError, StoreAccess, SyncEngine, SyncOptions, SyncReport, TeamFile, TeamHttpClient,
    TeamServer, health_after_error, health_after_round, load_team, purge_team,
};
use claude_mem_store::{ChangeCursor, SpaceMode, Store, StoreError};
use claude_mem_wire::limits::WAIT_SECONDS_MAX;
use claude_mem_wire::messages::WaitRequest;

/// How often the thread looks for a team that was joined, and for changes by other processes.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);
const CHANGE_INTERVAL: Duration = Duration::from_secs(1);
/// The longest time between two rounds.
const ROUND_INTERVAL: Duration = Duration::from_mins(1);
/// After an error: the shortest pause and the longest.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_mins(5);
/// After an outage the server is contacted again within this fraction of the outage.
const OUTAGE_PARTS: u32 = 8;

/// Handle to the team thread.
#[derive(Debug)]
pub(crate) struct TeamThread {
    signal: Arc<TeamSignal>,
    /// Disconnected when the thread has ended.
    ended: mpsc::Receiver<()>,
}

impl TeamThread {
    /// Starts the threads. `home` replaces `~` in patterns.
    pub(crate) fn start(worker: Arc<WorkerContext>, home: String) -> std::io::Result<Self> {
        let signal = Arc::clone(&worker.team_signal);
        let (until_end, ended) = mpsc::channel();
        std::thread::Builder::new().name("team".into()).spawn(move || {
            let thread = RoundThread { worker, home };
            thread.run();
            drop(until_end);
        })?;
        let waiting = Arc::clone(&signal);
        std::thread::Builder::new().name("team-wait".into()).spawn(move || run_waiter(&waiting))?;
        Ok(Self { signal, ended })
    }

    /// Asks the threads to stop and waits at most `within`; a request that is under way ends with the process.
    pub(crate) fn stop(self, within: Duration) {
        self.signal.stop();
        // Either the thread has ended or the time is over.
        let _ = self.ended.recv_timeout(within);
    }
}

/// The worker's store as the engine uses it.
struct WorkerStore<'a>(&'a SharedStore);

impl StoreAccess for WorkerStore<'_> {
    fn with_store<T>(&self, act: impl FnOnce(&mut Store) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.0.with(act)
    }
}

/// Local inputs of a sync round. A change starts the next one.
#[derive(PartialEq, Eq)]
struct LocalState {
    cursor: ChangeCursor,
    /// The shared spaces: a command may share a project while the worker runs.
    spaces: Vec<(SpaceRowId, SpaceMode)>,
    /// Spaces with something to send: a command may share or keep a row that waited for the user's word.
    unsent: Vec<bool>,
}

struct RoundThread {
    worker: Arc<WorkerContext>,
    home: String,
}

impl RoundThread {
    fn run(&self) {
        let signal = &self.worker.team_signal;
        let mut away_since = None;
        while !signal.is_stopping() {
            let team = match load_team(self.worker.store.dir()) {
                Ok(Some(team)) => team,
                Ok(None) => {
                    signal.update(|state| state.wait = None);
                    signal.wait(LOOK_INTERVAL);
                    continue;
                }
                Err(error) => {
                    self.note_error(&error);
                    signal.wait(ROUND_INTERVAL);
                    continue;
                }
            };
            // A machine of a team stays reachable for its members' news.
            self.worker.idle.touch(Instant::now());
            // Taken before the round: what is stored while it runs starts the next one.
            let seen = self.local_state();
            let outcome = self.round(&team);
            // What was taken back must not stay in the write-ahead log, also after a round that failed later or was
            // killed.
            if let Err(error) = self.worker.store.with(Store::clear_deleted_from_log) {
                self.worker.warn("failed to checkpoint the write-ahead log", &error);
            }
            match outcome {
                Ok(report) => {
                    away_since = None;
                    self.wait_for_change(&team, &report, seen);
                }
                Err(SharingError::Revoked) => self.leave_team(),
                Err(error) => {
                    self.note_error(&error);
                    let asked = match &error {
                        SharingError::Unreachable { retry_after, .. } => *retry_after,
                        _ => None,
                    };
                    let outage = away_since.get_or_insert_with(Instant::now).elapsed();
                    self.sleep_through(asked.unwrap_or_else(|| pause_after(outage)).min(PAUSE_MAX));
                }
            }
        }
    }

    fn round(&self, team: &TeamFile) -> Result<SyncReport, SharingError> {
        let settings = self.worker.settings.current();
        let now = clock::now().millis();
        let options = SyncOptions {
            rules: ShareRules {
                never: settings.team_never.clone(),
                requests: settings.team_requests,
                home: self.home.clone(),
            },
            recent: None,
            check: false,
            now,
        };
        let access = WorkerStore(&self.worker.store);
        let server = TeamHttpClient::connect(team)?;
        let report = SyncEngine { access: &access, server: &server }.round(&options)?;
        self.worker.store.with(|store| {
            let health = health_after_round(&store.read().team_health_to_replace()?, &report, now);
            store.save_team_health(&health)
        })?;
        if report.received + report.erased > 0 {
            self.worker.index_signal.notify();
        }
        if report.sent + report.received + report.erased + report.mended > 0 {
            let values: [(&'static str, &dyn std::fmt::Display); 4] = [
                ("sent", &report.sent),
                ("received", &report.received),
                ("erased", &report.erased),
                ("mended", &report.mended),
            ];
            self.worker.log_line(LogLevel::Info, "team synchronised", &values);
        }
        Ok(report)
    }

    /// Waits for a change here or there, at most one interval.
    fn wait_for_change(&self, team: &TeamFile, report: &SyncReport, seen: Option<LocalState>) {
        let signal = &self.worker.team_signal;
        let heads = report.heads.iter().copied().collect();
        let request = WaitRequest { heads, seconds: WAIT_SECONDS_MAX };
        signal.update(|state| {
            state.wait = (!report.heads.is_empty()).then(|| (team.clone(), request));
            state.turn += 1;
        });
        if !report.in_step && !report.quota_exceeded && !report.partial {
            // Something is still to be compared or sent.
            signal.wait(PAUSE_MIN);
            return;
        }
        let begun = Instant::now();
        while begun.elapsed() < ROUND_INTERVAL && !signal.is_stopping() {
            if signal.wait(CHANGE_INTERVAL) || self.local_state() != seen {
                return;
            }
            self.worker.idle.touch(Instant::now());
        }
    }

    fn local_state(&self) -> Option<LocalState> {
        let read = |store: &mut Store| {
            let reads = store.read();
            let spaces: Vec<_> = reads.spaces()?.into_iter().map(|space| (space.id, space.mode)).collect();
            let unsent = spaces.iter().map(|(id, _)| reads.has_unsent(*id)).collect::<Result<_, _>>()?;
            Ok(LocalState { cursor: reads.change_cursor()?, spaces, unsent })
        };
        let found = self.worker.store.with(read);
        found.inspect_err(|error| self.worker.warn("failed to look for changes to share", error)).ok()
    }

    /// Sleeps although rows are stored meanwhile: the server is away.
    fn sleep_through(&self, pause: Duration) {
        let begun = Instant::now();
        let signal = &self.worker.team_signal;
        while begun.elapsed() < pause && !signal.is_stopping() {
            signal.wait(pause.saturating_sub(begun.elapsed()).min(CHANGE_INTERVAL));
            self.worker.idle.touch(Instant::now());
        }
    }

    fn note_error(&self, error: &SharingError) {
        let noted = self.worker.store.with(|store| {
            let health = store.read().team_health_to_replace()?;
            let is_news = health.error != error.to_string();
            store.save_team_health(&health_after_error(&health, error, clock::now().millis()))?;
            Ok(is_news)
        });
        match noted {
            Ok(true) => self.worker.warn("team not synchronised", error),
            Ok(false) => {}
            Err(error) => self.worker.warn("failed to store the team's state", &error),
        }
    }

    /// This machine was removed from the team: what others shared goes.
    fn leave_team(&self) {
        self.note_error(&SharingError::Revoked);
        let access = WorkerStore(&self.worker.store);
        if let Err(error) = purge_team(&access, self.worker.store.dir()) {
            self.worker.warn("failed to remove what the team shared", &error);
        }
        self.worker.index_signal.notify();
    }
}

/// The pause before the next attempt, when the server has been away for this long.
fn pause_after(outage: Duration) -> Duration {
    (outage / OUTAGE_PARTS).clamp(PAUSE_MIN, PAUSE_MAX)
}

/// Waits at the server for news, one long poll after the other.
fn run_waiter(signal: &TeamSignal) {
    let mut done = 0;
    let mut failing_since = None;
    loop {
        let state = lock(&signal.state);
        let state = signal
            .changed
            .wait_while(state, |state| !state.stopping && (state.wait.is_none() || state.turn == done))
            .unwrap_or_else(PoisonError::into_inner);
        if state.stopping {
            return;
        }
        let (wait, turn) = (state.wait.clone(), state.turn);
        drop(state);
        let Some((team, request)) = wait else { continue };
        let reply = TeamHttpClient::connect(&team).and_then(|server| server.wait(&request));
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
    use super::*;

    #[test]
    fn pause_grows_with_the_outage() {
        for (outage, want) in [(0, 1), (8, 1), (80, 10), (600, 75), (86_400, 300)] {
            assert_eq!(pause_after(Duration::from_secs(outage)), Duration::from_secs(want), "{outage} s");
        }
    }
}
