//! Selects the [`Compressor`] that the settings ask for.
//!
//! Invariant: there is always a compressor. If the configured model cannot be used, the heuristic
//! compressor takes its place, and the recorded trouble says why.

use std::sync::Arc;

use crate::compressor::{CompressionOutcome, Compressor, CompressorReport};
use crate::compressor_config::CompressorConfig;
use crate::compressor_parts::CompressorParts;
use crate::heuristic_compressor::HeuristicCompressor;
use crate::job::EpisodeJob;
use crate::llm_compressor::{LlmCompressor, LlmOptions};
use claude_mem_core::clock;
use claude_mem_core::clock::Millis;
use claude_mem_core::config::Provider;
use claude_mem_core::log::LogLevel;
use claude_mem_core::paths;
use claude_mem_core::vocabulary::Vocabulary;
use claude_mem_models::model::{ClaudeLaunch, ModelError, NetworkConfig, ProviderConfig, ProviderEnv};
use claude_mem_models::trouble::CallTrouble;

/// The compressor that the settings ask for, or the heuristic one with the reason.
pub(crate) fn select_compressor(parts: &CompressorParts, config: &CompressorConfig) -> Arc<dyn Compressor> {
    let now = clock::now().millis();
    let warn = |what, why: &dyn std::fmt::Display| parts.log.line(now, LogLevel::Warn, what, &[("why", why)]);
    let (vocabulary, notice) = match &config.vocabulary {
        Ok(vocabulary) => (vocabulary.clone(), None),
        Err(why) => {
            warn("failed to read the vocabulary", why);
            (Vocabulary::default(), Some(why.clone()))
        }
    };
    match open_provider(parts, config) {
        Ok(Some((provider, env))) => {
            let options = LlmOptions { provider, vocabulary, config: config.clone(), notice };
            return Arc::new(LlmCompressor::new(parts, options, env));
        }
        // No model is configured.
        Ok(None) => parts.trouble.clear(now),
        Err(error) => {
            warn("memories are made without a model", &error);
            if let Some(trouble) = CallTrouble::from_error(&error) {
                parts.trouble.record(config.settings.provider.as_str(), &trouble, now);
            }
        }
    }
    Arc::new(LocalCompressor {
        heuristic: HeuristicCompressor { vocabulary },
        configured: config.settings.provider,
        vocabulary_file: config.settings.vocabulary.clone(),
        notice,
    })
}

/// The configured provider and what it needs. An error if it cannot even be opened, before any episode
/// depends on it.
pub(crate) fn open_provider(
    parts: &CompressorParts,
    config: &CompressorConfig,
) -> Result<Option<(ProviderConfig, ProviderEnv)>, ModelError> {
    if matches!(config.settings.provider, Provider::Auto | Provider::Local) {
        return Ok(None);
    }
    let key = config.key.clone()?;
    let Some(provider) = ProviderConfig::from_settings(&config.settings, key.clone()) else {
        return Ok(None);
    };
    let children =
        |why: String| ModelError::Misconfigured { why: format!("cannot start child processes: {why}") };
    let dir = parts.store.dir();
    let launch = if config.settings.provider == Provider::Claude {
        paths::create_dir(&dir.compressor()).map_err(|error| children(error.to_string()))?;
        let (env, at) = (&parts.source.process.env, dir.compressor());
        ClaudeLaunch::prepare(&config.claude, &config.settings, &key, env, at, std::path::Path::is_file)?
    } else {
        ClaudeLaunch::none()
    };
    let env = ProviderEnv {
        network: NetworkConfig::from_settings(&config.settings, dir.root()),
        spawner: parts.spawner.clone().map_err(children)?,
        launch,
    };
    provider.open_client(&env)?;
    Ok(Some((provider, env)))
}

/// The heuristic compressor, and the notice about its vocabulary.
#[derive(Debug)]
struct LocalCompressor {
    heuristic: HeuristicCompressor,
    /// The provider of the settings, which may be unusable.
    configured: Provider,
    vocabulary_file: String,
    notice: Option<String>,
}

impl Compressor for LocalCompressor {
    fn compress(&self, work: &EpisodeJob) -> CompressionOutcome {
        self.heuristic.compress(work)
    }

    fn status_warning(&self, _now: Millis) -> Option<String> {
        self.notice.clone()
    }

    fn report(&self) -> CompressorReport {
        CompressorReport {
            configured: self.configured.as_str().to_owned(),
            vocabulary: self.vocabulary_file.clone(),
            ..CompressorReport::local()
        }
    }
}

#[cfg(test)]
#[path = "select_compressor_tests.rs"]
mod tests;
