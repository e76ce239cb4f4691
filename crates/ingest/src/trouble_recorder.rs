//! [`TroubleRecorder`]: keeps the current [`ModelTrouble`] in the store, where `status`, the viewer and
//! the hooks of a starting session find it, with or without a running worker.

use std::sync::{Arc, Mutex};

use crate::shared_store::SharedStore;
use claude_mem_core::clock::Millis;
use claude_mem_core::log::{LogLevel, LogWriter};
use claude_mem_core::sync::lock;
use claude_mem_models::trouble::{CallTrouble, MODEL_TROUBLE_KEY, ModelTrouble};
use claude_mem_store::StoreError;

/// Learns of failures that concern more than one episode.
pub(crate) trait TroubleSink: Send + Sync {
    /// Notes a failure of `provider`.
    fn record(&self, provider: &str, trouble: &CallTrouble, now: Millis);
    /// Notes that a call succeeded, or that the settings have changed.
    fn clear(&self, now: Millis);
}

/// Records and ends the trouble of the configured model.
#[derive(Debug)]
pub(crate) struct TroubleRecorder {
    store: Arc<SharedStore>,
    log: LogWriter,
    current: Mutex<Option<ModelTrouble>>,
}

impl TroubleRecorder {
    /// Continues with the trouble that an earlier worker recorded.
    pub(crate) fn open(store: Arc<SharedStore>, log: LogWriter, now: Millis) -> Self {
        let stored = store.with(|store| store.read().meta(MODEL_TROUBLE_KEY));
        let current = match stored {
            Ok(text) => ModelTrouble::from_json(text.as_deref()),
            Err(error) => {
                let what = "failed to read the recorded state of the model";
                log.line(now, LogLevel::Warn, what, &[("error", &error)]);
                None
            }
        };
        Self { store, log, current: Mutex::new(current) }
    }

    fn write(&self, text: Result<String, StoreError>, now: Millis) {
        let written = text.and_then(|text| {
            self.store.with(|store| store.write(|tx| tx.set_meta(MODEL_TROUBLE_KEY, &text)))
        });
        if let Err(error) = written {
            let what = "failed to record the state of the model";
            self.log.line(now, LogLevel::Warn, what, &[("error", &error)]);
        }
    }
}

impl TroubleSink for TroubleRecorder {
    fn record(&self, provider: &str, trouble: &CallTrouble, now: Millis) {
        let mut current = lock(&self.current);
        let since =
            current.as_ref().filter(|known| known.provider == provider).map_or(now, |known| known.since);
        let new = ModelTrouble {
            kind: trouble.kind,
            why: trouble.why.clone(),
            provider: provider.to_owned(),
            since,
            last: now,
        };
        let text = serde_json::to_string(&new).map_err(StoreError::from);
        *current = Some(new);
        drop(current);
        self.write(text, now);
    }

    fn clear(&self, now: Millis) {
        if lock(&self.current).take().is_some() {
            self.write(Ok(String::new()), now);
        }
    }
}
