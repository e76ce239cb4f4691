//! [`CompressorParts`]: what outlives a change of the settings and every compressor shares.

use std::sync::Arc;

use crate::compressor_config::ConfigSource;
use crate::shared_store::SharedStore;
use crate::trouble_recorder::TroubleSink;
use claude_mem_core::child::ChildSpawner;
use claude_mem_core::log::LogWriter;

/// What every compressor is built from.
pub(crate) struct CompressorParts {
    pub(crate) store: Arc<SharedStore>,
    pub(crate) source: Arc<ConfigSource>,
    pub(crate) trouble: Arc<dyn TroubleSink>,
    /// The error says why no children can be started.
    pub(crate) spawner: Result<ChildSpawner, String>,
    pub(crate) log: LogWriter,
}
