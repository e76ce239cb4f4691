//! The team thread: keeps this machine and the team's server in step while the worker runs.
//!
//! One thread does rounds: after a change here, after a change there, and now and then. A second one
//! ([`TeamWaiter`]) waits at the server in a long poll, so that the first is free to send. Without a team both cost
//! nothing but a look for `team.json` every few seconds.
//!
//! Invariant: no other thread of the worker waits for the network.

use std::cell::Cell;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use crate::team_pause::{PAUSE_MAX, PAUSE_MIN, pause_after, pause_left};
use crate::team_signal::TeamSignal;
use crate::team_waiter::TeamWaiter;
use crate::worker::WorkerContext;
use claude_mem_core::clock;
use claude_mem_core::ids::SpaceRowId;
use claude_mem_core::log::LogLevel;
use claude_mem_ingest::shared_store::SharedStore;
use claude_mem_sharing::{
    ShareRules, SharingError, StoreAccess, SyncEngine, SyncOptions, SyncReport, TeamFile, TeamHttpClient,
    health_after_error, health_after_round, load_team, purge_team,
};
use claude_mem_store::{ChangeCursor, SpaceMode, Store, StoreError};
use claude_mem_wire::limits::WAIT_SECONDS_MAX;
use claude_mem_wire::messages::WaitRequest;

/// How often the thread looks for a team that was joined, and for changes by other processes.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);
const CHANGE_INTERVAL: Duration = Duration::from_secs(1);
/// The longest time between two rounds.
const ROUND_INTERVAL: Duration = Duration::from_mins(1);
/// While the server is away, something that is stored here starts a round after this time at the latest: the user is
/// at work, perhaps with a network again.
const ACTIVE_PAUSE_MAX: Duration = Duration::from_secs(10);

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
        let waiter = TeamWaiter::new(Arc::clone(&signal));
        waiter.replace()?;
        std::thread::Builder::new().name("team".into()).spawn(move || {
            let thread = RoundThread { worker, home, waiter, has_synchronised: Cell::new(false) };
            thread.run();
            drop(until_end);
        })?;
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
pub(crate) struct WorkerStore<'a>(pub(crate) &'a SharedStore);

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
    waiter: TeamWaiter,
    /// A round of this process has succeeded.
    has_synchronised: Cell<bool>,
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
            let begun = Instant::now();
            let outcome = self.round(&team);
            // What was taken back must not stay in the write-ahead log, also after a round that failed later or was
            // killed.
            if let Err(error) = self.worker.store.with(Store::clear_deleted_from_log) {
                self.worker.warn("failed to checkpoint the write-ahead log", &error);
            }
            match outcome {
                Ok(report) => {
                    if away_since.take().is_some()
                        && let Err(error) = self.waiter.replace()
                    {
                        self.worker.warn("failed to start a thread that waits for news", &error);
                    }
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
                    let pause = asked.unwrap_or_else(|| pause_left(pause_after(outage), begun.elapsed()));
                    let pause = pause.min(PAUSE_MAX);
                    self.sleep_through(pause, asked.is_some(), seen);
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
            is_first: !self.has_synchronised.get(),
            now,
            ..SyncOptions::default()
        };
        let access = WorkerStore(&self.worker.store);
        let server = TeamHttpClient::connect(team)?;
        let report = SyncEngine { access: &access, server: &server }.round(&options)?;
        self.has_synchronised.set(true);
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

    /// Sleeps while the server is away. Rows that are stored meanwhile shorten a long pause, unless the server asked
    /// for it.
    fn sleep_through(&self, pause: Duration, is_asked_for: bool, seen: Option<LocalState>) {
        let begun = Instant::now();
        let signal = &self.worker.team_signal;
        while begun.elapsed() < pause && !signal.is_stopping() {
            signal.wait(pause.saturating_sub(begun.elapsed()).min(CHANGE_INTERVAL));
            self.worker.idle.touch(Instant::now());
            let may_end = !is_asked_for && begun.elapsed() >= ACTIVE_PAUSE_MAX;
            if may_end && self.local_state() != seen {
                return;
            }
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
