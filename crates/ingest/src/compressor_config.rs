//! `CompressorConfig`: everything that decides which compressor is used and how it calls a model.
//!
//! [`ConfigSource`] reads it anew from the settings file, the files that the settings name and the install
//! manifest. A compressor compares the current value with its own before each call, so that a running
//! worker follows the settings.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use claude_mem_core::config::{Provider, SecretString, Settings};
use claude_mem_core::limits::VOCABULARY_BYTES_MAX;
use claude_mem_core::live_settings::LiveSettings;
use claude_mem_core::paths;
use claude_mem_core::paths::DataDir;
use claude_mem_core::vocabulary::Vocabulary;
use claude_mem_models::budget::BudgetLimits;
pub use claude_mem_models::model::ClaudeInstall;
use claude_mem_models::model::{ModelError, read_api_key};

/// What providers need to know of this process and its installation.
#[derive(Clone, Debug)]
pub struct ProcessEnv {
    /// The worker's variables, as its allow list passes them.
    pub env: Vec<(OsString, OsString)>,
    /// Path of this program, for its `child` command.
    pub executable: PathBuf,
    /// Reads the user's Claude Code from the install manifest.
    pub claude: fn(&DataDir) -> ClaudeInstall,
}

impl ProcessEnv {
    /// The current process, without variables that are not on the worker's allow list.
    pub fn current(claude: fn(&DataDir) -> ClaudeInstall) -> Self {
        let listed = claude_mem_core::config::worker_environment(|name| std::env::var_os(name));
        Self {
            env: listed.into_iter().map(|(name, value)| (name.into(), value)).collect(),
            // Names the running program even after an update has replaced its file.
            executable: claude_mem_core::platform::own_executable(),
            claude,
        }
    }
}

/// The effective configuration of the compressor.
#[derive(Clone, PartialEq)]
pub(crate) struct CompressorConfig {
    /// The settings that matter here; all others have their defaults.
    pub(crate) settings: Settings,
    pub(crate) key: Result<SecretString, ModelError>,
    pub(crate) vocabulary: Result<Vocabulary, String>,
    pub(crate) claude: ClaudeInstall,
}

impl CompressorConfig {
    /// The budgets, as the settings have them.
    pub(crate) const fn limits(&self) -> BudgetLimits {
        BudgetLimits {
            day_tokens: self.settings.budget_tokens_per_day,
            session_tokens: self.settings.budget_tokens_per_session,
        }
    }
}

/// Reads the `CompressorConfig`.
#[derive(Debug)]
pub struct ConfigSource {
    dir: DataDir,
    live: Arc<LiveSettings>,
    pub(crate) process: ProcessEnv,
    choice: Option<ProviderChoice>,
}

/// A provider that is used once, instead of the one that the settings name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderChoice {
    pub provider: Provider,
    /// `None`: the model of the settings, or the provider's default.
    pub model: Option<String>,
}

impl ConfigSource {
    pub const fn new(dir: DataDir, live: Arc<LiveSettings>, process: ProcessEnv) -> Self {
        Self { dir, live, process, choice: None }
    }

    /// The same settings with another provider.
    #[must_use]
    pub fn with_provider(mut self, choice: ProviderChoice) -> Self {
        self.choice = Some(choice);
        self
    }

    pub(crate) const fn dir(&self) -> &DataDir {
        &self.dir
    }

    /// The configuration as it is now.
    pub(crate) fn read(&self) -> CompressorConfig {
        let mut settings = relevant_settings(&self.live.current().settings);
        if let Some(choice) = &self.choice {
            settings.provider = choice.provider;
            settings.model = choice.model.clone().unwrap_or(settings.model);
        }
        let is_claude = settings.provider == Provider::Claude;
        CompressorConfig {
            key: read_api_key(self.dir.root(), &settings),
            vocabulary: load_vocabulary(self.dir.root(), &settings),
            claude: if is_claude { (self.process.claude)(&self.dir) } else { ClaudeInstall::default() },
            settings,
        }
    }
}

/// The settings of models and vocabulary; a change of any other does not concern the compressor.
fn relevant_settings(all: &Settings) -> Settings {
    Settings {
        provider: all.provider,
        model: all.model.clone(),
        base_url: all.base_url.clone(),
        api_key: all.api_key.clone(),
        api_key_file: all.api_key_file.clone(),
        proxy: all.proxy.clone(),
        root_certificates: all.root_certificates.clone(),
        claude_program: all.claude_program.clone(),
        claude_variables: all.claude_variables.clone(),
        language: all.language.clone(),
        vocabulary: all.vocabulary.clone(),
        budget_tokens_per_day: all.budget_tokens_per_day,
        budget_tokens_per_session: all.budget_tokens_per_session,
        model_seconds: all.model_seconds,
        ..Settings::default()
    }
}

/// Loads the user's vocabulary, or the default one. A relative path starts at the data directory.
pub fn load_vocabulary(root: &Path, settings: &Settings) -> Result<Vocabulary, String> {
    if settings.vocabulary.trim().is_empty() {
        return Ok(Vocabulary::default());
    }
    let path = root.join(settings.vocabulary.trim());
    let mut text = String::new();
    let bytes_max = VOCABULARY_BYTES_MAX as u64 + 1;
    let read = paths::open_file(&path).and_then(|file| file.take(bytes_max).read_to_string(&mut text));
    let wrong = |why: String| {
        let path = path.display();
        format!("vocabulary {path}: {why}; using the default vocabulary")
    };
    read.map_err(|error| wrong(error.to_string()))?;
    Vocabulary::from_json(&text).map_err(|error| wrong(error.to_string()))
}
