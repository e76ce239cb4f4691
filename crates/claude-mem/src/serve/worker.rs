//! What the parts of a running worker share.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::sync::broadcast;

use super::drain::{Compressor, Drain, Watcher};
use super::http::Keys;
use super::index;
use super::pidfile::WorkerFile;
use super::presence::Presence;
use super::shared::SharedStore;
use super::socket::Report;
use super::warm::Warm;
use super::witness::Witness;
use super::work::{Left, Work};
use crate::clock::{self, Millis};
use crate::config::Settings;
use crate::log::{Level, Log};
use crate::store::{Head, ReadySession, StoreError};

/// A running worker.
#[derive(Debug)]
pub struct Worker {
    pub store: Arc<SharedStore>,
    pub drain: Drain,
    pub presence: Arc<Presence>,
    /// Rung when there are rows to make vectors of.
    pub index: Arc<index::Bell>,
    /// For everyone who looks something up.
    pub warm: Warm,
    pub settings: Settings,
    /// Rows as they are stored, for those who look on.
    pub changes: broadcast::Sender<Left>,
    pub file: Mutex<WorkerFile>,
    /// Who may use the HTTP API.
    pub keys: Keys,
    pub log: Log,
    /// Rung by every request: time to look whether the worker should go on.
    pub nudge: tokio::sync::Notify,
    compressor: Arc<dyn Compressor>,
    witness: Arc<Witness>,
}

/// Changes that a slow viewer may fall behind before it has to look for itself.
const CHANGES_MAX: usize = 256;

impl Worker {
    pub fn start(
        store: Arc<SharedStore>,
        compressor: Arc<dyn Compressor>,
        settings: Settings,
        file: WorkerFile,
        home: String,
        log: Log,
    ) -> std::io::Result<Arc<Self>> {
        let presence = Arc::new(Presence::new(Instant::now()));
        let (changes, _) = broadcast::channel(CHANGES_MAX);
        let index = Arc::new(index::Bell::default());
        let witness = Arc::new(Witness::new(Arc::clone(&store), home));
        let watcher = Arc::new(Noted {
            presence: Arc::clone(&presence),
            index: Arc::clone(&index),
            changes: changes.clone(),
            witness: Arc::clone(&witness),
            log: log.clone(),
        });
        let drain = Drain::start(
            Arc::clone(&store),
            Arc::clone(&compressor),
            watcher,
            settings.parallel_sessions as usize,
        )?;
        let warm = Warm::new(store.dir().clone(), settings.vectors);
        Ok(Arc::new(Self {
            keys: Keys::new(store.dir().token()),
            store,
            warm,
            drain,
            presence,
            index,
            settings,
            changes,
            file: Mutex::new(file),
            log,
            nudge: tokio::sync::Notify::new(),
            compressor,
            witness,
        }))
    }

    /// Everything that waits, also in the spool, becomes memories, and those are indexed. False
    /// if nobody waited for it any more.
    pub fn drain_all(&self, is_over: impl Fn() -> bool) -> Result<bool, StoreError> {
        if !self.drain.flush(&is_over)? {
            return Ok(false);
        }
        Ok(!self.settings.vectors || index::catch_up(&self.store, &self.index, &is_over)?)
    }

    /// What the transcripts of sessions say of which nothing was heard since.
    pub fn hear_silent(&self, since: Millis) {
        match self.witness.hear_silent(since) {
            Ok(silent) => {
                for error in &silent.unheard {
                    self.trouble("a transcript could not be heard", error);
                }
                if silent.told > 0 {
                    self.drain.ring();
                }
            }
            Err(error) => self.trouble("silent sessions could not be heard", &error),
        }
    }

    pub fn report(&self) -> Report {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        Report {
            pid: file.pid,
            version: file.version.clone(),
            since: file.since,
            port: file.port,
            trouble: self.compressor.trouble(clock::now().millis()),
        }
    }

    /// A link that opens the viewer once. `None`: it is not served.
    pub fn link(&self) -> std::io::Result<Option<String>> {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(port) = file.port else {
            return Ok(None);
        };
        let secret = self.keys.link(Instant::now())?;
        Ok(Some(format!("http://127.0.0.1:{port}/#k={secret}")))
    }

    pub fn trouble(&self, what: &'static str, error: &dyn std::fmt::Display) {
        self.say(Level::Warn, what, &[("error", error)]);
    }

    pub fn say(
        &self,
        level: Level,
        what: &'static str,
        values: &[(&'static str, &dyn std::fmt::Display)],
    ) {
        self.log.line(clock::now().millis(), level, what, values);
    }
}

/// Passes on what the drain does.
#[derive(Debug)]
struct Noted {
    presence: Arc<Presence>,
    index: Arc<index::Bell>,
    changes: broadcast::Sender<Left>,
    witness: Arc<Witness>,
    log: Log,
}

impl Watcher for Noted {
    fn stored(&self, work: &Work, left: &Left) {
        self.presence.touch(Instant::now());
        self.index.ring();
        // Nobody may be looking on.
        let _ = self.changes.send(left.clone());
        self.log.line(
            clock::now().millis(),
            Level::Info,
            "episode stored",
            &[
                ("session", &work.session),
                ("events", &left.events),
                ("observations", &left.observations.len()),
            ],
        );
    }

    fn trouble(&self, what: &'static str, error: &dyn std::fmt::Display) {
        let now = clock::now().millis();
        self.log.line(now, Level::Warn, what, &[("error", error)]);
    }

    fn before_take(&self, ready: &ReadySession, heads: &[Head]) {
        match self.witness.hear(ready, heads) {
            Ok(heard) => {
                for error in &heard.unheard {
                    self.trouble("a transcript could not be heard", error);
                }
                if heard.told > 0 {
                    let (now, what) = (clock::now().millis(), "transcripts told more");
                    let events = heard.told;
                    self.log
                        .line(now, Level::Info, what, &[("events", &events)]);
                }
            }
            Err(error) => self.trouble("a transcript could not be heard", &error),
        }
    }
}
