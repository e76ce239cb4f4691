//! [`LiveCompressor`]: the compressor that the settings ask for now.
//!
//! Invariant: an episode is compressed, and each call of a model is made, with the settings of that
//! moment. A call that is already on its way when the settings change is not aborted; no further one
//! goes to the old address or beyond the new budget.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::compressor::{CompressionOutcome, Compressor, CompressorReport};
use crate::compressor_config::{CompressorConfig, ConfigSource};
use crate::compressor_parts::CompressorParts;
use crate::job::EpisodeJob;
use crate::select_compressor::select_compressor;
use crate::shared_store::SharedStore;
use crate::trouble_recorder::TroubleRecorder;
use claude_mem_core::child::{ChildRegistry, ChildSpawner};
use claude_mem_core::clock;
use claude_mem_core::clock::Millis;
use claude_mem_core::log::{LogLevel, LogWriter};
use claude_mem_core::sync::lock;

/// A [`Compressor`] that follows the settings.
pub struct LiveCompressor {
    parts: CompressorParts,
    selected: Mutex<SelectedCompressor>,
    stopping: AtomicBool,
}

struct SelectedCompressor {
    config: CompressorConfig,
    compressor: Arc<dyn Compressor>,
}

impl std::fmt::Debug for LiveCompressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("LiveCompressor").field(&lock(&self.selected).compressor).finish()
    }
}

impl LiveCompressor {
    /// Selects the first compressor.
    pub fn start(store: Arc<SharedStore>, source: ConfigSource, log: LogWriter) -> Self {
        let spawner = start_spawner(&store, &source).map_err(|error| error.to_string());
        let parts = CompressorParts {
            trouble: Arc::new(TroubleRecorder::open(Arc::clone(&store), log.clone(), clock::now().millis())),
            store,
            source: Arc::new(source),
            spawner,
            log,
        };
        let config = parts.source.read();
        let compressor = select_compressor(&parts, &config);
        Self {
            parts,
            selected: Mutex::new(SelectedCompressor { config, compressor }),
            stopping: AtomicBool::new(false),
        }
    }

    /// The compressor for the current settings.
    fn current(&self) -> Arc<dyn Compressor> {
        let config = self.parts.source.read();
        let mut selected = lock(&self.selected);
        if selected.config != config {
            let now = clock::now().millis();
            // The trouble of the old settings says nothing about the new ones.
            self.parts.trouble.clear(now);
            let compressor = select_compressor(&self.parts, &config);
            if self.stopping.load(Ordering::Relaxed) {
                compressor.stop();
            }
            let uses = compressor.report();
            let fields: [(_, &dyn std::fmt::Display); 2] =
                [("provider", &uses.provider), ("model", &uses.model)];
            self.parts.log.line(now, LogLevel::Info, "settings changed: compressor replaced", &fields);
            *selected = SelectedCompressor { config, compressor };
        }
        Arc::clone(&selected.compressor)
    }
}

fn start_spawner(store: &SharedStore, source: &ConfigSource) -> std::io::Result<ChildSpawner> {
    let register = ChildRegistry::open(&store.dir().children())?;
    ChildSpawner::start(source.process.executable.clone(), register)
}

impl Compressor for LiveCompressor {
    fn compress(&self, work: &EpisodeJob) -> CompressionOutcome {
        self.current().compress(work)
    }

    fn release_idle(&self, now: Millis) {
        self.current().release_idle(now);
    }

    fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        let selected = lock(&self.selected);
        selected.compressor.stop();
    }

    fn status_warning(&self, now: Millis) -> Option<String> {
        self.current().status_warning(now)
    }

    fn report(&self) -> CompressorReport {
        self.current().report()
    }
}
