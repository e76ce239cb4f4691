//! Selects the [`Compressor`] that the settings ask for.
//!
//! Invariant: there is always a compressor. If the configured model cannot be used, the heuristic
//! compressor takes its place, and `status` shows why.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::compressor::{CompressionOutcome, Compressor};
use crate::heuristic_compressor::HeuristicCompressor;
use crate::job::EpisodeJob;
use crate::llm_compressor::{LlmCompressor, LlmOptions};
use crate::shared_store::SharedStore;
use claude_mem_core::child::{ChildRegistry, ChildSpawner};
use claude_mem_core::clock;
use claude_mem_core::clock::Millis;
use claude_mem_core::config::{Provider, Settings};
use claude_mem_core::limits::VOCABULARY_BYTES_MAX;
use claude_mem_core::log::{LogLevel, LogWriter};
use claude_mem_core::paths;
use claude_mem_core::platform;
use claude_mem_core::vocabulary::Vocabulary;
use claude_mem_models::budget::BudgetLimits;
use claude_mem_models::model::{
    ClaudeLaunch, NetworkConfig, ProviderConfig, ProviderEnv, invalid_proxy_variable, proxy_from_environment,
};

/// Message of `status` and the log when the configured model cannot be used.
const NO_MODEL: &str = "memories are made without a model";

/// What providers need to know of this process.
#[derive(Clone, Debug)]
pub struct ProcessEnv {
    pub env: Vec<(OsString, OsString)>,
    /// Path of this program, for its `child` command.
    pub executable: PathBuf,
}

impl ProcessEnv {
    /// The environment of the current process.
    pub fn current() -> Self {
        Self {
            env: std::env::vars_os().collect(),
            // Names the running program even after an update has replaced its file.
            executable: platform::own_executable(),
        }
    }

    fn var(&self, name: &str) -> Option<String> {
        let found = self.env.iter().find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.to_str()).map(str::to_owned)
    }
}

/// The compressor that the settings ask for, or the heuristic one with the reason.
pub fn select_compressor(
    store: &Arc<SharedStore>,
    settings: &Settings,
    around: &ProcessEnv,
    log: &LogWriter,
) -> Arc<dyn Compressor> {
    let (vocabulary, mut trouble) = match load_vocabulary(store.dir().root(), settings) {
        Ok(vocabulary) => (vocabulary, None),
        Err(why) => {
            let (now, what) = (clock::now().millis(), "failed to read the vocabulary");
            log.line(now, LogLevel::Warn, what, &[("why", &why)]);
            (Vocabulary::default(), Some(why))
        }
    };
    // `auto` never selects a model here: enabling one at install sets the provider by name.
    if let Some(choice) = ProviderConfig::from_settings(settings, false, &|name| around.var(name)) {
        let plan = LlmOptions {
            provider: choice,
            vocabulary: vocabulary.clone(),
            language: settings.language.clone(),
            limits: BudgetLimits {
                day_tokens: settings.budget_tokens_per_day,
                session_tokens: settings.budget_tokens_per_session,
            },
            call_max: Duration::from_secs(settings.model_seconds.into()),
        };
        match provider_env(store, settings, around).and_then(|edge| ensure_usable(&plan.provider, edge)) {
            Ok(edge) => {
                let (store, log) = (Arc::clone(store), log.clone());
                return Arc::new(LlmCompressor::new(store, plan, edge, trouble, log));
            }
            Err(why) => {
                let now = clock::now().millis();
                log.line(now, LogLevel::Warn, NO_MODEL, &[("why", &why)]);
                let and = trouble.map_or_else(String::new, |first| format!("{first}; "));
                trouble = Some(format!("{and}{NO_MODEL}: {why}"));
            }
        }
    }
    Arc::new(FallbackCompressor { heuristic: HeuristicCompressor { vocabulary }, reason: trouble })
}

/// Loads the user's vocabulary, or the default one. A relative path starts at the data directory.
pub fn load_vocabulary(root: &Path, settings: &Settings) -> Result<Vocabulary, String> {
    if settings.vocabulary.trim().is_empty() {
        return Ok(Vocabulary::default());
    }
    let path = root.join(settings.vocabulary.trim());
    let mut text = String::new();
    let bytes_max = VOCABULARY_BYTES_MAX as u64 + 1;
    let read = File::open(&path).and_then(|file| file.take(bytes_max).read_to_string(&mut text));
    let wrong = |why: String| {
        let path = path.display();
        format!("vocabulary {path}: {why}; using the default vocabulary")
    };
    read.map_err(|error| wrong(error.to_string()))?;
    Vocabulary::from_json(&text).map_err(|error| wrong(error.to_string()))
}

/// Collects what providers need: child spawner, client launch command, network settings.
fn provider_env(
    store: &SharedStore,
    settings: &Settings,
    around: &ProcessEnv,
) -> Result<ProviderEnv, String> {
    let dir = store.dir();
    let said = |error: std::io::Error| format!("cannot start child processes: {error}");
    let register = ChildRegistry::open(&dir.children()).map_err(said)?;
    let spawner = ChildSpawner::start(around.executable.clone(), register).map_err(said)?;
    let launch = if settings.provider == Provider::Claude {
        paths::create_dir(&dir.compressor()).map_err(said)?;
        ClaudeLaunch::find(around.env.clone(), dir.compressor(), std::path::Path::is_file)
            .map_err(|error| error.to_string())?
    } else {
        ClaudeLaunch::none()
    };
    let network = NetworkConfig {
        proxy: proxy_from_environment(),
        invalid_proxy: invalid_proxy_variable(|name| around.var(name)),
        roots: around.var("SSL_CERT_FILE").map(PathBuf::from),
    };
    Ok(ProviderEnv { network, spawner, launch })
}

/// Rejects a provider that cannot even be opened, before any episode depends on it.
fn ensure_usable(choice: &ProviderConfig, edge: ProviderEnv) -> Result<ProviderEnv, String> {
    match choice.open_client(&edge) {
        Ok(_) => Ok(edge),
        Err(error) => Err(error.to_string()),
    }
}

/// The heuristic compressor, and why the configured model is not used.
#[derive(Debug)]
struct FallbackCompressor {
    heuristic: HeuristicCompressor,
    reason: Option<String>,
}

impl Compressor for FallbackCompressor {
    fn compress(&self, work: &EpisodeJob) -> CompressionOutcome {
        self.heuristic.compress(work)
    }

    fn status_warning(&self, _now: Millis) -> Option<String> {
        self.reason.clone()
    }
}

#[cfg(test)]
#[path = "select_compressor_tests.rs"]
mod tests;
